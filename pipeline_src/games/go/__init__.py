"""Go on boards of 3x3 to 25x25: captures, simple ko, no suicide, passes, handicap stones, area scoring.

Black and White in turn place a stone or pass. Black moves first; with handicap stones, White does. A stone that has
just captured a single stone cannot be recaptured at once (simple ko); longer repetitions are allowed. Two passes in a
row end the game. The area of each side is counted as the board stands: all stones count as alive.

Here are the Python functions, and the rules as the searches see them; `board` holds the state and the texts, `moves`
the kernels that read and change a state.
"""

import re
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.go import moves
from pipeline_src.games.go.board import (
    BLACK,
    FIRST,
    KEYS,
    KO,
    KO_KEYS,
    KOMI,
    MAX_SIDE,
    MIN_SIDE,
    MOVES_KEPT,
    NOWHERE,
    PASS_KEYS,
    PASSES,
    PLY,
    SECOND,
    SIDE,
    SIDE_KEY,
    STANDARD_KOMI,
    GoState,
    copy_state,
    format_variant,
    parse_variant,
    to_play,
)
from pipeline_src.games.go.moves import all_breathe, may_be_ko
from pipeline_src.games.kernels import divide, perft
from pipeline_src.games.stones import bad, read_ranks, stone_diagram, write_ranks
from pipeline_src.jit import njit

# Start positions: the start of a variant, or any board.


def initial_state(size: int = 19, variant: str = "standard") -> GoState:
    """Return the empty board, or the board with the variant's handicap stones and White to move.

    Raises:
        ZugwerkError: the size is outside 3..25, the variant is unknown, or a handicap stone is outside the board or has
            no liberty.
    """
    if not MIN_SIDE <= size <= MAX_SIDE:
        raise ZugwerkError(f"no Go board of size {size}; sizes go from {MIN_SIDE} to {MAX_SIDE}")
    komi, stones = parse_variant(variant)
    board = np.zeros((size, size), np.int8)
    for row, column in stones:
        if not (row < size and column < size):
            raise ZugwerkError(f"variant {variant!r} of Go: a handicap stone is outside a board of {size}x{size}")
        board[row, column] = BLACK
    return from_board(board, SECOND if stones else FIRST, komi=komi)


def from_board(
    board: npt.NDArray[np.int8], side: int, *, ko: int = NOWHERE, passes: int = 0, komi: int = STANDARD_KOMI
) -> GoState:
    """Return the state for a board, int8 [H, W], with ``side`` to move and no known history. The board is copied.

    Args:
        board: EMPTY, BLACK or WHITE.
        side: FIRST (Black) or SECOND.
        ko: the point forbidden to ``side``, or NOWHERE; it has to be empty and surrounded by the opponent's stones.
        passes: passes in a row before this position, 0 to 2.
        komi: komi in half points.

    Raises:
        ZugwerkError: a stone has no liberty, or no ko is possible at ``ko``.
    """
    state = GoState(
        np.array(board, dtype=np.int8, order="C"),
        np.full(MOVES_KEPT, -1, np.int16),
        np.zeros(MOVES_KEPT, np.int16),
        np.array([side, 0, ko, passes, komi], np.int32),
        np.zeros(1, np.uint64),
    )
    if not all_breathe(state.board):
        raise ZugwerkError("there are stones without a liberty")
    if ko != NOWHERE and not (0 <= ko < board.size and may_be_ko(state.board, ko, side + 1)):
        raise ZugwerkError("the ko point is not an empty one among the opponent's stones")
    stones = np.flatnonzero(state.board)
    keys = KEYS[state.board.ravel()[stones] - 1, stones]
    state.hash[0] = np.bitwise_xor.reduce(keys, initial=PASS_KEYS[passes])
    if side == SECOND:
        state.hash[0] ^= SIDE_KEY
    if ko != NOWHERE:
        state.hash[0] ^= KO_KEYS[ko]
    return state


NAME = "go"
VERSION = 1  # Version of the rules and of the action numbering. Models store it.
SIZES = tuple(range(MIN_SIDE, MAX_SIDE + 1))
VARIANTS = ("standard",)
"""Names of the variants. Others set the komi or handicap stones: ``komi-6.5``, ``komi-0.5/handicap-2:dp,pd``."""

__all__ = [
    "NAME",
    "SIZES",
    "VARIANTS",
    "VERSION",
    "divide",
    "format_move",
    "from_fen",
    "initial_state",
    "is_legal",
    "legal_actions",
    "parse_move",
    "perft",
    "play",
    "to_fen",
    "to_play",
    "winner",
]


# The rules of Go as Python functions. Each takes a state as a value and does not change it.


def legal_actions(state: GoState) -> npt.NDArray[np.int32]:
    """Return the legal points and the pass, int32 [A], ascending; empty if the game is over."""
    out = np.empty(state.board.size + 1, np.int32)
    return out[: moves.write_actions(state, out)]


def is_legal(state: GoState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is a pass or a legal point."""
    return bool(0 <= action <= state.board.size and moves.legal(state, action))


def play(state: GoState, action: int) -> GoState:
    """Return the state after a legal action.

    Raises:
        ZugwerkError: the action is not legal.
    """
    if not is_legal(state, action):
        raise ZugwerkError(f"action {action} is not legal here")
    after = copy_state(state)
    moves.play(after, action)
    return after


def lead(state: GoState) -> float:
    """Return Black's area less White's area and the komi, in points, as the board stands."""
    return float(moves.area(state.board)) - int(state.turn[KOMI]) / 2


def winner(state: GoState) -> Literal["first", "second", "draw"] | None:
    """Return the result of a finished game by area: ``first`` is Black; None for an unfinished game."""
    if state.turn[PASSES] < 2:
        return None
    points = lead(state)
    if points == 0:
        return "draw"
    return "first" if points > 0 else "second"


@njit(cache=True, allocates=True)
def play_actions(state: GoState, actions: npt.NDArray[np.int32], boards: npt.NDArray[np.int8]) -> int:
    """Play actions in place and write the board before each ply and after the last; stop at an illegal action.

    Args:
        state: the first position; afterwards the last one.
        actions: int32 [P].
        boards: output, int8 [P + 1, H, W] or more; ``boards[p]`` is the position before ply p.

    Returns:
        The number of actions played: P, or the index of the first illegal one.
    """
    boards[0] = state.board
    for ply in range(actions.size):
        if not moves.legal(state, actions[ply]):
            return ply
        moves.play(state, actions[ply])
        boards[ply + 1] = state.board
    return int(actions.size)


def replay(state: GoState, actions: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return the boards before each legal ply and after the last, int8 [P + 1, H, W]. ``state`` is not changed.

    Fewer than ``len(actions) + 1`` boards mean that the action after the last board is illegal.
    """
    plies = np.asarray(actions, np.int32)
    boards = np.empty((plies.size + 1, *state.board.shape), np.int8)
    return boards[: play_actions(copy_state(state), plies, boards) + 1]


# Text of moves: ``D4``, file and rank, rank 1 at the bottom, no file I; ``pass``; and of boards.


FILES = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Letters of the files of boards up to 25x25, without I, as in Go programs and books."""
NO_STONE = "pass"  # The text of a pass
_POINT = re.compile(r"([a-hj-z])([1-9][0-9]?)", re.IGNORECASE | re.ASCII)


class MoveTextError(ZugwerkError):
    """A text is not a move, or names a point outside the board."""


def parse_move(text: str, height: int = 19, width: int = 19) -> int:
    """Return the action id of a move's text, in upper or lower case. The form is checked, the legality is not.

    Raises:
        MoveTextError: not a move, or not on the board.
    """
    word = text.strip()
    if word.lower() == NO_STONE:
        return height * width
    match = _POINT.fullmatch(word)
    if not match:
        raise MoveTextError(f"not a move: {text!r}; expected e.g. D4 or pass (there is no file I)")
    column, rank = FILES.index(match[1].upper()), int(match[2])
    if column >= width or rank > height:
        raise MoveTextError(f"no such point on a {height}x{width} board: {text!r}")
    return (height - rank) * width + column


def format_move(action: int, height: int = 19, width: int = 19) -> str:
    """Return the text of an action id, e.g. ``D4``."""
    if action == height * width:
        return NO_STONE
    return f"{FILES[action % width]}{height - action // width}"


def diagram(state: GoState) -> str:
    """Return the lines of a board, top rank first: ``x`` black, ``o`` white, ``[x]`` the last stone if it is known."""
    return stone_diagram(state.board, last_action(state), FILES)


def standing(state: GoState) -> str:
    """Return a sentence with the side to move, or the winner and the margin, and the number of plies."""
    plies = f"{state.turn[PLY]} plies"
    result, points = winner(state), lead(state)
    if result is None:
        passed = " and a pass" if last_action(state) == state.board.size else ""
        return f"{'White' if to_play(state) else 'Black'} to move after {plies}{passed}"
    if result == "draw":
        return f"Drawn after {plies}"
    return f"{'Black' if points > 0 else 'White'} won by {abs(points):g} after {plies}"


def last_action(state: GoState) -> int:
    """Return the last action, or -1 if it is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[(ply - 1) % MOVES_KEPT]) if ply else -1


# Text of Go positions (FEN; Go has no such format of its own).
#
# The ranks from the top down with ``x`` for a black stone, ``o`` for a white one and a number for a run of empty
# points; then ``b`` or ``w`` for the side to move; then these fields, in this order, where they apply: ``ko-d4`` (the
# point that is forbidden to the side to move), ``pass-1`` or ``pass-2`` (passes in a row), ``komi-6.5`` (if it is not
# 7.5). Example: ``3/1x1/3 w komi-0.5``


_FIELDS = re.compile(r"(\S+) ([bw])(?: ko-([a-hj-z][0-9]{1,2}))?(?: pass-([12]))?(?: (komi-[-.0-9]+))?")


def from_fen(fen: str) -> GoState:
    """Read a position text; the module's docstring describes the format.

    Raises:
        FenError: wrong fields, an unknown letter, ranks of unequal length, a size outside 3..25, stones without a
            liberty, a ko that cannot be.
    """
    fields = _FIELDS.fullmatch(" ".join(fen.split()))
    if not fields:
        raise bad(fen, "expected ranks, 'b' or 'w', and perhaps ko-d4, pass-1, komi-6.5, in this order")
    board = read_ranks(fields[1], fen, MIN_SIDE, MAX_SIDE, "points")
    try:
        return from_board(
            board,
            "bw".index(fields[2]),
            ko=parse_move(fields[3], *board.shape) if fields[3] else NOWHERE,
            passes=int(fields[4] or 0),
            komi=parse_variant(fields[5] or "standard")[0],
        )
    except ZugwerkError as error:
        raise bad(fen, str(error)) from None


def to_fen(state: GoState) -> str:
    """Return the position text of a state."""
    words = [write_ranks(state.board), "bw"[to_play(state)]]
    if state.turn[KO] != NOWHERE:
        words.append("ko-" + format_move(int(state.turn[KO]), *state.board.shape).lower())
    if state.turn[PASSES]:
        words.append(f"pass-{state.turn[PASSES]}")
    if state.turn[KOMI] != STANDARD_KOMI:
        words.append(format_variant(int(state.turn[KOMI]), []))
    return " ".join(words)


# Go for searches: an action is the point of a stone, or the pass; a step is an action.


@njit(cache=True)
def _to_play(state: GoState) -> int:
    return int(state.turn[SIDE])


@njit(cache=True)
def _position_hash(state: GoState) -> Any:
    return state.hash[0]


@njit(cache=True)
def _outcome(state: GoState) -> tuple[bool, float]:
    if state.turn[PASSES] < 2:
        return False, 0.0
    lead = 2 * moves.area(state.board) - state.turn[KOMI]
    if state.turn[SIDE] != FIRST:
        lead = -lead
    return True, 1.0 if lead > 0 else (-1.0 if lead < 0 else 0.0)


@njit(cache=True)
def _room(state: GoState) -> int:
    return int(state.board.size) + 1


for generic, kernel in (
    (kernels.copy_into, moves.copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _position_hash),
    (kernels.outcome, _outcome),
    (kernels.max_actions, _room),
    (kernels.max_steps, _room),
    (kernels.write_actions, moves.write_actions),
    (kernels.is_legal, moves.legal),
    (kernels.play, moves.play),
    (kernels.take_back, moves.take_back),
    (kernels.write_steps, moves.write_actions),
    (kernels.play_step, moves.play),
):
    kernels.implement(generic, GoState, kernel)

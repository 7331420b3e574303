"""Go on boards of 3x3 to 25x25: captures, simple ko, no suicide, passes, handicap stones, area scoring.

Black and White in turn place a stone or pass. Black moves first; with handicap stones, White does. A stone that has
just captured a single stone cannot be recaptured at once (simple ko); longer repetitions are allowed. Two passes in a
row end the game. The area of each side is counted as the board stands: all stones count as alive.

Coordinates: point = row * W + column, row 0 is the top one (rank H), column 0 is file a; ``board[row, column]``. An
action is the point of the stone it places, or N = H * W, a pass. Text names file and rank as players do, without the
letter i: on 19x19 point 0 is ``A19``, point 288 ``D4``.

Variants: ``standard`` is the empty board with a komi of 7.5. ``komi-6.5`` sets another komi, in steps of half a
point. ``handicap-2:dp,pd`` starts with black stones on these points (in SGF's letters: column, then row from the top)
and White to move; the number has to match the points. ``komi-0.5/handicap-2:dp,pd`` sets both. ``komi-unknown`` is a
record's that does not state its komi; the game is then played with the standard one.

FEN (Go has no such format of its own): the ranks from the top down with ``x`` for a black stone, ``o`` for a white one
and a number for a run of empty points; then ``b`` or ``w`` for the side to move; then these fields, in this order,
where they apply: ``ko-d4`` (the point that is forbidden to the side to move), ``pass-1`` or ``pass-2`` (passes in a
row), ``komi-6.5`` (if it is not 7.5). Example: ``3/1x1/3 w komi-0.5``
"""

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.rules import copy_state, divide, is_legal, legal_actions, perft, play, to_play, winner
from pipeline_src.games.stones import bad, parse_point, read_ranks, stone_diagram, write_ranks
from pipeline_src.jit import njit

EMPTY, BLACK, WHITE = 0, 1, 2
FIRST, SECOND = 0, 1  # The sides, as `to_play` numbers them: 0 Black, 1 White, whichever side begins
SIDE, PLY, KO, PASSES, KOMI = 0, 1, 2, 3, 4  # Indices of the entries of `turn`
NOWHERE = -1  # Value of the ko point where no point is forbidden
MIN_SIDE, MAX_SIDE = 3, 25
MOVES_KEPT = 1024  # Number of plies of history that a state keeps, a power of two. As many plies can be taken back.
STANDARD_KOMI = 15  # The komi of the standard variant in half points: 7.5 points
UNKNOWN_KOMI = "komi-unknown"
MAX_KOMI = 199
"""Largest komi for either side, in half points: 99.5 points, since 650 is 6.5 in the records of some servers."""
LETTERS = "abcdefghijklmnopqrstuvwxy"  # Letters of columns and rows in SGF. The text of moves uses `FILES`.

_RANDOM = np.random.default_rng(19)
KEYS = _RANDOM.integers(0, 1 << 64, (2, MAX_SIDE * MAX_SIDE), dtype=np.uint64)
"""uint64 [2, 625]: random numbers of the Zobrist hash (Zobrist, 1970), by colour and point."""
KO_KEYS = _RANDOM.integers(0, 1 << 64, MAX_SIDE * MAX_SIDE, dtype=np.uint64)
"""uint64 [625]: random numbers for the ko point."""
PASS_KEYS = np.array([0, *_RANDOM.integers(1, 1 << 63, 2)], np.uint64)
"""uint64 [3]: random numbers for the passes in a row."""
SIDE_KEY = np.uint64(0x9E3779B97F4A7C15)  # Random number for White to move


class GoState(NamedTuple):
    """A position and the plies that led to it: arrays only, so that numba kernels accept it. Treat it as a value.

    Kernels change it in place; Python functions copy it first.
    """

    board: npt.NDArray[np.int8]  # [H, W]: EMPTY, BLACK or WHITE; row 0 is the top
    moves: npt.NDArray[np.int16]
    """[MOVES_KEPT]: the action of ply p at index p modulo MOVES_KEPT; -1 before that ply is played."""
    undo: npt.NDArray[np.int16]
    """[MOVES_KEPT]: the data to undo that ply: 32 * (ko point before + 1) + 16 * passes before + a bit for each
    direction (`DOWN`, `RIGHT`) in which stones were captured."""
    turn: npt.NDArray[np.int32]
    """[5]: side to move; plies since the start; ko point, which is forbidden to the side to move, or NOWHERE; passes in
    a row; komi in half points."""
    hash: npt.NDArray[np.uint64]
    """[1]: Zobrist hash of the board, the side to move, the ko point and the passes in a row."""


def parse_variant(variant: str) -> tuple[int, list[tuple[int, int]]]:
    """Read a variant's text, see the module's docstring: komi in half points and handicap stones (row, column).

    Raises:
        ZugwerkError: the text is not a variant.
    """
    if variant == "standard":
        return STANDARD_KOMI, []
    match = re.fullmatch(r"(?:komi-(unknown|-?\d{1,3}(?:\.[05])?))?(/?)(?:handicap-(\d{1,3}):([a-y,]+))?", variant)
    if not match or not (match[1] or match[3]) or bool(match[2]) != bool(match[1] and match[3]):
        raise _no_variant(variant)
    komi = STANDARD_KOMI if match[1] in (None, "unknown") else int(float(match[1]) * 2)
    points = match[4].split(",") if match[4] else []
    if abs(komi) > MAX_KOMI or any(len(point) != 2 for point in points) or len(set(points)) != len(points):
        raise _no_variant(variant)
    if len(points) != int(match[3] or 0):
        raise ZugwerkError(f"variant {variant!r} of Go: {match[3]} handicap stones, but {len(points)} points")
    return komi, [(LETTERS.index(point[1]), LETTERS.index(point[0])) for point in points]


def _no_variant(variant: str) -> ZugwerkError:
    return ZugwerkError(
        f"no variant {variant[:200]!r} of Go; there are standard (komi 7.5), komi-6.5, handicap-2:dp,pd, and both: "
        "komi-0.5/handicap-2:dp,pd"
    )


def format_variant(komi: int | None, stones: list[tuple[int, int]]) -> str:
    """Return the variant's text for a komi in half points, None if unknown, and handicap stones (row, column)."""
    words = [] if komi == STANDARD_KOMI else [UNKNOWN_KOMI if komi is None else f"komi-{komi / 2:g}"]
    if stones:
        points = ",".join(LETTERS[column] + LETTERS[row] for row, column in sorted(stones))
        words.append(f"handicap-{len(stones)}:{points}")
    return "/".join(words) or "standard"


# The rules of Go as kernels that change a state in place.


Board = npt.NDArray[np.int8]
Points = npt.NDArray[np.int16]
DOWN = (-1, 1, 0, 0)
RIGHT = (0, 0, -1, 1)  # The four directions in the order of the bits of `GoState.undo`: up, down, left, right
MARK = 2  # Number added to a stone's code while a group is walked. It is removed before the kernel returns.


@njit(cache=True)
def copy_into(state: GoState, other: GoState) -> None:
    """Make ``other``, a state of the same board size, equal to ``state``."""
    for i in range(state.board.size):  # entry by entry: numba makes an array for each slice that it copies
        other.board.flat[i] = state.board.flat[i]
    for i in range(state.moves.size):
        other.moves.flat[i] = state.moves.flat[i]
    for i in range(state.undo.size):
        other.undo.flat[i] = state.undo.flat[i]
    for i in range(state.turn.size):
        other.turn[i] = state.turn[i]
    other.hash[0] = state.hash[0]


@njit(cache=True)
def captured(board: Board, row: int, column: int, points: Points) -> int:
    """Return the size of the group at (row, column) if it has no liberty, with its points in ``points`` [N]; else 0."""
    height, width = board.shape
    colour = board[row, column]
    board[row, column] = colour + MARK
    points[0] = row * width + column
    count, at, free = 1, 0, False
    while at < count and not free:
        row = points[at] // width
        column = points[at] - row * width
        at += 1
        for direction in range(4):
            beside, along = row + DOWN[direction], column + RIGHT[direction]
            if 0 <= beside < height and 0 <= along < width:
                code = board[beside, along]
                if code == EMPTY:
                    free = True
                elif code == colour:
                    board[beside, along] = colour + MARK
                    points[count] = beside * width + along
                    count += 1
    for entry in range(count):
        row = points[entry] // width
        board[row, points[entry] - row * width] = colour
    return 0 if free else count


@njit(cache=True)
def _neighbours(board: Board, row: int, column: int, code: int) -> int:
    """Count the points next to (row, column) that hold ``code``."""
    height, width = board.shape
    found = 0
    for direction in range(4):
        beside, along = row + DOWN[direction], column + RIGHT[direction]
        if 0 <= beside < height and 0 <= along < width and board[beside, along] == code:
            found += 1
    return found


@njit(cache=True, allocates=True)
def all_breathe(board: Board) -> bool:
    """Whether every stone's group has a liberty."""
    points = np.empty(board.size, np.int16)
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            if board[row, column] != EMPTY and captured(board, row, column, points):
                return False
    return True


@njit(cache=True)
def may_be_ko(board: Board, point: int, colour: int) -> bool:
    """Whether ``colour`` can just have lost a stone on a point: it is empty and surrounded by the opponent's stones."""
    row = point // board.shape[1]
    column = point - row * board.shape[1]
    return bool(
        board[row, column] == EMPTY
        and _neighbours(board, row, column, EMPTY) == 0
        and _neighbours(board, row, column, colour) == 0
    )


@njit(cache=True, allocates=True)
def _stands(board: Board, row: int, column: int, colour: int) -> bool:
    """Whether a stone on an empty point has a liberty after its captures are removed."""
    if _neighbours(board, row, column, EMPTY):
        return True
    height, width = board.shape
    points = np.empty(board.size, np.int16)
    board[row, column] = colour
    stands = captured(board, row, column, points) == 0
    for direction in range(4):
        beside, along = row + DOWN[direction], column + RIGHT[direction]
        if not stands and 0 <= beside < height and 0 <= along < width and board[beside, along] != colour:
            stands = captured(board, beside, along, points) > 0
    board[row, column] = EMPTY
    return stands


@njit(cache=True)
def legal(state: GoState, action: int) -> bool:
    """Whether the game is unfinished and ``action``, any int, is a pass or a point where a stone may be placed."""
    board, turn = state.board, state.turn
    if turn[PASSES] >= 2 or not 0 <= action <= board.size:
        return False
    if action == board.size:
        return True
    row = action // board.shape[1]
    column = action - row * board.shape[1]
    if board[row, column] != EMPTY or action == turn[KO]:
        return False
    return _stands(board, row, column, turn[SIDE] + 1)


@njit(cache=True)
def write_actions(state: GoState, out: npt.NDArray[np.int32]) -> int:
    """Write the legal points, ascending, and the pass to ``out``, or nothing if the game is over; return the number."""
    count = 0
    for action in range(state.board.size + 1):
        if legal(state, action):
            out[count] = action
            count += 1
    return count


@njit(cache=True)
def _set_ko(state: GoState, point: int) -> None:
    if state.turn[KO] != NOWHERE:
        state.hash[0] ^= KO_KEYS[state.turn[KO]]
    state.turn[KO] = point
    if point != NOWHERE:
        state.hash[0] ^= KO_KEYS[point]


@njit(cache=True)
def _set_passes(state: GoState, passes: int) -> None:
    state.hash[0] ^= PASS_KEYS[state.turn[PASSES]] ^ PASS_KEYS[passes]
    state.turn[PASSES] = passes


@njit(cache=True, allocates=True)
def _place(state: GoState, point: int, side: int) -> int:
    """Place a stone and remove the captured ones; return a bit for each direction in which stones were captured."""
    board = state.board
    height, width = board.shape
    row = point // width
    column = point - row * width
    board[row, column] = side + 1
    state.hash[0] ^= KEYS[side, point]
    directions, taken, last = 0, 0, NOWHERE
    for direction in range(4):
        beside, along = row + DOWN[direction], column + RIGHT[direction]
        if not (0 <= beside < height and 0 <= along < width) or board[beside, along] != 2 - side:
            continue
        if _neighbours(board, beside, along, EMPTY):
            continue  # most stones have a liberty of their own
        points = np.empty(board.size, np.int16)
        size = captured(board, beside, along, points)
        for entry in range(size):
            last = points[entry]
            board[last // width, last - (last // width) * width] = EMPTY
            state.hash[0] ^= KEYS[1 - side, last]
        if size:
            directions |= 1 << direction
            taken += size
    alone = _neighbours(board, row, column, side + 1) == 0 and _neighbours(board, row, column, EMPTY) == 1
    _set_ko(state, last if taken == 1 and alone else NOWHERE)
    return directions


@njit(cache=True)
def _play(state: GoState, action: int) -> None:
    """Play a legal action, in place."""
    turn = state.turn
    side, entry = int(turn[SIDE]), turn[PLY] % MOVES_KEPT
    before = 32 * (turn[KO] + 1) + 16 * turn[PASSES]
    if action == state.board.size:
        _set_passes(state, int(turn[PASSES]) + 1)
        _set_ko(state, NOWHERE)
    else:
        before |= _place(state, action, side)
        _set_passes(state, 0)
    state.moves[entry] = action
    state.undo[entry] = before
    state.hash[0] ^= SIDE_KEY
    turn[SIDE] = 1 - side
    turn[PLY] += 1


@njit(cache=True, allocates=True)
def _fill(state: GoState, row: int, column: int, side: int) -> None:
    """Fill the empty region that contains (row, column) with stones of ``side``."""
    board = state.board
    height, width = board.shape
    points = np.empty(board.size, np.int16)
    board[row, column] = side + 1
    points[0] = row * width + column
    count, at = 1, 0
    while at < count:
        row = points[at] // width
        column = points[at] - row * width
        state.hash[0] ^= KEYS[side, points[at]]
        at += 1
        for direction in range(4):
            beside, along = row + DOWN[direction], column + RIGHT[direction]
            if 0 <= beside < height and 0 <= along < width and board[beside, along] == EMPTY:
                board[beside, along] = side + 1
                points[count] = beside * width + along
                count += 1


@njit(cache=True)
def take_back(state: GoState, action: int) -> None:
    """Undo the last action, in place."""
    board, turn = state.board, state.turn
    width = board.shape[1]
    side, entry = 1 - int(turn[SIDE]), (turn[PLY] - 1) % MOVES_KEPT
    before = int(state.undo[entry])
    if action != board.size:
        # The only liberty of a captured group was the point of this stone, so the fill stops at the group's own points.
        row = action // width
        column = action - row * width
        for direction in range(4):
            if before >> direction & 1 and board[row + DOWN[direction], column + RIGHT[direction]] == EMPTY:
                _fill(state, row + DOWN[direction], column + RIGHT[direction], 1 - side)
        board[row, column] = EMPTY
        state.hash[0] ^= KEYS[side, action]
    _set_passes(state, before >> 4 & 1)
    _set_ko(state, (before >> 5) - 1)
    state.moves[entry] = -1
    state.undo[entry] = 0
    state.hash[0] ^= SIDE_KEY
    turn[SIDE] = side
    turn[PLY] -= 1


@njit(cache=True, allocates=True)
def area(board: Board) -> int:
    """Return Black's area less White's: stones, and empty points that reach one colour only. All stones are alive."""
    height, width = board.shape
    seen = np.zeros(board.size, np.bool_)
    points = np.empty(board.size, np.int16)
    total = 0
    for start in range(board.size):
        code = board[start // width, start % width]
        if code != EMPTY:
            total += 1 if code == BLACK else -1
        elif not seen[start]:
            black, white = False, False
            points[0], count, at = start, 1, 0
            seen[start] = True
            while at < count:
                row = points[at] // width
                column = points[at] - row * width
                at += 1
                for direction in range(4):
                    beside, along = row + DOWN[direction], column + RIGHT[direction]
                    if 0 <= beside < height and 0 <= along < width:
                        code, point = board[beside, along], beside * width + along
                        black |= code == BLACK
                        white |= code == WHITE
                        if code == EMPTY and not seen[point]:
                            seen[point] = True
                            points[count] = point
                            count += 1
            if black != white:
                total += count if black else -count
    return total


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

__all__ = ["NAME", "SIZES", "VARIANTS", "VERSION", "format_move", "from_fen", "initial_state", "parse_move", "to_fen"]
__all__ += ["divide", "is_legal", "legal_actions", "perft", "play", "to_play", "winner"]  # the same for all games


def lead(state: GoState) -> float:
    """Return Black's area less White's area and the komi, in points, as the board stands."""
    return float(area(state.board)) - int(state.turn[KOMI]) / 2


@njit(cache=True, allocates=True)
def play_actions(state: GoState, actions: npt.NDArray[np.int32], boards: npt.NDArray[np.int8]) -> int:
    """Play P actions in place and write the board before ply p to ``boards[p]``, int8 [P + 1, H, W] or more.

    Return the number of actions played: P, or the index of the first illegal one, where it stops.
    """
    boards[0] = state.board
    for ply in range(actions.size):
        if not legal(state, actions[ply]):
            return ply
        _play(state, actions[ply])
        boards[ply + 1] = state.board
    return int(actions.size)


def replay(state: GoState, actions: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Return the boards before each legal ply and after the last, int8 [P + 1, H, W]. ``state`` is not changed.

    Fewer than ``len(actions) + 1`` boards mean that the action after the last board is illegal.
    """
    plies = np.asarray(actions, np.int32)
    boards = np.empty((plies.size + 1, *state.board.shape), np.int8)
    return boards[: play_actions(copy_state(state), plies, boards) + 1]


# Text of moves (``D4``, file and rank, rank 1 at the bottom, no file I; ``pass``), boards and positions.


FILES = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Letters of the files of boards up to 25x25, without I, as in Go programs and books."""
NO_STONE = "pass"  # The text of a pass


def parse_move(text: str, height: int = 19, width: int = 19) -> int:
    """Return the action id of a move's text, in upper or lower case. The form is checked, the legality is not.

    Raises:
        MoveTextError: not a move, or not on the board.
    """
    word = text.strip()
    if word.lower() == NO_STONE:
        return height * width
    return parse_point(word, height, width, FILES, "e.g. D4 or pass (there is no file I)")


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
def _outcome(state: GoState) -> tuple[bool, float]:
    if state.turn[PASSES] < 2:
        return False, 0.0
    lead = 2 * area(state.board) - state.turn[KOMI]
    if state.turn[SIDE] != FIRST:
        lead = -lead
    return True, 1.0 if lead > 0 else (-1.0 if lead < 0 else 0.0)


@njit(cache=True)
def _room(state: GoState) -> int:
    return int(state.board.size) + 1


kernels.implement_game(
    GoState,
    copy_into=copy_into,
    outcome=_outcome,
    max_actions=_room,
    write_actions=write_actions,
    is_legal=legal,
    play=_play,
    take_back=take_back,
)

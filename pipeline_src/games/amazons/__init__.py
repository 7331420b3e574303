"""The Game of the Amazons.

A turn moves one amazon like a chess queen, then shoots an arrow along a queen line from her new square. The arrow may
cross or hit the square that she left. Arrows stay on the board. White moves first. The side that cannot move loses.

Here are the Python functions, and the rules as the searches see them; `board` holds the state and the texts, `moves`
the kernels that read and change a state.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.games.amazons import moves
from pipeline_src.games.amazons.board import (
    FIRST,
    START,
    AmazonsState,
    copy_state,
    format_move,
    from_fen,
    initial_state,
    parse_move,
    to_fen,
    to_play,
)
from pipeline_src.games.amazons.moves import legal, play_turn
from pipeline_src.jit import Need, njit

NAME = "amazons"
VERSION = 1  # Version of the rules and of the action numbering. Models store it.
SIZES = tuple(dict.fromkeys(size for size, _ in START))
VARIANTS = tuple(dict.fromkeys(variant for _, variant in START))

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


# The rules as Python functions. Each takes a state as a value and does not change it.
#
# An action is a whole turn, ``(from * N + to) * N + arrow`` with N = H * W (int32).


def legal_actions(state: AmazonsState) -> npt.NDArray[np.int32]:
    """Return all legal actions, int32 [A], ordered by amazon (squares ascending), then by line, then by arrow."""
    scratch, out = moves.buffers(state)
    return out[: moves.write_turns(state, scratch, out)]


def legal_moves(state: AmazonsState) -> npt.NDArray[np.int32]:
    """Return all legal ``from * N + to``, int32 [A]: the first halves of the legal turns."""
    out, _ = moves.buffers(state)
    return out[: moves.write_moves(state, out)]


def is_legal(state: AmazonsState, action: int) -> bool:
    """Whether an action is legal. Any int is accepted."""
    n = state.board.size
    return bool(moves.legal(state, action // (n * n), action // n % n, action % n))


def has_turn(state: AmazonsState) -> bool:
    """Whether the side to move has a legal turn. If not, it has lost."""
    return bool(moves.can_move(state))


def winner(state: AmazonsState) -> Literal["first", "second"] | None:
    """Return the side that has won, or None while the side to move has a turn."""
    if has_turn(state):
        return None
    return "second" if to_play(state) == FIRST else "first"


def play(state: AmazonsState, action: int) -> AmazonsState:
    """Return the state after a legal action. Legality is not checked; see `is_legal`."""
    after = copy_state(state)
    moves.play_turn(after, action)
    return after


@kernels.rules_need.register
def rules_need(state: AmazonsState) -> list[Need]:
    """Return the kernels that the functions above call."""
    scratch, out = moves.buffers(state)
    return [
        Need(moves.write_turns, (state, scratch, out)),
        Need(moves.legal, (state, 0, 0, 0)),
        Need(moves.can_move, (state,)),
        Need(moves.play_turn, (state, 0)),
    ]


def move(state: AmazonsState, start: int, to: int) -> AmazonsState:
    """Return the state after the first half of a turn; its ``turn[1]`` is ``to``."""
    after = copy_state(state)
    moves.move_amazon(after, start, to)
    return after


@njit(cache=True)
def play_turns(state: AmazonsState, actions: npt.NDArray[np.int64]) -> int:
    """Play actions in place up to the first illegal one; return the number of actions played."""
    squares = state.board.size
    for ply in range(actions.size):
        action = actions[ply]
        if not legal(state, action // (squares * squares), action // squares % squares, action % squares):
            return ply
        play_turn(state, action)
    return actions.size


def replay(state: AmazonsState, actions: Sequence[int]) -> tuple[AmazonsState, int]:
    """Return the state after the legal turns at the head of ``actions``, and the number of those turns.

    >>> from pipeline_src.games.amazons import initial_state, parse_move
    >>> replay(initial_state(), [parse_move("d1-d7/g7", 10, 10), 0])[1]
    1

    The number is ``len(actions)`` if all turns are legal, and otherwise the index of the first illegal one. ``state``
    is not changed. Actions may be any int64.
    """
    after = copy_state(state)
    played = play_turns(after, np.asarray(actions, dtype=np.int64))
    return after, int(played)


# Perft: the number of turn sequences of a given length, the standard test of a move generator.
#
# The last ply is counted from the line tables and not played, so that depth 3 of the start position (8.35e9 sequences)
# takes seconds.


MAX_DEPTH = 12


@njit(cache=True, nogil=True)
def _perft(state: AmazonsState, depth: int, scratch: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> int:
    if depth == 0:
        return 1
    if depth == 1:
        return moves.count_turns(state, scratch)
    squares, total = state.board.size, 0
    count = moves.write_turns(state, scratch, out[depth])
    for i in range(count):
        turn = out[depth, i]
        start, to, arrow = turn // (squares * squares), turn // squares % squares, turn % squares
        moves.move_amazon(state, start, to)
        moves.shoot(state, arrow)
        total += _perft(state, depth - 1, scratch, out)
        moves.take_back(state, start, to, arrow)
    return total


def perft(state: AmazonsState, depth: int) -> int:
    """Count the sequences of ``depth`` legal turns from ``state``.

    Raises:
        ZugwerkError: depth outside 0..12.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"perft depth must be 0 to {MAX_DEPTH}, not {depth}")
    scratch, out = moves.buffers(state)
    plies = np.empty((depth + 1, out.size), np.int32)
    return int(_perft(copy_state(state), depth, scratch, plies))


def divide(state: AmazonsState, depth: int) -> dict[int, int]:
    """Return, for each legal action, the perft of ``depth - 1`` after it.

    Raises:
        ZugwerkError: depth outside 1..12.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise ZugwerkError(f"divide needs a depth of 1 to {MAX_DEPTH}, not {depth}")
    return {int(action): perft(play(state, action), depth - 1) for action in legal_actions(state)}


# The Amazons for searches: an action is a whole turn; a step is ``from * N + to`` or the arrow's square.


Ids = npt.NDArray[np.int32]


@njit(cache=True)
def _to_play(state: AmazonsState) -> int:
    return int(state.turn[0])


@njit(cache=True)
def _position_hash(state: AmazonsState) -> Any:
    return state.hash[0]


@njit(cache=True)
def _outcome(state: AmazonsState) -> tuple[bool, float]:
    if state.turn[1] >= 0 or moves.can_move(state):
        return False, 0.0
    return True, -1.0


@njit(cache=True)
def _max_steps(state: AmazonsState) -> int:
    return int(state.amazons.shape[1] * moves.MAX_REACH + moves.SPARE)


@njit(cache=True)
def _max_actions(state: AmazonsState) -> int:
    return int(state.amazons.shape[1] * moves.MAX_REACH * moves.MAX_REACH + moves.SPARE)


@njit(cache=True, allocates=True)
def _write_actions(state: AmazonsState, out: Ids) -> int:
    return int(
        moves.write_turns(state, np.empty(state.amazons.shape[1] * moves.MAX_REACH + moves.SPARE, np.int32), out)
    )


@njit(cache=True)
def _is_legal(state: AmazonsState, action: int) -> bool:
    squares = state.board.size
    return bool(moves.legal(state, action // (squares * squares), action // squares % squares, action % squares))


@njit(cache=True)
def _take_back(state: AmazonsState, action: int) -> None:
    squares = state.board.size
    moves.take_back(state, action // (squares * squares), action // squares % squares, action % squares)


@njit(cache=True)
def _write_steps(state: AmazonsState, out: Ids) -> int:
    if state.turn[1] >= 0:
        return int(moves.reach(state.lines, state.board.shape[1], state.turn[1], out, 0, 0))
    return int(moves.write_moves(state, out))


@njit(cache=True)
def _play_step(state: AmazonsState, step: int) -> None:
    if state.turn[1] >= 0:
        moves.shoot(state, step)
    else:
        moves.move_amazon(state, step // state.board.size, step % state.board.size)


for generic, kernel in (
    (kernels.copy_into, moves.copy_into),
    (kernels.to_play, _to_play),
    (kernels.position_hash, _position_hash),
    (kernels.outcome, _outcome),
    (kernels.max_actions, _max_actions),
    (kernels.max_steps, _max_steps),
    (kernels.write_actions, _write_actions),
    (kernels.is_legal, _is_legal),
    (kernels.play, moves.play_turn),
    (kernels.take_back, _take_back),
    (kernels.write_steps, _write_steps),
    (kernels.play_step, _play_step),
):
    kernels.implement(generic, AmazonsState, kernel)

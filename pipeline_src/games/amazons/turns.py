"""The rules as Python functions. Each takes a state as a value and does not change it.

An action is a whole turn, ``(from * N + to) * N + arrow`` with N = H * W (int32).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.games.amazons import moves
from pipeline_src.games.amazons.board import FIRST, AmazonsState, copy_state, to_play
from pipeline_src.games.amazons.moves import legal, play_turn
from pipeline_src.jit import Need, njit


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

"""Convert games to samples: the only loop over the turns of a record."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import ARROW, BLACK, WHITE, AmazonsState, initial_state
from pipeline_src.games.amazons.moves import legal, move_amazon, shoot
from pipeline_src.games.amazons.notation import format_move
from pipeline_src.jit import njit
from pipeline_src.learning.canonical import canonical, piece_keys, start_forms, toggle
from pipeline_src.learning.symmetry import COUNT
from pipeline_src.systems.amazons_net import schema
from pipeline_src.systems.amazons_net.archive import Games
from pipeline_src.systems.amazons_net.schema import Samples, empty_samples


class Replayer:
    """Turns games of one board size into samples, some games at a time."""

    def __init__(self, games: Games, size: int, variants: Sequence[str]) -> None:
        """``variants`` are those that ``games.start`` counts.

        Raises:
            ZugwerkError: no such size or variant.
        """
        states = [initial_state(size, variant) for variant in variants]
        self.games, self.size = games, size
        self.starts = AmazonsState(*(np.stack(arrays) for arrays in zip(*states, strict=True)))

    def replay(self, which: npt.NDArray[np.int64]) -> tuple[Samples, npt.NDArray[np.uint64]]:
        """Samples of the games numbered ``which``, in that order, then by ply and type; and their canonical hashes.

        Raises:
            ZugwerkError: a turn is not legal; names the game, the ply and the turn.
        """
        games = self.games
        count = int(2 * (games.offsets[which + 1] - games.offsets[which]).sum())
        samples, hashes = empty_samples(count, self.size), np.empty(count, np.uint64)
        game, ply = _replay(games, which, self.starts, piece_keys(self.size), samples, hashes)
        if game >= 0:
            turn = format_move(int(games.actions[games.offsets[game] + ply]), self.size, self.size)
            raise ZugwerkError(f"game {games.gid[game]}: turn {ply + 1}, {turn}, is not legal; parse the records again")
        return samples, hashes


@njit(cache=True, allocates=True)
def _replay(
    games: Games,
    which: npt.NDArray[np.int64],
    starts: AmazonsState,
    keys: npt.NDArray[np.uint64],
    out: Samples,
    hashes: npt.NDArray[np.uint64],
) -> tuple[int, int]:
    """Fill ``out`` and ``hashes``; return (-1, -1), or the game and ply of the first turn that is not legal.

    ``starts`` holds the start positions on a leading axis.
    """
    state = AmazonsState(
        starts.board[0].copy(),
        starts.lines[0].copy(),
        starts.amazons[0].copy(),
        starts.turn[0].copy(),
        starts.hash[0].copy(),
    )
    squares, forms, n = state.board.size, np.empty(COUNT, np.uint64), 0
    for g in which:
        variant = games.start[g]
        state.board[:] = starts.board[variant]
        state.lines[:] = starts.lines[variant]
        state.amazons[:] = starts.amazons[variant]
        state.turn[:] = starts.turn[variant]
        state.hash[:] = starts.hash[variant]
        start_forms(state.board, keys, forms)
        for ply in range(games.offsets[g + 1] - games.offsets[g]):
            action = games.actions[games.offsets[g] + ply]
            start, to, arrow = action // (squares * squares), action // squares % squares, action % squares
            if not legal(state, start, to, arrow):
                return g, ply
            first = state.turn[0] == 0
            mover = WHITE if first else BLACK
            for kind in (schema.AMAZON, schema.ARROW):
                if kind == schema.ARROW:
                    move_amazon(state, start, to)
                    toggle(forms, keys, mover, start)
                    toggle(forms, keys, mover, to)
                out.type[n] = kind
                out.mover[n] = mover
                out.result[n] = games.first_won[g] == first
                out.gid[n] = games.gid[g]
                out.ply[n] = ply
                out.teacher[n] = games.teachers[g, 0 if first else 1]
                _write_board(state.board, out.board[n])
                _write_labels(state.board, kind, start, to, arrow, out, n)
                hashes[n] = canonical(forms, mover)
                n += 1
            shoot(state, arrow)
            toggle(forms, keys, ARROW, arrow)
    return -1, -1


@njit(cache=True)
def _write_board(board: npt.NDArray[np.int8], out: npt.NDArray[np.int8]) -> None:
    height, width = board.shape
    for r in range(height):
        for c in range(width):
            out[height - 1 - r, c] = board[r, c]


@njit(cache=True)
def _write_labels(
    board: npt.NDArray[np.int8], kind: int, start: int, to: int, arrow: int, out: Samples, n: int
) -> None:
    height, width = board.shape
    before = kind == schema.AMAZON
    _write_pair(start if before else -1, height, width, out.from_[n])
    _write_pair(to if before else -1, height, width, out.to[n])
    _write_pair(-1 if before else arrow, height, width, out.arrow[n])
    _write_pair(-1 if before else to, height, width, out.moved[n])


@njit(cache=True)
def _write_pair(square: int, height: int, width: int, out: npt.NDArray[np.int8]) -> None:
    out[0] = square % width if square >= 0 else -1
    out[1] = height - 1 - square // width if square >= 0 else -1

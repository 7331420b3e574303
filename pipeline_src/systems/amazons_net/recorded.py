"""Whole turns of recorded games, assembled from the samples of a data set, for the evaluation of players."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import COLOUR, AmazonsState, from_board
from pipeline_src.games.amazons.notation import format_move
from pipeline_src.systems.amazons_net.dataset import Dataset
from pipeline_src.systems.amazons_net.schema import AMAZON, ARROW

PHASES = (0, 20, 50)
"""First plies of opening, middle and late game: those at which the one-ply evaluation changes its weights."""


@dataclass(frozen=True)
class RecordedTurns:
    """T turns and the positions in which they were played; squares s = (rank - 1) * W + (file - 1)."""

    boards: npt.NDArray[np.int8]
    """[T, H, W] before the turn, row 0 = rank H."""
    movers: npt.NDArray[np.int8]
    """[T], board code of the side to move."""
    start: npt.NDArray[np.int16]
    """[T], square the amazon left."""
    to: npt.NDArray[np.int16]
    """[T], square she went to."""
    arrow: npt.NDArray[np.int16]
    """[T], square the arrow hit."""
    results: npt.NDArray[np.int8]
    """[T], 1 where the mover won the game, 0 where it lost."""
    gids: npt.NDArray[np.int64]
    """[T], number of the game."""
    plies: npt.NDArray[np.int16]
    """[T], turns played before this one."""

    def __len__(self) -> int:
        return len(self.boards)

    def take(self, rows: slice | npt.NDArray[np.int64]) -> "RecordedTurns":
        """Some of the turns."""
        return replace(self, **{field.name: getattr(self, field.name)[rows] for field in fields(self)})

    def chunks(self, size: int) -> "Iterator[RecordedTurns]":
        """All turns in order, ``size`` at a time."""
        return (self.take(slice(at, at + size)) for at in range(0, len(self), size))

    def spread(self, count: int) -> "RecordedTurns":
        """At most ``count`` of the turns, spread evenly."""
        return self.take(np.unique(np.linspace(0, len(self) - 1, min(count, len(self))).astype(np.int64)))

    def states(self) -> Iterator[AmazonsState]:
        """The positions, as the rules know them."""
        for board, mover, ply in zip(self.boards, self.movers, self.plies, strict=True):
            yield from_board(board[::-1], COLOUR.index(mover), int(ply))

    def actions(self) -> npt.NDArray[np.int64]:
        """[T], action ids ``(from * N + to) * N + arrow``."""
        squares = np.int64(self.boards.shape[1] * self.boards.shape[2])
        return np.asarray((self.start * squares + self.to) * squares + self.arrow, np.int64)

    def refuse(self, row: int) -> ZugwerkError:
        """The complaint that the turn of a row is not legal in its position."""
        height, width = self.boards.shape[1:]
        move = format_move(int(self.actions()[row]), height, width)
        where = f"game {self.gids[row]}, ply {self.plies[row]}"
        return ZugwerkError(
            f"data set: {where}: {move} is not legal there; `dvc repro -f amazons_samples` makes it again"
        )


def recorded_turns(dataset: Dataset, split: str) -> tuple[RecordedTurns, int]:
    """The turns of a split whose two samples are both there, by (gid, ply), and how many samples have no partner.

    The builder of a data set drops positions that another split has too, one by one, so that half a turn may stay.

    Raises:
        ZugwerkError: no such split, or it has no whole turn.
    """
    rows = dataset.split(split)
    kind, gid, ply = dataset.type[rows], dataset.gid[rows], dataset.ply[rows]
    key = gid * (int(ply.max(initial=0)) + 1) + ply
    before, after = (np.flatnonzero(kind == which) for which in (AMAZON, ARROW))
    _, i, j = np.intersect1d(key[before], key[after], assume_unique=True, return_indices=True)
    before, after = before[i] + rows.start, after[j] + rows.start
    if not len(before):
        raise ZugwerkError(f"the data set's {split} split has no whole turn; make it from more games")
    height, width = dataset.board.shape[1:]

    def square(pairs: npt.NDArray[np.int8]) -> npt.NDArray[np.int16]:
        x, y = pairs.astype(np.int16).T
        return np.asarray((height - 1 - y) * width + x, np.int16)

    turns = RecordedTurns(
        boards=dataset.board[before],
        movers=dataset.mover[before],
        start=square(dataset.from_[before]),
        to=square(dataset.to[before]),
        arrow=square(dataset.arrow[after]),
        results=dataset.result[before],
        gids=dataset.gid[before],
        plies=dataset.ply[before],
    )
    return turns, len(kind) - 2 * len(before)

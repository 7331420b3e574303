"""Recorded turns, predictions about them, and how far both agree.

`Predictions` are the common form in which systems are compared. Intervals treat the turns of a game as one cluster.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Score, calibration_rows, clustered_mean, clustered_rate, reliability
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import Row, write_table
from pipeline_src.games.amazons import COLOUR, AmazonsState, format_move, from_board
from pipeline_src.systems.amazons_net.samples import AMAZON, ARROW, Dataset

PHASES = (0, 20, 50)
"""First plies of opening, middle and late game: those at which the one-ply evaluation changes its weights."""


@dataclass(frozen=True)
class RecordedTurns:
    """T turns and the positions in which they were played; squares s = (rank - 1) * W + (file - 1)."""

    boards: npt.NDArray[np.int8]  # [T, H, W] before the turn, row 0 = rank H
    movers: npt.NDArray[np.int8]  # [T], board code of the side to move
    start: npt.NDArray[np.int16]  # [T], square the amazon left
    to: npt.NDArray[np.int16]  # [T], square she went to
    arrow: npt.NDArray[np.int16]  # [T], square the arrow hit
    results: npt.NDArray[np.int8]  # [T], 1 where the mover won the game, 0 where it lost
    gids: npt.NDArray[np.int64]  # [T], number of the game
    plies: npt.NDArray[np.int16]  # [T], turns played before this one

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
    """Return the turns of a split that have both samples, by (gid, ply), and the number of samples without a partner.

    The builder of a data set drops single positions that another split also has, so that half a turn may remain.

    Raises:
        ZugwerkError: no such split, or it has no whole turn.
    """
    rows = dataset.split(split)
    kind, gid, ply = dataset.samples.type[rows], dataset.samples.gid[rows], dataset.samples.ply[rows]
    partners = (kind[:-1] == AMAZON) & (kind[1:] == ARROW) & (gid[:-1] == gid[1:]) & (ply[:-1] == ply[1:])
    before = np.flatnonzero(partners) + rows.start  # rows go by gid, ply and type
    after = before + 1
    if not len(before):
        raise ZugwerkError(f"the data set's {split} split has no whole turn; make it from more games")
    height, width = dataset.samples.board.shape[1:]

    def square(pairs: npt.NDArray[np.int8]) -> npt.NDArray[np.int16]:
        x, y = pairs.astype(np.int16).T
        return np.asarray((height - 1 - y) * width + x, np.int16)

    turns = RecordedTurns(
        boards=dataset.samples.board[before],
        movers=dataset.samples.mover[before],
        start=square(dataset.samples.from_[before]),
        to=square(dataset.samples.to[before]),
        arrow=square(dataset.samples.arrow[after]),
        results=dataset.samples.result[before],
        gids=dataset.samples.gid[before],
        plies=dataset.samples.ply[before],
    )
    return turns, len(kind) - 2 * len(before)


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """A system's predictions for T turns, each float64 [T], by the name of the figure."""

    rates: Mapping[str, Floats]  # Hits from 0 to 1, such as whether the played move is among the first five
    win_rates: Mapping[str, Floats]  # Win rates of the side to move, 0 to 1
    errors: Mapping[str, Floats]  # Distances, 0 or more, of the system's answer from the played move


def top_hits(better: npt.ArrayLike, equal: npt.ArrayLike, k: int) -> Floats:
    """Return the probability that the played move is among the first ``k`` with ties in random order.

    Args:
        better: [T], number of moves that the system prefers to the played one.
        equal: [T], number of moves that it rates equal, including the played one.
        k: number of first places.

    Returns:
        float64 [T]; 0 or 1 wherever no tie reaches across the k-th place.
    """
    return np.clip((k - np.asarray(better, np.float64)) / np.asarray(equal, np.float64), 0.0, 1.0)


def join_predictions(parts: Sequence[Predictions]) -> Predictions:
    """Predictions about consecutive turns as one."""
    joined = {
        field.name: {
            name: np.concatenate([getattr(part, field.name)[name] for part in parts])
            for name in getattr(parts[0], field.name)
        }
        for field in fields(Predictions)
    }
    return Predictions(**joined)


@dataclass(frozen=True)
class Outcomes:
    """Results of the games of T turns."""

    results: npt.NDArray[np.integer]  # [T], 1 where the mover won the game, 0 where it lost
    gids: npt.NDArray[np.integer]  # [T], number of the game
    plies: npt.NDArray[np.integer]  # [T], turns played before this one


def agreement(
    predictions: Predictions, outcomes: Outcomes, rows: npt.NDArray[np.bool_] | None = None
) -> dict[str, Score]:
    """Return all figures of a system by name, over all turns or over those of ``rows`` [T].

    Rates and errors keep their names. Each win rate w gives ``w_accuracy`` (the likelier side won; 0.5 counts half),
    ``w_brier`` (mean squared error) and ``w_l1`` (mean absolute error).
    """
    chosen = np.ones(len(outcomes.gids), bool) if rows is None else rows
    games = outcomes.gids[chosen]
    figures = {name: clustered_rate(values[chosen], games) for name, values in predictions.rates.items()}
    for name, win_rates in predictions.win_rates.items():
        win_rate, result = win_rates[chosen], outcomes.results[chosen]
        right = np.where(win_rate == 0.5, 0.5, (win_rate > 0.5) == (result == 1))
        figures[f"{name}_accuracy"] = clustered_rate(right, games)
        figures[f"{name}_brier"] = clustered_mean((win_rate - result) ** 2, games)
        figures[f"{name}_l1"] = clustered_mean(np.abs(win_rate - result), games)
    return figures | {name: clustered_mean(values[chosen], games) for name, values in predictions.errors.items()}


def by_phase(
    predictions: Predictions, outcomes: Outcomes, starts: Sequence[int]
) -> Iterator[tuple[str, dict[str, Score]]]:
    """Return `agreement` for each phase that has turns: ``0-19``, ``20-49``, ``50-`` for starts 0, 20, 50."""
    for start, end in zip(starts, [*starts[1:], None], strict=True):
        rows = outcomes.plies >= start
        if end is not None:
            rows &= outcomes.plies < end
        if rows.any():
            name = f"{start}-" if end is None else f"{start}-{end - 1}"
            yield name, agreement(predictions, outcomes, rows)


def metrics(figures: Mapping[str, Score]) -> dict[str, dict[str, float]]:
    """``{name: {value, low, high, n}}``."""
    return {name: score.as_metrics() for name, score in figures.items()}


def phase_rows(phases: Iterable[tuple[str, Mapping[str, Score]]]) -> list[Row]:
    """One row a phase: ``phase``, ``turns``, then each figure with its ``_low`` and ``_high``."""
    rows: list[Row] = []
    for phase, figures in phases:
        row: Row = {"phase": phase, "turns": max((score.n for score in figures.values()), default=0)}
        for name, score in figures.items():
            row |= {name: score.value, f"{name}_low": score.low, f"{name}_high": score.high}
        rows.append(row)
    return rows


def counted(turns: RecordedTurns, left_out: int) -> dict[str, Any]:
    """The first entries of a report on ``turns``; ``left_out`` counts samples without a partner."""
    return {"games": len(np.unique(turns.gids)), "turns": len(turns), "turns_left_out": left_out}


def write_agreement(
    folder: Path, name: str, predictions: Predictions, turns: RecordedTurns, *, calibration: bool = True
) -> dict[str, dict[str, float]]:
    """Write ``<name>.phases.csv`` and, with ``calibration``, ``<name>.calibration.csv``; return the metrics."""
    outcomes = Outcomes(turns.results, turns.gids, turns.plies)
    write_table(folder / f"{name}.phases.csv", phase_rows(by_phase(predictions, outcomes, PHASES)))
    if calibration:
        bins = reliability(predictions.win_rates["value"], outcomes.results, outcomes.gids)
        write_table(folder / f"{name}.calibration.csv", calibration_rows(bins))
    return metrics(agreement(predictions, outcomes))

"""Stage amazons_baselines: training-free baselines on the test split, the one-ply evaluation and uniform chance.

Reads ``artifacts/samples/amazons/``; writes, under ``artifacts/reports/amazons/evaluate/``, the metrics
``baselines.json`` and the tables ``one_ply.phases.csv``, ``one_ply.calibration.csv`` and ``uniform.phases.csv``.
A run after a kill ranks only the missing turns: finished ones are kept under ``work/``.

Rates and win rates have the names of `pipeline_src.systems.amazons_net.evaluate`. The one-ply value of a move is that
with its best arrow. Ties count by the probability that a random order puts the played turn first.
"""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.journal import Journal, each_kept, pack, stage_journal, unpack
from pipeline_src.files import write_json
from pipeline_src.learning.arrays import MANIFEST
from pipeline_src.parallel import Parallel
from pipeline_src.players.amazons import amazons_engine, make_evaluator, one_ply_values
from pipeline_src.project.params import load
from pipeline_src.systems.amazons_net.params import AmazonsBaselinesParams
from pipeline_src.systems.amazons_net.recorded import (
    Floats,
    Predictions,
    RecordedTurns,
    counted,
    recorded_turns,
    top_hits,
    write_agreement,
)
from pipeline_src.systems.amazons_net.samples import open_dataset

SAMPLES = Path("artifacts/samples/amazons")
WORK = Path("work/amazons_baselines")
OUT = Path("artifacts/reports/amazons/evaluate")
CHUNK = 256  # Number of turns in a task
CHOICES = ("from_to", "arrow", "turn")


class Ranks(NamedTuple):
    """Ranks of T played turns by the one-ply evaluation. Columns are `CHOICES`; the arrow is given the played move."""

    better: npt.NDArray[np.int64]  # [T, 3], alternatives worth more
    equal: npt.NDArray[np.int64]  # [T, 3], alternatives worth the same, the played one among them
    legal: npt.NDArray[np.int64]  # [T, 3], alternatives in all
    value: Floats  # [T], worth in squares to the mover of the best turn with the played move
    value_before: Floats  # [T], of the best turn


def rank_turns(turns: RecordedTurns) -> Ranks:
    """Rank the turns.

    Raises:
        ZugwerkError: a played turn is not legal in its position.
    """
    played, n = turns.actions(), turns.boards.shape[1] * turns.boards.shape[2]
    better, equal, legal = np.zeros((3, len(turns), len(CHOICES)), np.int64)
    ranks = Ranks(better, equal, legal, np.zeros(len(turns)), np.zeros(len(turns)))
    evaluator = make_evaluator()
    for row, state in enumerate(turns.states()):
        actions, values = one_ply_values(state, evaluator)
        place = np.flatnonzero(actions == played[row])
        if not place.size:
            raise turns.refuse(row)
        moves = actions // n  # turns of one move are adjacent
        best = np.maximum.reduceat(values, np.flatnonzero(np.diff(moves, prepend=-1)))
        arrows = values[moves == played[row] // n]
        value = values[place[0]]
        for column, (worth, own) in enumerate(((best, arrows.max()), (arrows, value), (values, value))):
            ranks.better[row, column] = (worth > own).sum()
            ranks.equal[row, column] = (worth == own).sum()
            ranks.legal[row, column] = len(worth)
        ranks.value[row], ranks.value_before[row] = arrows.max(), values.max()
    return ranks


def join_ranks(parts: Sequence[Ranks]) -> Ranks:
    """Ranks of consecutive turns as one."""
    return Ranks(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def predict_one_ply(ranks: Ranks, scale: float) -> Predictions:
    """Return the predictions of the one-ply evaluation, with win rates logistic in the value by ``scale`` squares."""
    win_rates = {"value": win_rate(ranks.value, scale), "value_before": win_rate(ranks.value_before, scale)}
    return Predictions(_rates(ranks.better, ranks.equal), win_rates, {})


def predict_uniform(ranks: Ranks) -> Predictions:
    """Return the predictions of chance: all legal alternatives are equal, and every win rate is one half."""
    even = np.full(len(ranks.value), 0.5)
    return Predictions(
        _rates(np.zeros_like(ranks.legal), ranks.legal), {"value": even, "value_before": even.copy()}, {}
    )


def _rates(better: npt.NDArray[np.int64], equal: npt.NDArray[np.int64]) -> dict[str, Floats]:
    return {
        f"{choice}_top{k}": top_hits(better[:, column], equal[:, column], k)
        for column, choice in enumerate(CHOICES)
        for k in (1, 5)
    }


def win_rate(value: Floats, scale: float) -> Floats:
    """``1 / (1 + exp(-value / scale))``."""
    return 0.5 * (1 + np.tanh(value / scale / 2))


def fit_scale(value: Floats, results: npt.NDArray[np.integer]) -> float:
    """Return the scale in squares that maximises the log-likelihood of ``results`` (1 won, 0 lost).

    The scale is between 0.1 and 1,000: values that determine all results, or none, have their maximum at 0 or infinity.
    """
    low, high = 1e-3, 10.0  # bounds of 1 / scale, in which the likelihood is concave
    for _ in range(60):
        middle = (low + high) / 2
        if float((value * (results - win_rate(value, 1 / middle))).sum()) > 0:
            low = middle
        else:
            high = middle
    return 2 / (low + high)


def ranked(turns: RecordedTurns, parallel: Parallel, description: str, journal: Journal) -> Ranks:
    """`rank_turns`, some turns a task."""
    tasks = {f"{description} {number}": (some,) for number, some in enumerate(turns.chunks(CHUNK))}
    parts = each_kept(rank_some, tasks, parallel, description, journal)
    return join_ranks([Ranks(**unpack(part)) for part in parts])


def rank_some(tasks: list[tuple[RecordedTurns]]) -> list[str]:
    """`rank_turns` of each task, packed."""
    return [pack(rank_turns(turns)._asdict()) for (turns,) in tasks]


def main() -> None:
    """Fit the one-ply win rate, rank the test turns, write.

    Raises:
        ZugwerkError: bad params, or no or a damaged data set.
    """
    params, parallel = load(AmazonsBaselinesParams, "amazons_baselines"), load(Parallel, "parallel")
    engine = amazons_engine()  # of the ranking player
    dataset = open_dataset(SAMPLES)
    fitted = recorded_turns(dataset, "validation")[0].spread(params.fit_turns)
    turns, left_out = recorded_turns(dataset, "test")
    identity = {
        "samples": hashlib.sha256((SAMPLES / MANIFEST).read_bytes()).hexdigest(),
        "params": params.model_dump(),
        "amazons_engine": engine.model_dump(),
    }
    with stage_journal(WORK, __name__, identity) as journal:
        scale = fit_scale(ranked(fitted, parallel, "one-ply win rate", journal).value, fitted.results)
        ranks = ranked(turns, parallel, "one-ply ranks", journal)
    one_ply = write_agreement(OUT, "one_ply", predict_one_ply(ranks, scale), turns)
    uniform = write_agreement(OUT, "uniform", predict_uniform(ranks), turns, calibration=False)
    about = {**counted(turns, left_out), "one_ply_scale": scale}
    write_json(OUT / "baselines.json", {**about, "one_ply": one_ply, "uniform": uniform})
    shutil.rmtree(WORK)

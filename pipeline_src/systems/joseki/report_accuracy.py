"""Accuracy of the recommender on held-out games: shares with intervals, and by move number."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pipeline_src.arena.score import Score, clustered_rate
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.accuracy import Named, name_moves, point_counts
from pipeline_src.systems.joseki.build import Builder
from pipeline_src.systems.joseki.library import Library, prune
from pipeline_src.systems.joseki.sequences import walk


class Tested(NamedTuple):
    """A library of some games, asked for the moves of others."""

    whole: Library
    """Library of the games seen, without a threshold."""
    pruned: Named
    """Moves named by the library without rare moves."""
    unpruned: Named
    """Moves named by the whole library."""


def ask(seen: Sequence[GameRecord], held_out: Sequence[GameRecord], moves: int, fewest_games: int) -> Tested:
    """Build of the games seen, ask for all local moves of the others.

    Args:
        seen: games that the library and the baseline are of.
        held_out: games whose moves are asked for.
        moves: local moves of a corner sequence at most.
        fewest_games: moves of fewer games are dropped.
    """
    builder = Builder(longest=moves)
    builder.add(seen)
    whole = builder.library()
    counts, asked = point_counts(walk(seen, moves).steps, moves), walk(held_out, moves).steps
    pruned = name_moves(prune(whole, fewest_games), counts, asked)
    return Tested(whole, pruned, name_moves(whole, counts, asked))


def rates(named: Named) -> dict[str, Score]:
    """Shares of moves, with intervals over games; ``either`` asks the baseline where the library has no move."""
    hits = {
        "hit_rate": named.known,
        "recommend_top1": named.rank == 0,
        "recommend_top3": named.rank >= 0,
        "baseline_top1": named.baseline == 0,
        "baseline_top3": named.baseline >= 0,
        "either_top3": np.where(named.known, named.rank, named.baseline) >= 0,
    }
    return {name: clustered_rate(hit, named.game) for name, hit in hits.items()}


def number_rows(named: Named) -> list[dict[str, str | float]]:
    """One row a move number in its corner: ``number``, ``moves``, the shares."""
    rows: list[dict[str, str | float]] = []
    for number in np.unique(named.number).tolist():
        of = Named._make(column[named.number == number] for column in named)
        rows.append({"number": number, "moves": len(of.rank)} | {name: one.value for name, one in rates(of).items()})
    return rows

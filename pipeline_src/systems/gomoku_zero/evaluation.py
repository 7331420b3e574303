"""Matches of Gomoku from balanced openings, and the published tables and curves as rows for CSV files."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pipeline_src.systems.gomoku_zero.player  # noqa: F401 - the texts of models name it
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.openings import balanced_openings, central_cells, quick_games
from pipeline_src.arena.result import Match, Rating
from pipeline_src.arena.runner import BestOf, Board, Event, Rules, cross_table
from pipeline_src.files import Row
from pipeline_src.parallel import Parallel
from pipeline_src.systems.gomoku_zero.params import GomokuOpenings


def gomoku_event(
    texts: Mapping[str, str],
    board: Board,
    chosen: GomokuOpenings,
    seed: Sequence[int],
    parallel: Parallel,
    journal: Journal | None = None,
) -> Event:
    """An event on a board of Gomoku.

    Args:
        texts: players' texts by their names.
        board: on what.
        chosen: which openings.
        seed: openings and games depend on nothing else.
        parallel: how the games run.
        journal: keeps finished games.
    """
    cells = central_cells(board.size, chosen.area)
    limits = chosen.judge, chosen.bound, cells, quick_games(chosen.quick_games)
    openings = balanced_openings(board.game, board.start(), chosen.count, chosen.plies, [*seed, 0], *limits)
    return Event(board, texts, openings, [*seed, 1], parallel, journal=journal)


def gate_rows(reports: Mapping[int, Mapping[str, Any]]) -> list[Row]:
    """Table 1: each generation against the best player before it, from the reports by generation."""
    rows: list[Row] = []
    for number, report in reports.items():
        gate = report["gate"]
        counts = {name: gate[name] for name in ("wins", "draws", "losses")}
        rows.append({"generation": number, **counts, "score": gate["score"]["value"], "accepted": gate["accepted"]})
    return rows


def round_robin_rows(names: Sequence[str], matches: Iterable[Match]) -> list[Row]:
    """Table 2 in long form: a row for each player and opponent, and one with the opponent ``all``."""
    standings = {(match.a, match.b): match.standing for match in matches}
    return [
        {"generation": name, "opponent": other, **standing.row()}
        for name, other, standing in cross_table(names, standings)
    ]


def opponent_rows(matches: Iterable[Match]) -> list[Row]:
    """Table 3: each model against players that learn nothing, with the score's 95 % interval."""
    return [
        {
            "generation": match.a,
            "opponent": match.b,
            **match.standing.row(),
            "score": match.score.value,
            "low": match.score.low,
            "high": match.score.high,
        }
        for match in matches
    ]


def best_of_rows(matches: Iterable[BestOf], rules: Rules) -> list[Row]:
    """Return table 4: best-of matches; ``won`` is also 0 for a match without a winner."""
    return [
        {
            "generation": match.a,
            "opponent": match.b,
            **vars(match.standing),
            "won": int(match.won(rules) is True),
        }
        for match in matches
    ]


def elo_rows(names: Iterable[str], ratings: Mapping[str, Rating]) -> list[Row]:
    """Elo by generation with its 95 % interval."""
    return [
        {"generation": name, "elo": ratings[name].elo, "low": ratings[name].low, "high": ratings[name].high}
        for name in names
    ]


LOSSES = ("step", "policy_loss", "value_loss")  # Columns of a generation's learning curve that `loss_rows` reads


def loss_rows(curves: Mapping[int, Sequence[Mapping[str, str]]]) -> list[Row]:
    """Figure 6: the losses over all iterations, from the learning curves by generation.

    ``iteration`` counts the steps of all generations; ``mean`` is that of the two losses.
    """
    rows: list[Row] = []
    before = 0.0
    for number, curve in curves.items():
        for entry in curve:
            policy, value = float(entry["policy_loss"]), float(entry["value_loss"])
            iteration = int(before + float(entry["step"]))
            rows.append(
                {
                    "generation": number,
                    "iteration": iteration,
                    "policy": policy,
                    "value": value,
                    "mean": (policy + value) / 2,
                }
            )
        before += float(curve[-1]["step"]) if curve else 0.0
    return rows

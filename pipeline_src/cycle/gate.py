"""The gate: a newly trained player becomes the best one only if it scores more against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipeline_src.arena.games import PlayedGame, play_games, random_openings
from pipeline_src.arena.match import POINTS
from pipeline_src.cycle.evaluators import prepare_model
from pipeline_src.files import write_json
from pipeline_src.games.game import get_game
from pipeline_src.parallel import run_tasks
from pipeline_src.params.gomoku_game import GomokuGame
from pipeline_src.players.registry import make_player
from pipeline_src.records.parquet import write_records
from pipeline_src.records.record import GameRecord

if TYPE_CHECKING:
    from pipeline_src.cycle.generation import Work

TAG = 12
"""Keeps this step's random numbers apart from the others'."""
GROUP = 5
"""Pairs of games that a task plays. Fixed, so that the number of workers changes nothing."""


def play_gate(work: Work) -> None:
    """Play the games; write ``gate.parquet`` and ``gate_result.json``."""
    params, rules = work.setting.gate, work.setting.game
    game = get_game("gomoku")
    start = game.initial_state(rules.size, rules.variant)
    seed = [work.setting.seed, TAG, work.files.number]
    openings = random_openings(game, start, params.games // 2, params.opening_plies, [*seed, 0])
    backend = work.setting.self_play.backend
    new, best = (
        f"zero:{prepare_model(model, backend, work.folder)},simulations={params.simulations},search={params.search},"
        f"backend={backend},chunk={GROUP}"
        for model in (work.folder / "model.pt", work.best)
    )
    tasks = [
        (new, best, rules, openings[at : at + GROUP], [*seed, 1, at // GROUP]) for at in range(0, len(openings), GROUP)
    ]
    groups = run_tasks(_play_group, tasks, work.parallel, f"generation {work.files.name}: gate")
    pairs = [pair for group in groups for pair in group]
    points = [POINTS[game.winner][i] for pair in pairs for i, game in enumerate(pair)]
    wins, draws, losses = (points.count(value) for value in (1.0, 0.5, 0.0))
    write_records(_records(pairs, rules), work.folder / "gate.parquet")
    write_json(
        work.folder / "gate_result.json",
        {
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "score": sum(points) / len(points),
            "accepted": int(wins > losses or params.always),
        },
    )


def _play_group(
    new: str, best: str, rules: GomokuGame, openings: list[tuple[int, ...]], seed: list[int]
) -> list[tuple[PlayedGame, PlayedGame]]:
    game = get_game("gomoku")
    start = game.initial_state(rules.size, rules.variant)
    one, other = make_player("gomoku", new), make_player("gomoku", best)
    rngs = [[np.random.default_rng([*seed, i, swapped]) for i in range(len(openings))] for swapped in (0, 1)]
    ahead = play_games(game, one, other, openings, rngs[0], start)
    behind = play_games(game, other, one, openings, rngs[1], start)
    return list(zip(ahead, behind, strict=True))


def _records(pairs: list[tuple[PlayedGame, PlayedGame]], rules: GomokuGame) -> list[GameRecord]:
    names = ("new", "best")
    return [
        GameRecord(
            game="gomoku",
            gid=2 * number + swapped + 1,
            source="engine",
            variant=rules.variant,
            height=rules.size,
            width=rules.size,
            actions=played.actions,
            winner=played.winner,
            first_name=names[swapped],
            second_name=names[1 - swapped],
        )
        for number, pair in enumerate(pairs)
        for swapped, played in enumerate(pair)
    ]

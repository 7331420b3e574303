"""A generation's self-play in groups of a fixed size. Each group is a task, and its games are kept when it is done."""

from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src import streams
from pipeline_src.files import read_json, write_json
from pipeline_src.games import gomoku
from pipeline_src.parallel import run_tasks
from pipeline_src.records.parquet import write_records
from pipeline_src.records.record import GameRecord, Winner
from pipeline_src.systems.gomoku_zero.evaluator import even, open_evaluator, prepare_model
from pipeline_src.systems.gomoku_zero.params import GomokuSelfPlay
from pipeline_src.systems.gomoku_zero.self_play import SelfPlayGame, play_random, play_self
from pipeline_src.systems.gomoku_zero.setting import Setting
from pipeline_src.systems.gomoku_zero.teacher import make_teacher, play_taught
from pipeline_src.systems.gomoku_zero.window import SelfPlayGames, extend_window, make_games, open_window, write_window
from pipeline_src.systems.gomoku_zero.work import Work

SIGN = {"first": 1, "draw": 0, "second": -1}
WINNERS: dict[int, Winner] = {1: "first", 0: "draw", -1: "second"}


def play_groups(work: Work) -> None:
    """Let the best player play itself; write ``games.parquet``, the ``window`` and ``self_play_result.json``."""
    params = work.setting.self_play
    model = prepare_model(work.player, params.backend, work.folder) if work.player else None
    if model is None and params.teacher:
        make_teacher(params.teacher)  # an error before any game
    count = _count_games(model, params)
    folders = [work.folder / f"group_{group:03d}" for group in range(-(-count // params.group))]
    tasks = [(model, work.setting, work.files.number, group, folder) for group, folder in enumerate(folders)]
    run_tasks(play_group, tasks, work.parallel, f"generation {work.files.name}: self-play")
    new = reduce(lambda games, more: extend_window(games, more, _ALL), (open_window(folder) for folder in folders))
    write_records(_records(new, work.files.number), work.folder / "games.parquet")
    before = open_window(work.before.window) if work.before else None
    if before and before.size != new.size:  # the first generation on a larger board
        before = None
    write_window(work.folder / "window", extend_window(before, new, work.setting.train.window))
    lengths = np.diff(new.offsets)
    write_json(
        work.folder / "self_play_result.json",
        {
            "games": len(new),
            "positions": len(new.policy),
            "mean_plies": float(lengths.mean()),
            "first_wins": int((new.winner == 1).sum()),
            "second_wins": int((new.winner == -1).sum()),
            "draws": int((new.winner == 0).sum()),
            "different_games": len({new.actions[a:b].tobytes() for a, b in pairwise(new.offsets)}),
            "evaluations": sum(read_json(_count(folder))["evaluations"] for folder in folders),
        },
    )


_ALL = 1 << 60


def play_group(model: Path | None, setting: Setting, number: int, group: int, folder: Path) -> None:
    """Play the ``group``-th games of generation ``number`` into ``folder``, unless they are there already.

    Without a ``model`` the games are as ``params.first`` says.
    """
    if folder.exists():
        return
    params, rules, evaluations = setting.self_play, setting.game, 0
    game: Any = gomoku
    start = game.initial_state(rules.size_of(number), rules.variant)
    first = group * params.group
    last = min(first + params.group, _count_games(model, params))
    seeds = [[setting.seed, streams.SELF_PLAY, number, i] for i in range(first, last)]
    if model is None and params.teacher:
        played = play_taught(start, params.teacher, params.opening_plies, seeds)
    elif model is None and params.first == "random":
        played = play_random(game, start, seeds)
    elif model is None:
        played = play_self(game, start, even, params, seeds)
    else:
        evaluator = open_evaluator(model, params.backend, params.chunk)
        before = evaluator.evaluated
        parts = 2 if model.suffix == ".pt" else 1  # an export runs on the CPU
        played = play_self(game, start, evaluator, params, seeds, parts)
        evaluations = evaluator.evaluated - before
    write_json(_count(folder), {"evaluations": evaluations})
    write_window(folder, _kept(played, setting, number))


def _count_games(model: Path | None, params: GomokuSelfPlay) -> int:
    return params.teacher.games if model is None and params.teacher else params.games


def _count(folder: Path) -> Path:
    """Where a group says how many positions its net was asked about; written before the group."""
    return folder.with_name(f"evaluations_of_{folder.name}.json")


def _kept(played: list[SelfPlayGame], setting: Setting, number: int) -> SelfPlayGames:
    game: Any = gomoku
    return make_games(
        setting.game.size_of(number),
        setting.game.variant,
        [one.actions for one in played],
        [SIGN[game.winner(one.state)] for one in played],
        [np.array(one.policies) for one in played],
        generation=number,
        searched_from=[one.opening for one in played],
    )


def _records(games: SelfPlayGames, number: int) -> list[GameRecord]:
    return [
        GameRecord(
            game="gomoku",
            gid=1_000_000 * number + i,
            source="engine",
            variant=games.variant,
            height=games.size,
            width=games.size,
            actions=tuple(int(a) for a in games.actions[games.offsets[i] : games.offsets[i + 1]]),
            winner=WINNERS[int(games.winner[i])],
            first_name=f"generation {number}",
            second_name=f"generation {number}",
        )
        for i in range(len(games))
    ]

"""A round of self-play in groups of a fixed size. Each group is a task, and its games are kept when it is done."""

from collections.abc import Iterable
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src import streams
from pipeline_src.files import read_json, write_json
from pipeline_src.games import gomoku
from pipeline_src.parallel import run_tasks
from pipeline_src.records.record import GameRecord, Winner
from pipeline_src.systems.gomoku_zero.evaluator import even, open_evaluator, prepare_model
from pipeline_src.systems.gomoku_zero.params import GomokuSelfPlay
from pipeline_src.systems.gomoku_zero.self_play import SelfPlayGame, play_random, play_self
from pipeline_src.systems.gomoku_zero.teacher import make_teacher, play_taught
from pipeline_src.systems.gomoku_zero.window import SelfPlayGames, extend_window, make_games, open_window, write_window
from pipeline_src.systems.gomoku_zero.work import Work

SIGN = {"first": 1, "draw": 0, "second": -1}
WINNERS: dict[int, Winner] = {1: "first", 0: "draw", -1: "second"}


def play_groups(work: Work) -> None:
    """Let the best player play itself; write the round's ``new`` games and its ``window``."""
    params = work.setting.self_play
    model = prepare_model(work.player, params.backend, work.folder) if work.player else None
    if model is None and params.teacher:
        make_teacher(params.teacher)  # an error before any game
    count = _count_games(model, params)
    folders = [work.folder / f"group_{group:03d}" for group in range(-(-count // params.group))]
    tasks = [(model, work, group, folder) for group, folder in enumerate(folders)]
    run_tasks(play_group, tasks, work.parallel, f"generation {work.number:02d}: self-play")
    new = joined(open_window(folder) for folder in folders)
    write_window(work.folder / "new", new)
    before = open_window(work.before.window) if work.before else None
    if before and before.size != new.size:  # the first generation on a larger board
        before = None
    write_window(work.round.window, extend_window(before, new, work.setting.train.window))
    write_json(work.folder / EVALUATIONS, sum(read_json(_count(folder)) for folder in folders))


EVALUATIONS = "evaluations.json"
"""Number of positions that the net was asked about in a round."""


def joined(parts: Iterable[SelfPlayGames]) -> SelfPlayGames:
    """All games of some windows."""
    return reduce(lambda games, more: extend_window(games, more, _ALL), parts)


def summary(new: SelfPlayGames, evaluations: int) -> dict[str, Any]:
    """Counts of a generation's games, for its report."""
    return {
        "games": len(new),
        "positions": len(new.policy),
        "mean_plies": float(np.diff(new.offsets).mean()),
        "first_wins": int((new.winner == 1).sum()),
        "second_wins": int((new.winner == -1).sum()),
        "draws": int((new.winner == 0).sum()),
        "different_games": len({new.actions[a:b].tobytes() for a, b in pairwise(new.offsets)}),
        "evaluations": evaluations,
    }


_ALL = 1 << 60


def play_group(model: Path | None, work: Work, group: int, folder: Path) -> None:
    """Play the ``group``-th games of a round into ``folder``, unless they are there already.

    Without a ``model`` the games are as ``params.first`` says.
    """
    if folder.exists():
        return
    setting, params, rules, evaluations = work.setting, work.setting.self_play, work.setting.game, 0
    game: Any = gomoku
    start = game.initial_state(rules.size_of(work.number), rules.variant)
    count = _count_games(model, params)
    first = group * params.group
    last = min(first + params.group, count)
    seeds = [[setting.seed, streams.SELF_PLAY, work.number, work.index * count + i] for i in range(first, last)]
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
    write_json(_count(folder), evaluations)
    write_window(folder, _kept(played, work))


def _count_games(model: Path | None, params: GomokuSelfPlay) -> int:
    """Number of games in a round."""
    return params.teacher.games if model is None and params.teacher else params.games // params.rounds


def _count(folder: Path) -> Path:
    """Where a group says how many positions its net was asked about; written before the group."""
    return folder.with_name(f"evaluations_of_{folder.name}.json")


def _kept(played: list[SelfPlayGame], work: Work) -> SelfPlayGames:
    game: Any = gomoku
    rules = work.setting.game
    return make_games(
        rules.size_of(work.number),
        rules.variant,
        [one.actions for one in played],
        [SIGN[game.winner(one.state)] for one in played],
        [np.array(one.policies) for one in played],
        generation=work.count,
        searched_from=[one.opening for one in played],
    )


def records(games: SelfPlayGames, number: int) -> list[GameRecord]:
    """The games of a generation as records."""
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

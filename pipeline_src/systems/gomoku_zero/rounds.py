"""A round of self-play. Each game is kept when it is done, and depends on its own number alone."""

from collections.abc import Iterable
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src import streams
from pipeline_src.arena.journal import Journal, pack, run_kept, unpack
from pipeline_src.files import write_json
from pipeline_src.games import gomoku
from pipeline_src.records.record import GameRecord, Winner
from pipeline_src.systems.gomoku_zero.evaluator import TABLE, even, open_evaluator, prepare_model
from pipeline_src.systems.gomoku_zero.params import GomokuSelfPlay
from pipeline_src.systems.gomoku_zero.self_play import play_random, play_self
from pipeline_src.systems.gomoku_zero.teacher import make_teacher, play_taught
from pipeline_src.systems.gomoku_zero.window import SelfPlayGames, extend_window, make_games, open_window, write_window
from pipeline_src.systems.gomoku_zero.work import Work

SIGN = {"first": 1, "draw": 0, "second": -1}
WINNERS: dict[int, Winner] = {1: "first", 0: "draw", -1: "second"}
EVALUATIONS = "evaluations.json"
"""Number of positions that the net was asked about in a round."""
LOCK_STEP = 64
"""Games in lock step, if the net's batches do not ask for more. Neither this nor the unit of work changes a game."""


def play_round(work: Work) -> None:
    """Let the best player play itself; write the round's ``new`` games and its ``window``."""
    params, rules = work.setting.self_play, work.setting.game
    model = prepare_model(work.player, params.backend, work.folder) if work.player else None
    if model is None and params.teacher:
        make_teacher(params.teacher)  # an error before any game
    tasks = {str(number): (number,) for number in range(_count_games(model, params))}
    searched = model is not None and not model.name.endswith(TABLE)  # by a net that answers in batches
    together = lock_step(params) if searched else 1
    title = f"generation {work.number:02d}: self-play"
    with Journal(work.folder / "games.journal.jsonl", {}) as journal:
        texts = run_kept(partial(play_games, model, work), tasks, work.parallel, title, journal, together=together)
    played = [unpack(text) for text in texts]
    new = make_games(
        rules.size_of(work.number),
        rules.variant,
        [one["actions"] for one in played],
        [int(one["winner"]) for one in played],
        [one["policies"] for one in played],
        generation=work.count,
        searched_from=[int(one["opening"]) for one in played],
    )
    write_window(work.folder / "new", new)
    before = open_window(work.before.window) if work.before else None
    if before and before.size != new.size:  # the first generation on a larger board
        before = None
    write_window(work.round.window, extend_window(before, new, work.setting.train.window))
    write_json(work.folder / EVALUATIONS, sum(int(one["evaluations"]) for one in played))


def lock_step(params: GomokuSelfPlay) -> int:
    """Number of games in lock step: two batches of the net, since one is prepared while it computes the other."""
    return max(LOCK_STEP, 2 * -(-params.chunk // params.leaves))


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


def play_games(model: Path | None, work: Work, tasks: list[tuple[int]]) -> list[str]:
    """Play the games of a round with these numbers. Without a ``model`` they are as ``params.first`` says.

    Returns:
        For each game, packed: ``actions`` and ``winner`` (1 the first player, -1 the second, 0 a draw), ``policies``
        float16 [P - opening, N], ``opening``, the random plies before the first search, and ``evaluations``, the
        positions that the net was asked about; the first game of a lock step has those of all its games.
    """
    width = lock_step(work.setting.self_play)
    return [one for at in range(0, len(tasks), width) for one in _in_lock_step(model, work, tasks[at : at + width])]


def _in_lock_step(model: Path | None, work: Work, tasks: list[tuple[int]]) -> list[str]:
    setting, params, rules, evaluations = work.setting, work.setting.self_play, work.setting.game, 0
    game: Any = gomoku
    start = game.initial_state(rules.size_of(work.number), rules.variant)
    before = work.index * _count_games(model, params)
    seeds = [[setting.seed, streams.SELF_PLAY, work.number, before + number] for (number,) in tasks]
    if model is None and params.teacher:
        played = play_taught(start, params.teacher, params.opening_plies, seeds)
    elif model is None and params.first == "random":
        played = play_random(game, start, seeds)
    elif model is None:
        played = play_self(game, start, even, params, seeds)
    else:
        evaluator = open_evaluator(model, params.backend, params.chunk)
        asked = evaluator.evaluated
        parts = 2 if model.suffix == ".pt" else 1  # an export runs on the CPU
        played = play_self(game, start, evaluator, params, seeds, parts)
        evaluations = evaluator.evaluated - asked
    return [
        pack(
            {
                "actions": np.array(one.actions, np.int16),
                "winner": SIGN[game.winner(one.state)],
                "policies": np.array(one.policies, np.float16),
                "opening": one.opening,
                "evaluations": 0 if i else evaluations,
            }
        )
        for i, one in enumerate(played)
    ]


def _count_games(model: Path | None, params: GomokuSelfPlay) -> int:
    """Number of games in a round."""
    return params.teacher.games if model is None and params.teacher else params.games // params.rounds


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

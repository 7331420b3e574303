"""One generation: self-play, training, gate. Finished phases are kept until the end, so that a kill costs little."""

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src import streams
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.runner import Board, play_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table, write_json, write_table, written_aside
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import digest
from pipeline_src.project.params import load
from pipeline_src.records.record import GameRecord, Winner, write_records
from pipeline_src.systems.gomoku_zero import player
from pipeline_src.systems.gomoku_zero.evaluator import prepare_model
from pipeline_src.systems.gomoku_zero.models import load_start, save_model
from pipeline_src.systems.gomoku_zero.nets import UniformConfig, UniformNet
from pipeline_src.systems.gomoku_zero.params import ARTIFACTS, GenerationFiles, Setting, read_numbers, read_setting
from pipeline_src.systems.gomoku_zero.self_play import (
    EVALUATIONS,
    Round,
    SelfPlayGames,
    extend_window,
    open_window,
    play_round,
)
from pipeline_src.systems.gomoku_zero.train import learn

WORK = Path("work/gomoku")
"""Folder of unfinished generations: not in git, no outs of DVC, removed when a generation is complete."""
WINNERS: dict[int, Winner] = {1: "first", 0: "draw", -1: "second"}
CHUNK = 10  # Rows of a forward pass: of twenty games ten wait for each player


def main(*options: str) -> None:
    """Stage gomoku_generation: make one generation of Gomoku's self-play from the one before it.

    Reads ``artifacts/models/gomoku/<before>/`` and ``artifacts/samples/gomoku/<before>/``; the first generation has
    none before it. Writes the files of `GenerationFiles`. Killed and run again, it resumes from ``work/gomoku/``.

    Raises:
        ZugwerkError: bad params, or the generation before is missing or damaged.
    """
    parser = argparse.ArgumentParser(description="Make one generation of Gomoku's self-play.")
    parser.add_argument("--number", required=True, type=int, help="from 1 on; each is made from the one before it")
    number = parser.parse_args(options).number
    if number < 1:
        parser.error("--number must be at least 1")
    run_generation(number, read_setting(), load(Parallel, "parallel"), ARTIFACTS)


def cycle(*options: str) -> None:
    """Make all generations in one process, with the same files as the separate stages.

    For a machine without DVC, such as one with a GPU, where starting a process for each generation costs too much. A
    generation that exists already, made from the same params, code and files, is kept; killed and run again, the
    cycle resumes where it was.

    Raises:
        ZugwerkError: bad params, or a file of a generation is damaged.
    """
    parser = argparse.ArgumentParser(description="Make all generations of Gomoku's self-play in one process.")
    parser.add_argument("--minutes", type=float, help="begin no generation after so many; run again to go on")
    minutes = parser.parse_args(options).minutes
    start = time.perf_counter()
    setting, parallel = read_setting(), load(Parallel, "parallel")
    for number in read_numbers():
        if minutes is not None and time.perf_counter() - start > 60 * minutes:
            break
        made = run_generation(number, setting, parallel, ARTIFACTS, again=False)
        files = GenerationFiles(number)
        report = read_json(files.report)
        gate, train = report["gate"], report["train"]
        print(  # noqa: T201
            f"generation {files.name}{'' if made else ' (there already)'}: gate {gate['wins']}-{gate['draws']}-"
            f"{gate['losses']}{'' if gate['accepted'] else ', kept the old best'}; policy loss "
            f"{train['policy_loss']:.3f}, value loss {train['value_loss']:.3f}; {read_json(files.timings)['seconds']}",
            flush=True,
        )


def run_generation(
    number: int,
    setting: Setting,
    parallel: Parallel,
    artifacts: Path,
    *,
    again: bool = True,
    start: Path | None = None,
    scratch: Path = WORK,
) -> bool:
    """Make generation ``number``, the first of which is 1, from the one before it.

    In each round the best player plays itself and the newest net trains on the replay window; the trained net plays
    the next round. After the last one the gate decides whether the new net is the best player.

    A killed run can be repeated at any moment: it continues from the finished phases and gives the same bytes on the
    same machine's CPU, for any number of workers.

    Args:
        number: from 1 on.
        setting: the params.
        parallel: how games are played side by side.
        artifacts: folder of all files.
        again: whether to make the generation even if it exists with the same inputs.
        start: model that the first generation begins with; None for that of `GomokuGame.start`, or fresh weights.
        scratch: folder for unfinished work.

    Returns:
        Whether anything was made.

    Raises:
        ZugwerkError: the generation before, or the model to begin with, is missing, damaged or another one.
    """
    files = GenerationFiles(number, artifacts.resolve())  # workers may have another working folder
    before = files.before
    made_from = [start] if start else []
    if before:
        made_from += [before.best, before.model, before.learner, before.window / "manifest.json"]
    key = make_key(digest(__name__), setting, number, made_from)
    if not again and files.timings.exists() and read_json(files.timings).get("made_from") == key:
        return False
    files.timings.unlink(missing_ok=True)
    folder = _work_folder(scratch.resolve(), files.name, key)
    if before:
        best = before.best
    elif start:
        best = start = start.resolve()
    else:
        best = _first_player(folder / "best_before.pt", setting)
        start = best if setting.game.start else None

    rounds = [Round(folder, files, index, setting, parallel, start) for index in range(setting.self_play.rounds)]
    seconds = {"self_play": 0.0, "train": 0.0}
    for one in rounds:
        seconds["self_play"] += _timed(one.folder, "self_play", partial(play_round, one))
        seconds["train"] += _timed(one.folder, "train", partial(learn, one))
    seconds["gate"] = _timed(folder, "gate", lambda: play_gate(folder, one.model, best, number, setting, parallel))
    _publish(rounds, best, seconds, key)
    shutil.rmtree(folder)
    return True


def _work_folder(scratch: Path, name: str, key: str) -> Path:
    """The folder of an unfinished generation; those of other inputs are removed."""
    folder = scratch / f"{name}-{key}"
    for old in scratch.glob(f"{name}-*"):
        if old != folder:
            shutil.rmtree(old)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _first_player(path: Path, setting: Setting) -> Path:
    """The model of the params that all begins with, or one that knows nothing."""
    size, given = setting.game.size_of(1), setting.game.start
    if not path.exists():
        net = (
            load_start(given, setting.net, size, setting.seed)
            if given
            else UniformNet(UniformConfig(height=size, width=size))
        )
        save_model(path, net, variant=setting.game.variant)
    return path


def make_key(code: str, setting: Setting, number: int, made_from: Iterable[Path]) -> str:
    """Hash of code, params, generation number and of the files that a generation is made from (16 hex digits).

    Raises:
        ZugwerkError: one of these files is missing; names it.
    """
    key = hashlib.sha256(json.dumps([setting.model_dump(), number], sort_keys=True).encode())
    key.update(code.encode())
    for path in made_from:
        try:
            key.update(hashlib.sha256(path.read_bytes()).digest())
        except OSError as error:
            raise ZugwerkError(
                f"{path}: {error.strerror}; generation {number} is made from it: `dvc repro` makes the one before it"
            ) from None
    return key.hexdigest()[:16]


def _timed(folder: Path, phase: str, run: Callable[[], None]) -> float:
    """Run a phase unless it is done; return its seconds, without those of killed runs."""
    done = folder / f"{phase}.json"
    if not done.exists():
        start = time.perf_counter()
        run()
        write_json(done, {"seconds": time.perf_counter() - start})
    return float(read_json(done)["seconds"])


def play_gate(folder: Path, new: Path, best: Path, number: int, setting: Setting, parallel: Parallel) -> None:
    """Play the games of generation ``number``; write ``gate.parquet`` and ``gate_result.json``.

    Args:
        folder: of the unfinished generation.
        new: the trained model.
        best: the best one before.
        number: of the generation.
        setting: its params.
        parallel: how games are played side by side.
    """
    params, rules = setting.gate, setting.game
    backend = setting.self_play.backend
    one, other = (
        f"{player.NAME}:{prepare_model(model, backend, folder / name)},simulations={params.simulations},"
        f"backend={backend},chunk={CHUNK}"
        for name, model in (("new", new), ("best", best))
    )
    seed = [setting.seed, streams.GATE, number]
    board = Board(gomoku.NAME, rules.size_of(number), rules.variant)
    with Journal(folder / "gate.journal.jsonl", {}) as journal:
        match = play_match(board, one, other, params.games // 2, params.opening_plies, seed, parallel, journal)
    named = [  # the texts name scratch files
        replace(board.record(game, i + 1), first_name=("new", "best")[i % 2], second_name=("best", "new")[i % 2])
        for i, game in enumerate(match.games)
    ]
    write_records(named, folder / "gate.parquet")
    standing = match.standing
    accepted = standing.wins > standing.losses or params.always
    write_json(
        folder / "gate_result.json",
        {**vars(standing), "score": match.score.as_metrics(), "accepted": int(accepted)},
    )


def _publish(rounds: list[Round], best: Path, seconds: dict[str, float], key: str) -> None:
    """Copy the results of the phases to their places. The file that marks completion comes last."""
    last, files = rounds[-1], rounds[-1].files
    gate = read_json(last.work / "gate_result.json")
    games = reduce(partial(extend_window, keep_positions=1 << 60), (open_window(one.new) for one in rounds))
    write_records(_records(games, files.number), last.work / "games.parquet")
    for source, target in (
        (last.work / "games.parquet", files.games),
        (last.work / "gate.parquet", files.gate_games),
        (last.window, files.window),
        (last.model, files.model),
        (last.model if gate["accepted"] else best, files.best),
        (last.learner, files.learner),
    ):
        with written_aside(target) as aside:
            if source.is_dir():
                shutil.copytree(source, aside)
            else:
                shutil.copyfile(source, aside)
    trained = [read_json(one.folder / "train_result.json") for one in rounds]
    curves, before = [], 0.0
    for one, result in zip(rounds, trained, strict=True):
        curves += [{**row, "step": str(float(row["step"]) + before)} for row in read_table(one.folder / "curves.csv")]
        before += result["steps"]
    write_table(files.curves, curves)
    train = {**trained[-1], **{name: sum(result[name] for result in trained) for name in ("steps", "new_positions")}}
    evaluations = sum(read_json(one.folder / EVALUATIONS) for one in rounds)
    write_json(files.report, {"self_play": _summary(games, evaluations), "train": train, "gate": gate})
    training = read_json(last.folder / "training.json")
    write_json(files.timings, {"made_from": key, "seconds": seconds, "training": training})


def _summary(new: SelfPlayGames, evaluations: int) -> dict[str, Any]:
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


def _records(games: SelfPlayGames, number: int) -> list[GameRecord]:
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

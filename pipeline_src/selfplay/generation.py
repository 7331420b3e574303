"""One generation: self-play, training, gate. Finished phases are kept until the end, so that a kill costs little."""

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

from pipeline_src import streams
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.runner import Board, play_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table, write_json, write_table, written_aside
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import digest
from pipeline_src.project.params import load
from pipeline_src.records.record import GameRecord, write_records
from pipeline_src.selfplay.params import ARTIFACTS, Setting
from pipeline_src.selfplay.play import EVALUATIONS, play_round
from pipeline_src.selfplay.subject import SIGN, Round, Subject
from pipeline_src.selfplay.train import learn
from pipeline_src.selfplay.window import SelfPlayGames, extend_window, open_window

WINNERS = {sign: winner for winner, sign in SIGN.items()}


def one_generation(subject: Subject, setting: Setting, options: Sequence[str]) -> None:
    """Make the generation that ``options`` name, ``--number N``, from the one before it.

    Raises:
        ZugwerkError: the generation before is missing or damaged.
    """
    parser = argparse.ArgumentParser(description=f"Make one generation of {subject.title}'s self-play.")
    parser.add_argument("--number", required=True, type=int, help="from 1 on; each is made from the one before it")
    number = parser.parse_args(options).number
    if number < 1:
        parser.error("--number must be at least 1")
    run_generation(subject, number, setting, load(Parallel, "parallel"), ARTIFACTS)


def all_generations(subject: Subject, setting: Setting, numbers: Sequence[int], options: Sequence[str]) -> None:
    """Make all generations in one process, with the same files as the separate stages.

    For a machine without DVC, such as one with a GPU, where starting a process for each generation costs too much. A
    generation that exists already, made from the same params, code and files, is kept; killed and run again, the
    cycle resumes where it was.

    Raises:
        ZugwerkError: a file of a generation is damaged.
    """
    parser = argparse.ArgumentParser(description=f"Make all generations of {subject.title}'s self-play in one process.")
    parser.add_argument("--minutes", type=float, help="begin no generation after so many; run again to go on")
    minutes = parser.parse_args(options).minutes
    start, parallel = time.perf_counter(), load(Parallel, "parallel")
    for number in numbers:
        if minutes is not None and time.perf_counter() - start > 60 * minutes:
            break
        made = run_generation(subject, number, setting, parallel, ARTIFACTS, again=False)
        files = subject.files(number)
        report = read_json(files.report)
        gate, train = report["gate"], report["train"]
        print(  # noqa: T201
            f"generation {files.name}{'' if made else ' (there already)'}: gate {gate['wins']}-{gate['draws']}-"
            f"{gate['losses']}{'' if gate['accepted'] else ', kept the old best'}; policy loss "
            f"{train['policy_loss']:.3f}, value loss {train['value_loss']:.3f}; {read_json(files.timings)['seconds']}",
            flush=True,
        )


def run_generation(
    subject: Subject,
    number: int,
    setting: Setting,
    parallel: Parallel,
    artifacts: Path,
    *,
    again: bool = True,
    start: Path | None = None,
    scratch: Path | None = None,
) -> bool:
    """Make generation ``number``, the first of which is 1, from the one before it.

    In each round the best player plays itself and the newest net trains on the replay window; the trained net plays
    the next round. After the last one the gate decides whether the new net is the best player.

    A killed run can be repeated at any moment: it continues from the finished phases and gives the same bytes on the
    same machine's CPU, for any number of workers.

    Args:
        subject: what is learnt.
        number: from 1 on.
        setting: the params.
        parallel: how games are played side by side.
        artifacts: folder of all files.
        again: whether to make the generation even if it exists with the same inputs.
        start: model that the first generation begins with; None for that of the params, or fresh weights.
        scratch: folder for unfinished work, not in git and no out of DVC; None for ``work/<game>``.

    Returns:
        Whether anything was made.

    Raises:
        ZugwerkError: the generation before, or the model to begin with, is missing, damaged or another one.
    """
    files = subject.files(number, artifacts.resolve())  # workers may have another working folder
    before = files.before
    made_from = [start] if start else []
    if before:
        made_from += [before.best, before.model, before.learner, before.window / "manifest.json"]
    key = make_key(digest(__name__, type(subject).__module__), setting, number, made_from)
    if not again and files.timings.exists() and read_json(files.timings).get("made_from") == key:
        return False
    files.timings.unlink(missing_ok=True)
    folder = work_folder((scratch or Path("work") / files.of).resolve(), files.name, key)
    if before:
        best = before.best
    elif start:
        best = start = start.resolve()
    else:
        best = folder / "best_before.pt"
        if not best.exists():
            subject.save_first(best, setting)
        start = best if subject.begun(setting) else None

    rounds = [
        Round(folder, subject, files, index, setting, parallel, start) for index in range(setting.self_play.rounds)
    ]
    seconds = {"self_play": 0.0, "train": 0.0}
    for one in rounds:
        seconds["self_play"] += _timed(one.folder, "self_play", partial(play_round, one))
        seconds["train"] += _timed(one.folder, "train", partial(learn, one))
    seconds["gate"] = _timed(folder, "gate", lambda: play_gate(rounds[-1], best))
    _publish(rounds, best, seconds, key)
    shutil.rmtree(folder)
    return True


def work_folder(scratch: Path, name: str, key: str) -> Path:
    """The folder of an unfinished generation; those of other inputs are removed."""
    folder = scratch / f"{name}-{key}"
    for old in scratch.glob(f"{name}-*"):
        if old != folder:
            shutil.rmtree(old)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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


def play_gate(last: Round, best: Path) -> None:
    """Play the games of a generation, whose last round is given; write ``gate.parquet`` and ``gate_result.json``.

    ``best`` is the best model before it.
    """
    folder, subject, setting, number = last.work, last.subject, last.setting, last.files.number
    params = setting.gate
    one, other = (
        subject.player(subject.prepare(model, setting, folder / name), setting)
        for name, model in (("new", last.model), ("best", best))
    )
    seed = [setting.seed, streams.GATE, number]
    board = Board(subject.game.NAME, last.size, setting.game.variant)
    with Journal(folder / "gate.journal.jsonl", {}) as journal:
        match = play_match(board, one, other, params.games // 2, params.opening_plies, seed, last.parallel, journal)
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
    games = reduce(
        partial(extend_window, keep_positions=1 << 60), (open_window(one.new, last.subject.game) for one in rounds)
    )
    records = _records(games, last)
    write_records(records, last.work / "games.parquet")
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
    write_json(files.report, {"self_play": _summary(games, records, evaluations), "train": train, "gate": gate})
    training = read_json(last.folder / "training.json")
    write_json(files.timings, {"made_from": key, "seconds": seconds, "training": training})


def _summary(new: SelfPlayGames, records: Sequence[GameRecord], evaluations: int) -> dict[str, Any]:
    """Counts of a generation's games, for its report."""
    return {
        "games": len(new),
        "positions": len(new.policy),
        "mean_plies": sum(len(record.actions) for record in records) / len(records),
        "first_wins": int((new.winner == 1).sum()),
        "second_wins": int((new.winner == -1).sum()),
        "draws": int((new.winner == 0).sum()),
        "different_games": len({record.actions for record in records}),
        "evaluations": evaluations,
    }


def _records(games: SelfPlayGames, last: Round) -> list[GameRecord]:
    """The games of a generation as records."""
    number = last.files.number
    return [
        GameRecord(
            game=last.subject.game.NAME,
            gid=1_000_000 * number + i,
            source="engine",
            variant=games.variant,
            height=games.size,
            width=games.size,
            actions=last.subject.actions(games.actions[games.offsets[i] : games.offsets[i + 1]].tolist(), games.size),
            winner=WINNERS[int(games.winner[i])],
            first_name=f"generation {number}",
            second_name=f"generation {number}",
        )
        for i in range(len(games))
    ]

"""One generation: self-play, training, gate. Finished phases are kept until the end, so that a kill costs little."""

import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pipeline_src.files import read_json, read_table, write_json, write_table, written_aside
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import digest
from pipeline_src.records.parquet import write_records
from pipeline_src.systems.gomoku_zero.files import WORK, GenerationFiles
from pipeline_src.systems.gomoku_zero.gate import play_gate
from pipeline_src.systems.gomoku_zero.learn import learn
from pipeline_src.systems.gomoku_zero.models import save_model
from pipeline_src.systems.gomoku_zero.rounds import EVALUATIONS, joined, play_round, records, summary
from pipeline_src.systems.gomoku_zero.setting import Setting, make_key
from pipeline_src.systems.gomoku_zero.uniform import UniformConfig, UniformNet
from pipeline_src.systems.gomoku_zero.window import open_window
from pipeline_src.systems.gomoku_zero.work import Made, Work


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

    A killed run can be repeated at any moment: it continues from the finished phases and gives the same bytes on the
    same machine's CPU, for any number of workers.

    Args:
        number: from 1 on.
        setting: the params.
        parallel: how games are played side by side.
        artifacts: folder of all files.
        again: whether to make the generation even if it exists with the same inputs.
        start: model that the first generation begins with; None for fresh weights.
        scratch: folder for unfinished work.

    Returns:
        Whether anything was made.

    Raises:
        ZugwerkError: the generation before is missing or damaged.
    """
    artifacts = artifacts.resolve()  # workers may stand in another folder
    files = GenerationFiles(number, artifacts)
    before = GenerationFiles(number - 1, artifacts) if number > 1 else None
    made_from = [start] if start else []
    if before:
        made_from += [before.best, before.model, before.learner, before.window / "manifest.json"]
    key = make_key(digest(__name__), setting, number, made_from)
    if not again and files.timings.exists() and read_json(files.timings).get("made_from") == key:
        return False
    files.timings.unlink(missing_ok=True)
    folder = scratch.resolve() / f"{files.name}-{key}"
    for old in folder.parent.glob(f"{files.name}-*"):
        if old != folder:
            shutil.rmtree(old)
    folder.mkdir(parents=True, exist_ok=True)
    blank, start = folder / "best_before.pt", start and start.resolve()
    if before is None and start is None and not blank.exists():
        size = setting.game.size_of(1)
        save_model(blank, UniformNet(UniformConfig(size, size)), variant=setting.game.variant)
    best = before.best if before else start or blank

    seconds, rounds = {"self_play": 0.0, "train": 0.0}, list[Work]()
    made: Made | None = before
    for index in range(setting.self_play.rounds):
        own = folder / f"round_{index + 1:03d}"
        rounds.append(Work(own, number, index, made, setting, parallel, start))
        seconds["self_play"] += _timed(own, "self_play", partial(play_round, rounds[-1]))
        seconds["train"] += _timed(own, "train", partial(learn, rounds[-1]))
        made = rounds[-1].round
    new = rounds[-1].round
    seconds["gate"] = _timed(folder, "gate", lambda: play_gate(folder, new.model, best, number, setting, parallel))
    _publish(rounds, files, best, seconds, key)
    shutil.rmtree(folder)
    return True


def _timed(folder: Path, phase: str, run: Callable[[], None]) -> float:
    """Run a phase unless it is done; return its seconds, without those of killed runs."""
    done = folder / f"{phase}.json"
    if not done.exists():
        start = time.perf_counter()
        run()
        write_json(done, {"seconds": time.perf_counter() - start})
    return float(read_json(done)["seconds"])


def _publish(rounds: list[Work], files: GenerationFiles, best: Path, seconds: dict[str, float], key: str) -> None:
    """Copy the results of the phases to their places. The file that marks completion comes last."""
    folder, last = rounds[-1].folder.parent, rounds[-1].round
    gate = read_json(folder / "gate_result.json")
    games = joined(open_window(work.folder / "new") for work in rounds)
    write_records(records(games, files.number), folder / "games.parquet")
    for source, target in (
        (folder / "games.parquet", files.games),
        (folder / "gate.parquet", files.gate_games),
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
    trained = [read_json(work.folder / "train_result.json") for work in rounds]
    curves, before = [], 0.0
    for work, result in zip(rounds, trained, strict=True):
        curves += [{**row, "step": str(float(row["step"]) + before)} for row in read_table(work.folder / "curves.csv")]
        before += result["steps"]
    write_table(files.curves, curves)
    train = {**trained[-1], **{name: sum(result[name] for result in trained) for name in ("steps", "new_positions")}}
    evaluations = sum(read_json(work.folder / EVALUATIONS) for work in rounds)
    write_json(files.report, {"self_play": summary(games, evaluations), "train": train, "gate": gate})
    training = [read_json(work.folder / "training.json") for work in rounds]
    write_json(files.timings, {"made_from": key, "seconds": seconds, "training": training[-1]})

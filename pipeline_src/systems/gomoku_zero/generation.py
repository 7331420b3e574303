"""One generation: self-play, training, gate. Finished phases are kept until the end, so that a kill costs little."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import digest
from pipeline_src.systems.gomoku_zero.files import WORK, GenerationFiles
from pipeline_src.systems.gomoku_zero.gate import play_gate
from pipeline_src.systems.gomoku_zero.groups import play_groups
from pipeline_src.systems.gomoku_zero.learn import learn
from pipeline_src.systems.gomoku_zero.models import save_model
from pipeline_src.systems.gomoku_zero.setting import Setting, make_key
from pipeline_src.systems.gomoku_zero.uniform import UniformConfig, UniformNet
from pipeline_src.systems.gomoku_zero.work import Work


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
    work = Work(folder, files, before, setting, parallel, start and start.resolve())
    if before is None and not work.best.exists():
        size = setting.game.size_of(1)
        save_model(work.best, UniformNet(UniformConfig(size, size)), variant=setting.game.variant)

    seconds = {"self_play": _timed(folder, "self_play", lambda: play_groups(work))}
    seconds["train"] = _timed(folder, "train", lambda: learn(work))
    seconds["gate"] = _timed(folder, "gate", lambda: play_gate(work))
    _publish(work, seconds, key)
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


def _publish(work: Work, seconds: dict[str, float], key: str) -> None:
    """Copy the results of the phases to their places. The file that marks completion comes last."""
    folder, files = work.folder, work.files
    gate = read_json(folder / "gate_result.json")
    best = folder / "model.pt" if gate["accepted"] else work.best
    for source, target in (
        (folder / "games.parquet", files.games),
        (folder / "gate.parquet", files.gate_games),
        (folder / "window", files.window),
        (folder / "model.pt", files.model),
        (best, files.best),
        (folder / "learner.pt", files.learner),
        (folder / "curves.csv", files.curves),
    ):
        with written_aside(target) as aside:
            if source.is_dir():
                shutil.copytree(source, aside)
            else:
                shutil.copyfile(source, aside)
    report: dict[str, Any] = {
        name: read_json(folder / f"{name}_result.json") for name in ("self_play", "train", "gate")
    }
    write_json(files.report, report)
    write_json(
        files.timings,
        {
            "made_from": key,
            "seconds": seconds,
            "training": read_json(folder / "training.json"),
        },
    )

"""Self-play on two workers of a Dask and of a Ray cluster, beside one process: Gomoku on 9x9 with a plain net.

The clusters are started on this machine, and are warm when the clock runs. Null where the extra ``cluster`` is not
installed (``pip install -e '.[cluster]'``).
"""

import importlib.util
import shutil
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import medians, row, seconds
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.parallel.tasks import dismiss
from pipeline_src.systems.gomoku_zero.evaluator import prepare_model
from pipeline_src.systems.gomoku_zero.groups import play_group
from pipeline_src.systems.gomoku_zero.models import make_config, make_net, save_model
from pipeline_src.systems.gomoku_zero.setting import Setting, setting_for
from pipeline_src.systems.gomoku_zero.work import Work

GROUPS, GROUP, SIMULATIONS, SIZE = 6, 20, 32, 9
NEEDED = {"dask": "distributed", "ray": "ray"}
"""Module by backend."""


class SelfPlay:
    """The groups of a generation, played anew each time."""

    def __init__(self, folder: Path) -> None:
        """Files go to ``folder``."""
        import torch

        setting = setting_for(SIZE, "freestyle")
        games = setting.self_play.model_copy(
            update={"games": GROUPS * GROUP, "group": GROUP, "simulations": SIMULATIONS}
        )
        self.setting: Setting = setting.model_copy(update={"self_play": games})
        torch.manual_seed(0)
        model = folder / "model.pt"
        save_model(model, make_net(make_config(setting.net, SIZE, SIZE)), variant="freestyle")
        self.folder, self.model = folder, prepare_model(model, games.backend, folder)

    def play(self, parallel: Parallel) -> None:
        """All groups."""
        folders = [self.folder / "groups" / f"{group:03d}" for group in range(GROUPS)]
        work = Work(self.folder, 1, 0, None, self.setting, parallel)
        tasks = [(self.model, work, group, folder) for group, folder in enumerate(folders)]
        run_tasks(play_group, tasks, parallel, "self-play")
        shutil.rmtree(self.folder / "groups")


def measure() -> list[dict[str, Any]]:
    """``selfplay_dask2_speedup`` and ``selfplay_ray2_speedup``, whose ratio is one process's time by two workers'."""
    rows = []
    with tempfile.TemporaryDirectory(dir=".") as name:
        games = SelfPlay(Path(name).resolve())
        for backend, module in NEEDED.items():
            found = f"selfplay_{backend}2_speedup"
            if importlib.util.find_spec(module) is None:
                empty = {"ours": None, "reference": None, "ratio": None}
                rows.append({"name": found, **empty, "reference_name": "one process", "unit": "s"})
                continue
            two = Parallel(backend=backend, workers=2)  # type: ignore[arg-type]
            ours, reference = medians(
                lambda two=two: seconds(lambda: games.play(two)),  # type: ignore[misc]
                lambda: seconds(lambda: games.play(Parallel(workers=1))),
                repeats=3,
            )
            rows.append(row(found, ours, reference, "one process", "s"))
            dismiss()
    return rows

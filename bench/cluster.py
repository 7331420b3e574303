"""Self-play on two workers of a Dask cluster against one process: Gomoku on 9x9 with a plain net.

The cluster runs on this machine and is warm before the measurement. Null if the extra ``cluster`` is not installed
(``pip install -e '.[cluster]'``).
"""

import importlib.util
import logging
import tempfile
from functools import partial
from pathlib import Path

from bench.measure import Row, medians, row, seconds
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.parallel.tasks import dismiss
from pipeline_src.selfplay.play import play_games
from pipeline_src.selfplay.subject import Round
from pipeline_src.systems.gomoku_zero.evaluator import prepare_model
from pipeline_src.systems.gomoku_zero.models import make_config, make_net, save_model
from pipeline_src.systems.gomoku_zero.params import GenerationFiles, GomokuSetting, setting_for
from pipeline_src.systems.gomoku_zero.self_play import Gomoku

GAMES, TOGETHER, SIMULATIONS, SIZE = 120, 20, 32, 9
NAME = "selfplay_dask2_speedup"


class SelfPlay:
    """The games of a generation, which are played again on each call."""

    def __init__(self, folder: Path) -> None:
        """``folder`` is for all files."""
        import torch

        setting = setting_for(SIZE, "freestyle")
        games = setting.self_play.model_copy(update={"games": GAMES, "simulations": SIMULATIONS})
        self.setting: GomokuSetting = setting.model_copy(update={"self_play": games})
        torch.manual_seed(0)
        model = folder / "model.pt"
        save_model(model, make_net(make_config(setting.net, SIZE, SIZE)), variant="freestyle")
        self.folder, self.model = folder, prepare_model(model, games.backend, folder)

    def play(self, parallel: Parallel) -> None:
        """Play all games."""
        one = Round(self.folder, Gomoku(), GenerationFiles(1, self.folder), 0, self.setting, parallel)
        tasks = [(game,) for game in range(GAMES)]
        run_tasks(partial(play_games, self.model, one), tasks, parallel, "self-play", together=TOGETHER)


def measure() -> list[Row]:
    """``selfplay_dask2_speedup``, seconds of two workers against one process."""
    if importlib.util.find_spec("distributed") is None:
        return [row(NAME, None, None, None, "s")]
    from distributed import LocalCluster

    with (
        tempfile.TemporaryDirectory(dir=".") as name,
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.ERROR,
        ) as cluster,
    ):
        games, two = SelfPlay(Path(name).resolve()), Parallel(address=cluster.scheduler_address)
        ours, reference = medians(
            lambda: seconds(lambda: games.play(two)),
            lambda: seconds(lambda: games.play(Parallel(workers=1))),
            repeats=3,
        )
        dismiss()
    return [row(NAME, ours, reference, "one process", "s")]

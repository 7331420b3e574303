"""Gomoku as the learner of self-play takes it; and the generations, as stages and in one process."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.mcts.puct_trees import EvaluateBatch
from pipeline_src.search.tables import LINES
from pipeline_src.selfplay.subject import LOCK_STEP, Ints, Subject
from pipeline_src.selfplay.window import SelfPlayGames
from pipeline_src.systems.gomoku_zero import player
from pipeline_src.systems.gomoku_zero.evaluator import even, open_evaluator, prepare_model
from pipeline_src.systems.gomoku_zero.params import (
    GenerationFiles,
    GomokuSelfPlay,
    GomokuSetting,
    read_numbers,
    read_setting,
)

CHUNK = 10  # Rows of a forward pass of the gate: of twenty games ten wait for each player


class Gomoku(Subject):
    """See `Subject`."""

    title = "Gomoku"
    game: ClassVar[Any] = gomoku
    files = GenerationFiles

    def opening_cells(self, start: Any, rng: np.random.Generator, params: GomokuSelfPlay) -> Sequence[int] | None:
        """The cells of a square at a random place."""
        area = params.opening_area
        if not area:
            return None
        height, width = start.board.shape
        top, left = (int(rng.integers(0, max(1, side - area + 1))) for side in (height, width))
        cells = np.arange(height * width).reshape(height, width)[top : top + area, left : left + area]
        return list(cells.ravel())

    def places(self, steps: Ints) -> Ints:
        """A policy is over the cells."""
        return steps

    def prepare(self, model: Path, setting: GomokuSetting, folder: Path) -> Path:
        """See `Subject`."""
        return prepare_model(model, setting.self_play.backend, folder)

    def open(self, model: Path | None, setting: GomokuSetting) -> tuple[Any, EvaluateBatch]:
        """See `Subject`."""
        params = setting.self_play
        if model is None:
            return None, even
        net = open_evaluator(model, params.backend, params.chunk)
        return net, with_fours(net, params)

    def together(self, model: Path | None, setting: GomokuSetting) -> tuple[int, int, int]:
        """A net that answers in batches has two of them in a task, since one is prepared while it computes the other.

        An export runs on the CPU, and a GPU is kept busy by two parts.
        """
        params = setting.self_play
        width = max(LOCK_STEP, 2 * -(-params.chunk // params.leaves))
        searched = model is not None and not model.name.endswith(LINES)
        return width if searched else 1, width, 2 if model and model.suffix == ".pt" else 1

    def player(self, model: Path, setting: GomokuSetting) -> str:
        """See `Subject`."""
        limits = f"simulations={setting.gate.simulations},backend={setting.self_play.backend},chunk={CHUNK}"
        return f"{player.NAME}:{model},{limits}"

    def save_first(self, path: Path, setting: GomokuSetting) -> None:
        """See `Subject`."""
        from pipeline_src.systems.gomoku_zero.models import load_start, save_model
        from pipeline_src.systems.gomoku_zero.nets import UniformConfig, UniformNet

        size, given = setting.game.size_of(1), setting.game.start
        net = (
            load_start(given, setting.net, size, setting.seed)
            if given
            else UniformNet(UniformConfig(height=size, width=size))
        )
        save_model(path, net, variant=setting.game.variant)

    def begun(self, setting: GomokuSetting) -> bool:
        """See `Subject`."""
        return setting.game.start is not None

    def net(self, model: Path | None, setting: GomokuSetting, number: int) -> Any:
        """See `Subject`."""
        from pipeline_src.systems.gomoku_zero.models import load_model, make_config, make_net

        size = setting.game.size_of(number)
        config = make_config(setting.net, size, size)
        if model is None:
            return make_net(config)
        net: Any = load_model(model).net
        if setting.net.kind == "lines":
            net.config = config
        return net

    def save(self, path: Path, net: Any, setting: GomokuSetting) -> None:
        """See `Subject`."""
        from pipeline_src.systems.gomoku_zero.models import save_model

        save_model(path, net, variant=setting.game.variant)

    def batches(self, games: SelfPlayGames, setting: GomokuSetting, count: int) -> Any:
        """See `Subject`."""
        from pipeline_src.systems.gomoku_zero.train import Batches, positions

        return Batches(positions(games, setting.net.positions), setting.train, seed=setting.seed, count=count)


def with_fours(net: EvaluateBatch, params: GomokuSelfPlay) -> EvaluateBatch:
    """The net, or together with a search by fours whose answers do not depend on the positions before."""
    return ProvingEvaluator(net, params.fours, alone=True) if params.fours else net


def main(*options: str) -> None:
    """Stage gomoku_generation: make one generation of Gomoku's self-play from the one before it.

    Reads ``artifacts/models/gomoku/<before>/`` and ``artifacts/samples/gomoku/<before>/``; the first generation has
    none before it. Writes the files of `GenerationFiles`. Killed and run again, it resumes from ``work/gomoku/``.

    Raises:
        ZugwerkError: bad params, or the generation before is missing or damaged.
    """
    from pipeline_src.selfplay.generation import one_generation  # workers, which import this module, need no torch

    one_generation(Gomoku(), read_setting(), options)


def cycle(*options: str) -> None:
    """Make all generations in one process; see `selfplay.generation.all_generations`.

    Raises:
        ZugwerkError: bad params, or a file of a generation is damaged.
    """
    from pipeline_src.selfplay.generation import all_generations

    all_generations(Gomoku(), read_setting(), read_numbers(), options)

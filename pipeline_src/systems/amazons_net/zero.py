"""The Amazons as the learner of self-play takes them, with the net of rays; and the generations, as stages.

A step of a game is a move or an arrow. A game ends where counting decides it.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import stamp
from pipeline_src.games import amazons
from pipeline_src.games.rules import to_play
from pipeline_src.search.amazons.endgame import EndgameScratch, endgame_scratch, settle_amazons
from pipeline_src.search.amazons.ray_keys import ROWS
from pipeline_src.search.amazons.rays import CHANNELS, WEIGHTS, RayEvaluator, RayTable, read_table
from pipeline_src.search.mcts.puct_trees import EvaluateBatch
from pipeline_src.search.tables import RAYS
from pipeline_src.selfplay.subject import Subject
from pipeline_src.selfplay.window import SelfPlayGames
from pipeline_src.systems.amazons_net import players  # noqa: F401 - the text of the gate's players names them
from pipeline_src.systems.amazons_net.params import (
    ZeroFiles,
    ZeroSetting,
    read_zero_numbers,
    read_zero_setting,
)


class Amazons(Subject):
    """See `Subject`."""

    title = "the Amazons"
    game: ClassVar[Any] = amazons
    files = ZeroFiles

    def result(self, state: Any) -> int | None:
        """Who has won, which counting may say before the end."""
        won = super().result(state)
        if won is None:
            decided, margin = settle_amazons(state, _scratch())
            if decided:
                won = 1 if (margin > 0) == (to_play(state) == 0) else -1
        return won

    def actions(self, steps: Sequence[int], size: int) -> tuple[int, ...]:
        """Turns ``(from * N + to) * N + arrow``; an amazon that has moved has shot too."""
        squares = size * size
        return tuple(move * squares + arrow for move, arrow in zip(steps[::2], steps[1::2], strict=True))

    def prepare(self, model: Path, setting: ZeroSetting, folder: Path) -> Path:  # noqa: ARG002
        """See `Subject`."""
        from pipeline_src.systems.amazons_net.nets import export_rays

        path = folder / f"{model.stem}{RAYS}"
        export_rays(model, path)
        return path

    def open(self, model: Path | None, setting: ZeroSetting) -> tuple[Any, EvaluateBatch]:  # noqa: ARG002
        """See `Subject`. Without a net all steps are as likely, but endings have their result."""
        if model is None:
            heads = {name: np.zeros(count, np.float32) for name, count in WEIGHTS.items()}
            return None, RayEvaluator(RayTable(np.zeros((ROWS, CHANNELS), np.int16), heads), settles=True)
        net = _opened(model, stamp(model))
        return net, net

    def player(self, model: Path, setting: ZeroSetting) -> str:
        """See `Subject`."""
        return f"puct:{model},simulations={setting.gate.simulations}"

    def save_first(self, path: Path, setting: ZeroSetting) -> None:
        """See `Subject`: a net whose weights are all 0."""
        import torch

        net = self.net(None, setting, 1)
        with torch.no_grad():
            for weights in net.parameters():
                weights.zero_()
        self.save(path, net, setting)

    def net(self, model: Path | None, setting: ZeroSetting, number: int) -> Any:
        """See `Subject`."""
        from pipeline_src.systems.amazons_net.nets import load_nets
        from pipeline_src.systems.amazons_net.rays import RaysConfig, RaysNet

        size, owners = setting.game.size_of(number), setting.train.owners > 0
        if model is None:
            return RaysNet(RaysConfig(size, setting.net.units, owners))
        net: Any = load_nets(model)
        if net.config.owners != owners:
            raise ZugwerkError(
                f"{model}: trained {'without' if owners else 'with'} amazons_zero_train.owners; the generations before "
                "are to be run again"
            )
        net.config = replace(net.config, size=size)  # all boards are alike for the weights
        return net

    def save(self, path: Path, net: Any, setting: ZeroSetting) -> None:  # noqa: ARG002
        """See `Subject`."""
        from pipeline_src.systems.amazons_net.nets import save_nets

        save_nets(path, net)

    def batches(self, games: SelfPlayGames, setting: ZeroSetting, count: int) -> Any:
        """See `Subject`."""
        from pipeline_src.systems.amazons_net.zero_train import Batches

        return Batches(games, setting.train, seed=setting.seed, count=count)


@cache
def _scratch() -> EndgameScratch:
    return endgame_scratch(amazons.MOST_AMAZONS)


@lru_cache(maxsize=2)
def _opened(model: Path, state: tuple[int, int]) -> RayEvaluator:  # noqa: ARG001
    return RayEvaluator(*read_table(model), settles=True)


def main(*options: str) -> None:
    """Stage amazons_generation: make one generation of the Amazons' self-play from the one before it.

    Reads ``artifacts/models/amazons_zero/<before>/`` and ``artifacts/samples/amazons_zero/<before>/``; the first
    generation has none before it. Writes the files of `GenerationFiles`. Killed and run again, it resumes from
    ``work/amazons_zero/``.

    Raises:
        ZugwerkError: bad params, or the generation before is missing or damaged.
    """
    from pipeline_src.selfplay.generation import one_generation  # workers, which import this module, need no torch

    one_generation(Amazons(), read_zero_setting(), options)


def cycle(*options: str) -> None:
    """Make all generations in one process; see `selfplay.generation.all_generations`.

    Raises:
        ZugwerkError: bad params, or a file of a generation is damaged.
    """
    from pipeline_src.selfplay.generation import all_generations

    all_generations(Amazons(), read_zero_setting(), read_zero_numbers(), options)

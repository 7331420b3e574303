"""Paths of the files of a generation, and of an unfinished round."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pipeline_src.parallel import Parallel
from pipeline_src.systems.gomoku_zero.params import Setting

ARTIFACTS = Path("artifacts")
WORK = Path("work/gomoku")
"""Folder of unfinished generations: not in git, no outs of DVC, removed when a generation is complete."""


class Made(NamedTuple):
    """The files that a round makes and the next one begins with."""

    model: Path  # The trained net
    best: Path  # The net that plays
    learner: Path  # State of the optimizer
    window: Path  # Folder of the replay window


class GenerationFiles:
    """The files of one generation; the first is number 1."""

    def __init__(self, number: int, artifacts: Path = ARTIFACTS) -> None:
        self.number, self.name = number, f"{number:02d}"
        self.games = artifacts / "records/gomoku/self_play" / f"{self.name}.parquet"  # Records of the self-play games
        self.gate_games = artifacts / "records/gomoku/gate" / f"{self.name}.parquet"
        """Records of the games against the best player."""
        self.window = artifacts / "samples/gomoku" / self.name
        """Folder of the replay window: the games that this generation trained on."""
        self.models = artifacts / "models/gomoku" / self.name  # Folder of the models
        self.model = self.models / "model.pt"  # The net that this generation trained, whether or not it became the best
        self.best = self.models / "best.pt"  # The best player after this generation's gate
        self.learner = self.models / "learner.pt"  # State of the optimizer
        self.made = Made(self.model, self.best, self.learner, self.window)
        """The files that the next generation begins with."""
        self.report = artifacts / "reports/gomoku/generations" / f"{self.name}.json"  # Metrics
        self.curves = self.report.with_suffix(".csv")  # Losses by step
        self.timings = self.report.with_suffix(".timings.json")
        """Seconds, hardware and the key of the generation's inputs. Written last, and not an output of the graph."""


@dataclass(frozen=True)
class Work:
    """Folders and settings of an unfinished round."""

    folder: Path  # Folder of the round
    number: int  # Number of the generation, from 1
    index: int  # Number of the round in its generation, from 0
    before: Made | None  # The round before; None for the first one of all
    setting: Setting
    parallel: Parallel
    start: Path | None = None
    """Model that the first generation begins with; None: fresh weights, and a player that knows nothing."""

    @property
    def count(self) -> int:
        """Number of the round among those of all generations, from 1. It marks the games and seeds the training."""
        return (self.number - 1) * self.setting.self_play.rounds + self.index + 1

    @property
    def player(self) -> Path | None:
        """Model that plays itself; None where there is none yet."""
        return self.before.best if self.before else self.start

    @property
    def made(self) -> Made:
        """The files that this round makes; its trained net plays the next one."""
        model = self.folder / "model.pt"
        return Made(model, model, self.folder / "learner.pt", self.folder / "window")

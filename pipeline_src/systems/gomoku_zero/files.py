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

    model: Path
    """The trained net."""
    best: Path
    """The net that plays."""
    learner: Path
    """State of the optimizer."""
    window: Path
    """Folder of the replay window."""


@dataclass(frozen=True)
class GenerationFiles:
    """The files of one generation; the first is number 1."""

    number: int
    artifacts: Path = ARTIFACTS

    @property
    def name(self) -> str:
        """Two digits."""
        return f"{self.number:02d}"

    @property
    def games(self) -> Path:
        """Records of the self-play games."""
        return self.artifacts / "records/gomoku/self_play" / f"{self.name}.parquet"

    @property
    def gate_games(self) -> Path:
        """Records of the games against the best player."""
        return self.artifacts / "records/gomoku/gate" / f"{self.name}.parquet"

    @property
    def window(self) -> Path:
        """Folder of the replay window: the games that this generation trained on."""
        return self.artifacts / "samples/gomoku" / self.name

    @property
    def models(self) -> Path:
        """Folder of the models."""
        return self.artifacts / "models/gomoku" / self.name

    @property
    def model(self) -> Path:
        """The net that this generation trained, whether or not it became the best."""
        return self.models / "model.pt"

    @property
    def best(self) -> Path:
        """The best player after this generation's gate."""
        return self.models / "best.pt"

    @property
    def learner(self) -> Path:
        """State of the optimiser, with which the next generation goes on."""
        return self.models / "learner.pt"

    @property
    def made(self) -> Made:
        """The files that the next generation begins with."""
        return Made(self.model, self.best, self.learner, self.window)

    @property
    def report(self) -> Path:
        """Metrics."""
        return self.artifacts / "reports/gomoku/generations" / f"{self.name}.json"

    @property
    def curves(self) -> Path:
        """Losses by step."""
        return self.report.with_suffix(".csv")

    @property
    def timings(self) -> Path:
        """Seconds, hardware and the key of the generation's inputs. Written last, and not an output of the graph."""
        return self.report.with_suffix(".timings.json")


@dataclass(frozen=True)
class Work:
    """Folders and settings of an unfinished round."""

    folder: Path
    """Folder of the round."""
    number: int
    """Number of the generation, from 1."""
    index: int
    """Number of the round in its generation, from 0."""
    before: Made | None
    """The round before; None for the first one of all."""
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

"""`Work`: an unfinished round of a generation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pipeline_src.parallel import Parallel
from pipeline_src.systems.gomoku_zero.setting import Setting


class Made(Protocol):
    """The files that a round begins with: those of the generation or of the round before it."""

    @property
    def model(self) -> Path:
        """The trained net."""

    @property
    def best(self) -> Path:
        """The net that plays."""

    @property
    def learner(self) -> Path:
        """State of the optimizer."""

    @property
    def window(self) -> Path:
        """Folder of the replay window."""


@dataclass(frozen=True)
class Round:
    """The files of a round, in a folder of its own; its trained net plays the next round."""

    folder: Path

    @property
    def model(self) -> Path:
        """See `Made`."""
        return self.folder / "model.pt"

    @property
    def best(self) -> Path:
        """See `Made`."""
        return self.model

    @property
    def learner(self) -> Path:
        """See `Made`."""
        return self.folder / "learner.pt"

    @property
    def window(self) -> Path:
        """See `Made`."""
        return self.folder / "window"


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
    def round(self) -> Round:
        """The files that this round makes."""
        return Round(self.folder)

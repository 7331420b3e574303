"""`Work`: an unfinished generation."""

from pathlib import Path
from typing import NamedTuple

from pipeline_src.parallel import Parallel
from pipeline_src.systems.gomoku_zero.files import GenerationFiles
from pipeline_src.systems.gomoku_zero.setting import Setting


class Work(NamedTuple):
    """Folders and settings of an unfinished generation."""

    folder: Path
    files: GenerationFiles
    before: GenerationFiles | None
    """Files of the generation before; None for the first."""
    setting: Setting
    parallel: Parallel
    start: Path | None = None
    """Model that the first generation begins with; None: fresh weights, and a player that knows nothing."""

    @property
    def best(self) -> Path:
        """The best player so far; before the first generation without a model, one that knows nothing."""
        return self.before.best if self.before else self.start or self.folder / "best_before.pt"

    @property
    def player(self) -> Path | None:
        """Model that plays itself; None where there is none yet."""
        return self.best if self.before or self.start else None

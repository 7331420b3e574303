"""Lightning, imported without scipy's signals, which saves a second at the start of each training."""

import contextlib
import sys
from types import ModuleType

_SIGNAL = "scipy.signal"
_stand_in = ModuleType(_SIGNAL)
_stand_in.hamming = None  # type: ignore[attr-defined] # all that torchmetrics, which Lightning imports, looks for
if sys.modules.setdefault(_SIGNAL, _stand_in) is _stand_in:
    with contextlib.suppress(ImportError, AttributeError):  # another version may look for more: it gets it below
        import lightning.pytorch  # noqa: F401
    del sys.modules[_SIGNAL]

from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer  # noqa: E402
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint, TQDMProgressBar  # noqa: E402
from lightning.pytorch.loggers import CSVLogger, Logger  # noqa: E402
from lightning.pytorch.utilities import rank_zero_only  # noqa: E402
from lightning.pytorch.utilities.types import OptimizerLRScheduler  # noqa: E402

__all__ = [
    "CSVLogger",
    "Callback",
    "EarlyStopping",
    "LightningDataModule",
    "LightningModule",
    "Logger",
    "ModelCheckpoint",
    "OptimizerLRScheduler",
    "TQDMProgressBar",
    "Trainer",
    "rank_zero_only",
]

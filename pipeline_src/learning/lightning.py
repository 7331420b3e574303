"""Lightning, imported without scipy's signals, which saves a second at the start of each training."""

import sys
from types import ModuleType

_SIGNAL = "scipy.signal"
_stand_in = ModuleType(_SIGNAL)
_stand_in.hamming = None  # type: ignore[attr-defined] # all that torchmetrics, which Lightning imports, looks for
_is_first = sys.modules.setdefault(_SIGNAL, _stand_in) is _stand_in
try:
    from lightning.pytorch import Callback, LightningDataModule, LightningModule, Trainer
    from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint, TQDMProgressBar
    from lightning.pytorch.loggers import CSVLogger, Logger
    from lightning.pytorch.utilities import rank_zero_only
    from lightning.pytorch.utilities.types import OptimizerLRScheduler
finally:
    if _is_first:
        del sys.modules[_SIGNAL]

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

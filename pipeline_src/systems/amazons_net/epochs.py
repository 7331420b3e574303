"""The record of a training, epoch by epoch: curves, the best nets so far, and when to stop."""

from pathlib import Path
from typing import Any

from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback

from pipeline_src.systems.amazons_net.models import save_nets
from pipeline_src.systems.amazons_net.module import AmazonsModule

MONITORED = "validation_loss"


class EpochRecord(Callback):
    """Writes down each epoch's measures, keeps the nets of the lowest validation loss, ends a training that stalls.

    All it decides follows from ``rows``, which checkpoints carry; so a training that was killed decides alike. The best
    nets are a file of their own, written before the checkpoint that says so: from an older checkpoint the epoch is
    trained again and writes the same bytes again.
    """

    def __init__(self, best_nets: Path, patience: int) -> None:
        """Nets go to ``best_nets``; ``patience`` counts epochs without a lower validation loss."""
        self.best_nets, self.patience = best_nets, patience
        self.rows: list[dict[str, float]] = []
        """One an epoch: ``epoch`` from 1, ``learning_rate``, and `AmazonsModule.take_measures`."""

    @property
    def best(self) -> dict[str, float]:
        """The row with the lowest validation loss, the first of equals."""
        return min(self.rows, key=lambda row: row[MONITORED])

    @property
    def stalled(self) -> bool:
        """Whether patience has run out."""
        return bool(self.rows) and self.rows[-1]["epoch"] - self.best["epoch"] >= self.patience

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:  # noqa: ARG002
        """Tell the loggers, which begin anew, of the epochs before a resume; do not resume what had ended."""
        for row in self.rows:
            _log(trainer, row)
        if self.stalled:
            trainer.should_stop = True

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Record the epoch that this validation closes."""
        assert isinstance(pl_module, AmazonsModule)
        row = {"epoch": len(self.rows) + 1.0, "learning_rate": float(trainer.optimizers[0].param_groups[0]["lr"])}
        self.rows.append(row | pl_module.take_measures())
        _log(trainer, self.rows[-1])
        if self.best is self.rows[-1] and trainer.is_global_zero:
            save_nets(self.best_nets, pl_module.nets)
        if self.stalled:
            trainer.should_stop = True

    def state_dict(self) -> dict[str, Any]:
        """Return the data for a checkpoint."""
        return {"rows": self.rows}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the data of a checkpoint."""
        self.rows = state_dict["rows"]


def _log(trainer: Trainer, row: dict[str, float]) -> None:
    for logger in trainer.loggers:
        logger.log_metrics(row, step=int(row["epoch"]))
        logger.save()

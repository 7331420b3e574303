"""Params section ``amazons_train``: how the nets for the Amazons are trained."""

from dataclasses import dataclass
from typing import Literal

from pipeline_src.params.devices import Devices


@dataclass(frozen=True, kw_only=True)
class TrainingParams(Devices):
    """Of any training, whatever the net."""

    augment: bool
    """Each sample under a symmetry of the board drawn anew each epoch."""
    batch: int
    """Samples of each type, before the move and before the arrow, in a step."""
    epochs: int
    """Passes over the training split, unless patience ends first."""
    patience: int
    """Epochs without a lower validation loss after which training ends."""
    optimizer: Literal["rmsprop", "sgd", "adadelta", "adagrad", "adamw"]
    """rmsprop and sgd are with Nesterov momentum."""
    learning_rate: float
    """Highest of the schedule."""
    schedule: Literal["constant", "linear", "cosine"]
    """How the rate falls to 0 over all epochs once warm."""
    warmup: float
    """Fraction of all steps over which the rate rises from 0."""
    rho: float
    """Decay of the running mean square, of rmsprop, adadelta and adamw."""
    momentum: float
    """Of rmsprop and sgd; of adamw the decay of the running mean."""
    epsilon: float
    """Added to the root of the mean square; large values leave small gradients small."""
    weight_decay: float = 0.0
    """Share of a weight taken off it in a step, times the learning rate; of adamw alone."""
    value_weight: float
    """Factor on the value's part of the loss, beside the policy's."""
    precision: Literal["auto", "32-true", "bf16-mixed"]
    """auto is bf16-mixed on a GPU and 32-true elsewhere."""
    checkpoint_steps: int
    """At most this many steps are lost by a kill."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least_one("batch", "epochs", "patience", "checkpoint_steps")
        self._above_zero("learning_rate", "epsilon")
        self._fractions("warmup", "rho", "momentum")
        for name in ("value_weight", "weight_decay"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be at least 0, not {getattr(self, name)}")

    def _at_least_one(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")

    def _above_zero(self, *names: str) -> None:
        for name in names:
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")

    def _fractions(self, *names: str) -> None:
        for name in names:
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, not {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class ResidualParams(TrainingParams):
    """Of the residual net."""

    channels: int
    """Filters of each convolution of the trunk."""
    blocks: int
    """Residual blocks, of two convolutions each."""
    embedding: int
    """Numbers by which the policy of moves knows a square to start from, and one to go to."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least_one("channels", "blocks", "embedding")


@dataclass(frozen=True, kw_only=True)
class AmazonsTrainParams(TrainingParams):
    """Of Move-Net and Arrow-Net, trained together, the same for each reading of the loss; and of the residual net."""

    width: float
    """Factor on the published filter counts; 1 is the published net."""
    fewest_filters: int
    """No layer has fewer, whatever the width; at width 1 the narrowest has 16."""
    dropout: float
    """Share of activations dropped after layers 4, 8 and 12; published: 0.3."""
    mover_relative: bool
    """Features show the mover's amazons as White's; published: false."""
    moved_first: bool
    """Arrow-Net's first plane is the amazon that just moved; published: not said."""
    residual: ResidualParams
    """Of the residual net: a training of its own on the same samples."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least_one("fewest_filters")
        self._above_zero("width")
        self._fractions("dropout")

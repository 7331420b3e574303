"""Params section ``amazons_train``: how Move-Net and Arrow-Net are trained."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class AmazonsTrainParams:
    """Of the stage that trains both nets together; the same for each reading of the loss."""

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
    augment: bool
    """Each sample under a symmetry of the board drawn anew each epoch."""
    batch: int
    """Samples for each net in a step."""
    epochs: int
    """Passes over the training split, unless patience ends first."""
    patience: int
    """Epochs without a lower validation loss after which training ends."""
    optimizer: Literal["rmsprop", "sgd", "adadelta", "adagrad"]
    """rmsprop and sgd are with Nesterov momentum."""
    learning_rate: float
    """Highest of the schedule."""
    schedule: Literal["constant", "linear", "cosine"]
    """How the rate falls to 0 over all epochs once warm."""
    warmup: float
    """Fraction of all steps over which the rate rises from 0."""
    rho: float
    """Decay of the running mean square, of rmsprop and adadelta."""
    momentum: float
    """Of rmsprop and sgd."""
    epsilon: float
    """Added to the root of the mean square; large values leave small gradients small."""
    value_weight: float
    """Factor on L1^2 in the loss; published: 1."""
    precision: Literal["auto", "32-true", "bf16-mixed"]
    """auto is bf16-mixed on a GPU and 32-true elsewhere."""
    checkpoint_steps: int
    """At most this many steps are lost by a kill."""

    def __post_init__(self) -> None:
        for name in ("fewest_filters", "batch", "epochs", "patience", "checkpoint_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("width", "learning_rate", "epsilon"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("dropout", "warmup", "rho", "momentum"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, not {getattr(self, name)}")
        if not 0 <= self.value_weight < float("inf"):
            raise ValueError(f"value_weight must be at least 0, not {self.value_weight}")

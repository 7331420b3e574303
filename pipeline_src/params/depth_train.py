"""Params section ``depth_train``: how the nets that choose the search depth are trained."""

from dataclasses import dataclass
from typing import Literal

from pipeline_src.params.devices import Devices

Balance = Literal["smote", "oversample", "augment", "class_weights", "none"]


@dataclass(frozen=True, kw_only=True)
class DepthBalancing:
    """Of the methods that change how often each class is seen; the defaults are the paper's."""

    keep_most: float = 0.5
    """Share of the most frequent class that stays; of smote, oversample and augment."""
    ratio: float = 10.0
    """Rarer classes are filled up until the most frequent is no more than this many times as frequent."""
    k_neighbors: int = 5
    """Of SMOTE: a made row lies between a row and one of so many neighbours of its class."""
    block: int = 20_000
    """Most rows of a class that SMOTE looks for neighbours among at once: its time goes with their square."""
    few: Literal["error", "leave"] = "error"
    """What to do with a class that has too few rows for ``k_neighbors``: stop, or leave it as it is."""

    def __post_init__(self) -> None:
        if not 0 < self.keep_most <= 1:
            raise ValueError(f"keep_most must be above 0 and at most 1, not {self.keep_most}")
        if not 1 <= self.ratio < float("inf"):
            raise ValueError(f"ratio must be at least 1, not {self.ratio}")
        if self.k_neighbors < 1 or self.block <= self.k_neighbors:
            raise ValueError(f"k_neighbors must be at least 1 and below block, not {self.k_neighbors}, {self.block}")


@dataclass(frozen=True, kw_only=True)
class DepthTraining(Devices):
    """The same for all models."""

    steps: int
    """The same number whatever the balance, so that methods differ in what they show and not in how much."""
    batch: int
    """Positions in a step."""
    learning_rate: float
    """Highest; it rises over ``warmup`` and falls to 0 along half a cosine."""
    warmup: float = 0.05
    """Fraction of the steps."""
    weight_decay: float = 0.0
    """Of AdamW."""
    log_steps: int = 100
    """Steps between two rows of the learning curves."""
    checkpoint_steps: int = 1000
    """At most this many steps are lost by a kill."""
    threads: int = 1
    """Of torch on the CPU; nets so small gain nothing by a second one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("steps", "batch", "log_steps", "checkpoint_steps", "threads"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 < self.learning_rate < float("inf") or not 0 <= self.weight_decay < float("inf"):
            raise ValueError(f"learning_rate must be above 0 and weight_decay at least 0, not {self}")
        if not 0 <= self.warmup < 1:
            raise ValueError(f"warmup must be at least 0 and below 1, not {self.warmup}")


@dataclass(frozen=True, kw_only=True)
class DepthModelParams:
    """One model."""

    label: Literal["reached", "needed"]
    """What it learns to say."""
    balance: Balance
    """How the training split is balanced; `pipeline_src.training.depth_balance`."""
    inputs: Literal["published", "full"] = "published"
    """What it sees; `pipeline_src.samples.depth_planes`."""
    net: Literal["published", "residual"] = "published"
    """`pipeline_src.nets.depth_net`."""
    head: Literal["linear", "sigmoid", "classes", "costs"] = "linear"
    """What its outputs mean; `pipeline_src.nets.depth_head`."""
    filters: int = 16
    """Of each convolution; the paper's 'three kernels', read literally, are 1."""
    shrink: Literal["stride", "pooling", "dense"] = "stride"
    """Of the published net."""
    blocks: int = 1
    """Of the residual net."""
    symmetries: bool = False
    """Each position under a symmetry of the board drawn anew each time, whatever the balance."""

    def __post_init__(self) -> None:
        if self.filters < 1 or self.blocks < 0:
            raise ValueError(f"filters must be at least 1 and blocks at least 0, not {self.filters}, {self.blocks}")
        if self.head == "costs" and (self.balance != "none" or self.label != "reached"):
            raise ValueError("head: costs learns nodes, not classes; use balance: none and label: reached")
        if self.balance == "smote" and self.inputs != "published":
            raise ValueError("balance: smote makes squares between squares, which no board has; use inputs: published")


@dataclass(frozen=True, kw_only=True)
class DepthTrainParams:
    """Of the stage that trains one model after another."""

    balancing: DepthBalancing
    training: DepthTraining
    models: dict[str, DepthModelParams]
    """By the name of each one's folder."""

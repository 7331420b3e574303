"""Params section ``gomoku_train``: how a generation's net is trained on the replay window."""

from dataclasses import dataclass
from typing import Literal

from pipeline_src.params.devices import Devices


@dataclass(frozen=True, kw_only=True)
class GomokuTrainParams(Devices):
    """Of the training that follows each generation's self-play. The paper prints none of these."""

    window: int
    """Positions of the newest games that are kept to train on."""
    passes: float
    """Times that a position is seen on average while it is in the window."""
    batch: int
    """Positions in a step, drawn from the whole window."""
    augment: bool
    """Each drawn position under a random one of the board's eight symmetries."""
    optimizer: Literal["adamw", "sgd"]
    """sgd is with Nesterov momentum. Its state goes on from generation to generation."""
    learning_rate: float
    """Of the first generation."""
    schedule: dict[str, float] | None = None
    """From a generation on, the factor on ``learning_rate``, e.g. {12: 0.3, 20: 0.1}; null is constant."""
    momentum: float = 0.9
    """Of sgd; of adamw the decay of the running mean."""
    rho: float = 0.999
    """Of adamw, the decay of the running mean square."""
    weight_decay: float = 0.0
    """Share of a weight taken off it in a step, times the learning rate; of adamw alone."""
    l2: float = 0.0
    """c of the published loss, whose last term is c ||theta||^2."""
    value_weight: float = 1.0
    """Factor on the value's part of the loss; published: 1."""
    gradient_clip: float | None = None
    """Longest gradient, its norm over all weights; null is any."""
    threads: int = 1
    """Of torch on the CPU; on a small net a second one gains little, and on a busy machine it costs a lot."""
    precision: Literal["auto", "32-true", "bf16-mixed"] = "auto"
    """auto is bf16-mixed on a GPU and 32-true elsewhere."""
    log_steps: int = 20
    """Steps that a row of the learning curves is the mean of."""
    checkpoint_steps: int = 1000
    """At most this many steps are lost by a kill."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_nodes != 1:
            raise ValueError(
                "num_nodes must be 1: games go to other machines by the section parallel, training does not"
            )
        bounds = {
            "batch": 1,
            "window": 1,
            "log_steps": 1,
            "checkpoint_steps": 1,
            "threads": 1,
            "weight_decay": 0,
            "l2": 0,
        }
        for name, least in {**bounds, "value_weight": 0}.items():
            if not least <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}")
        for name in ("passes", "learning_rate", "gradient_clip"):
            number = getattr(self, name)
            if number is not None and not 0 < number < float("inf"):
                raise ValueError(f"{name} must be above 0, not {number}")
        for name in ("momentum", "rho"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, not {getattr(self, name)}")
        if self.window < self.batch:
            raise ValueError(f"window {self.window} is smaller than batch {self.batch}")
        if self.optimizer == "sgd" and self.weight_decay:
            raise ValueError("weight_decay is of adamw alone; with sgd use l2")
        for start, factor in (self.schedule or {}).items():
            if not (start.isdecimal() and int(start) > 0 and 0 < factor < float("inf")):
                raise ValueError(f"schedule: {start}: {factor} is not a generation and a factor above 0")

    def rate(self, generation: int) -> float:
        """Learning rate in a generation, counted from 1."""
        begun = {int(start): factor for start, factor in (self.schedule or {}).items() if int(start) <= generation}
        return self.learning_rate * (begun[max(begun)] if begun else 1.0)

    def steps(self, new_positions: int) -> int:
        """Steps of a generation that brought so many positions; at least one."""
        return max(1, round(self.passes * new_positions / self.batch))

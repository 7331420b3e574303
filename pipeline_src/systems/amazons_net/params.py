"""Params of the stage that plays the games of the offline archive.

Params of the stage that asks systems without training about the test split.

Params section ``amazons_crawl``: which Amazons games to crawl, from where, by which ways.

Params of the stage that asks trained nets about the test split.

Params section ``amazons_match``: who plays whom, and how much.

Params section ``amazons_parse``: which crawled games are usable.

Params section ``amazons_samples``: which games become samples, and how they are split.

Params section ``amazons_train``: how the nets for the Amazons are trained.
"""

from dataclasses import dataclass
from typing import Literal

from pipeline_src.learning.devices import Devices
from pipeline_src.records.crawl_params import GamesParams


@dataclass(frozen=True)
class AmazonsArchive:
    """The archive that the site replica serves: games of our own players."""

    games: int
    """How many."""
    players: tuple[str, ...]
    """Texts of the players (`pipeline_src.players`); every game pairs two of them."""
    opening_plies: int
    """Random plies before the players take over, so that games differ."""
    cross_share: float
    """Fraction of games from the 'Cross' start; the datasets leave them out by default, as they do on the real site."""

    def __post_init__(self) -> None:
        if self.games < 1:
            raise ValueError(f"games must be at least 1, not {self.games}")
        if len(self.players) < 2:
            raise ValueError("players must name at least two players")
        if not 0 <= self.opening_plies <= 20:
            raise ValueError(f"opening_plies must be 0 to 20, not {self.opening_plies}")
        if not 0 <= self.cross_share < 1:
            raise ValueError(f"cross_share must be at least 0 and below 1, not {self.cross_share}")


@dataclass(frozen=True)
class AmazonsBaselinesParams:
    """The one-ply evaluation's win rate has one number to fit."""

    fit_turns: int
    """Turns of the validation split, spread evenly over it, that the scale of the win rate is fitted on."""

    def __post_init__(self) -> None:
        if self.fit_turns < 1:
            raise ValueError(f"fit_turns must be at least 1, not {self.fit_turns}")


@dataclass(frozen=True)
class AmazonsCrawlParams(GamesParams):
    """What the stage amazons_crawl fetches; the site's ids are amzn, and DEFAULT and CROSS."""


@dataclass(frozen=True)
class AmazonsEvaluateParams:
    """How the nets are asked; none of it changes what they answer but in the last bits."""

    batch: int
    """Positions of a forward pass."""

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch must be at least 1, not {self.batch}")


@dataclass(frozen=True)
class Pairing:
    """One match."""

    a: str
    """Text of the player whose score is told; ``{published}`` and ``{residual}`` stand for the models' files."""
    b: str
    """Text of its opponent, likewise."""
    pairs: int
    """Openings, each played twice with the sides swapped."""


@dataclass(frozen=True)
class AmazonsMatchParams:
    """Of the stage that plays matches, limited by nodes or depth, never by the clock."""

    loss: str
    """Reading of the loss whose nets are ``{published}``; also the reading whose figures are the headline."""
    opening_plies: int
    """Random plies before the players take over."""
    matches: dict[str, Pairing]
    """By name."""

    def __post_init__(self) -> None:
        if not self.matches:
            raise ValueError("matches must name at least one")
        for name, pairing in self.matches.items():
            if pairing.pairs < 1:
                raise ValueError(f"matches.{name}.pairs must be at least 1, not {pairing.pairs}")
        if not 1 <= self.opening_plies <= 20:
            raise ValueError(
                f"opening_plies must be 1 to 20, not {self.opening_plies}: from the bare start position, players that "
                "draw no lots would play the same game again and again"
            )


@dataclass(frozen=True)
class AmazonsParseParams:
    """Filters of the stage that turns crawled records into an archive of games."""

    min_plies: int
    """Shortest game to keep, in turns of both sides together; shorter ones are mostly given up or lost on time."""
    variants: tuple[Literal["standard", "cross"], ...]
    """Start positions to keep."""

    def __post_init__(self) -> None:
        if self.min_plies < 1:
            raise ValueError(f"min_plies must be at least 1, not {self.min_plies}")
        if not self.variants or len(set(self.variants)) != len(self.variants):
            raise ValueError(f"variants must name at least one start position, none twice, not {self.variants}")


@dataclass(frozen=True)
class SplitShares:
    """Shares of the games, in any unit; the patent's are 7:2:1."""

    train: float
    """For learning."""
    validation: float
    """For early stopping and for choosing among models."""
    test: float
    """For the figures that are reported."""

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")


@dataclass(frozen=True)
class AmazonsSamplesParams:
    """Of the stage that turns games into a data set."""

    size: Literal[6, 8, 10]
    """Side of the board; games of other sizes are skipped."""
    variants: tuple[Literal["standard", "cross"], ...]
    """Start positions whose games are used; cross is for size 10 alone."""
    split: SplitShares
    """How the games are shared out."""

    def __post_init__(self) -> None:
        if not self.variants or len(set(self.variants)) < len(self.variants):
            raise ValueError(f"variants must name each start position once, not {list(self.variants)}")
        if "cross" in self.variants and self.size != 10:
            raise ValueError(f"variants: the cross start is for size 10, not {self.size}")


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

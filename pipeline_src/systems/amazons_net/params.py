"""Params of Amazons-Net: its archive of engine games, crawl, samples and trainings."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_src.learning.devices import Devices
from pipeline_src.project.params import (
    BelowOne,
    Count,
    Distinct,
    Items,
    NonNegative,
    Params,
    Positive,
)
from pipeline_src.records.crawl_params import GamesParams

StartPosition = Literal["standard", "cross"]
ModelName = Literal["soft_argmax", "expected_distance", "cross_entropy", "residual"]


class AmazonsArchive(Params):
    """The archive that the site replica serves: games of the engine's own players."""

    games: Count
    """Number of games."""
    players: Annotated[Items[str], Field(min_length=2)]
    """Texts of the players, see `zugwerk players amazons`; every game pairs two of them."""
    opening_plies: Annotated[int, Field(ge=0, le=20)]
    """Random plies before the players take over, so that games differ."""
    cross_share: BelowOne
    """Fraction of games from the 'Cross' start; the datasets leave them out by default, as they do on the real site."""


class AmazonsCrawlParams(GamesParams):
    """The games of the Amazons to crawl; the site's ids are amzn, and DEFAULT and CROSS."""


class AmazonsParseParams(Params):
    """Filters that turn crawled records into an archive of games."""

    min_plies: Count
    """Shortest game to keep, in turns of both sides together; shorter ones are mostly given up or lost on time."""
    variants: Distinct[StartPosition]
    """Start positions to keep."""


class SplitShares(Params):
    """Shares of the games, in any unit; published: 7:2:1."""

    train: Positive
    """For learning."""
    validation: Positive
    """For early stopping and for choosing among models."""
    test: Positive
    """For the figures that are reported."""


class AmazonsSamplesParams(Params):
    """The games that become samples, and how they are split."""

    size: Literal[6, 8, 10]
    """Side of the board; games of other sizes are skipped and counted."""
    variants: Distinct[StartPosition]
    """Start positions whose games are used; cross is for size 10 alone."""
    split: SplitShares
    """Shares of the games, in any unit; published: 7:2:1."""

    @model_validator(mode="after")
    def _cross_is_large(self) -> Self:
        if "cross" in self.variants and self.size != 10:
            raise ValueError(f"variants: the cross start is for size 10, not {self.size}")
        return self


class AmazonsModelsParams(Params):
    """Models that are trained, and evaluated on the test split."""

    trained: Distinct[ModelName]
    """Amazons-Net on readings of its loss, ``amazons_match.loss`` among them; and the residual net."""

    @model_validator(mode="after")
    def _has_the_residual_net(self) -> Self:
        if "residual" not in self.trained:
            raise ValueError("trained: must name residual, whose matches are played")
        return self


class TrainingParams(Devices):
    """Training of a net for the Amazons, whichever it is."""

    augment: bool
    """Each sample under a symmetry of the board drawn anew each epoch."""
    batch: Count
    """Samples of each type, before the move and before the arrow, in a step."""
    epochs: Count
    """Passes over the training split, unless patience ends first."""
    patience: Count
    """Epochs without a lower validation loss after which training ends."""
    optimizer: Literal["rmsprop", "sgd", "adadelta", "adagrad", "adamw"]
    """rmsprop and sgd are with Nesterov momentum."""
    learning_rate: Positive
    """Highest rate of the schedule."""
    schedule: Literal["constant", "linear", "cosine"]
    """How the rate falls to 0 over all epochs once warm."""
    warmup: BelowOne
    """Fraction of all steps over which the rate rises from 0."""
    rho: BelowOne
    """Decay of the running mean square, for rmsprop, adadelta and adamw."""
    momentum: BelowOne
    """Momentum of rmsprop and sgd; for adamw the decay of the running mean."""
    epsilon: Positive
    """Added to the root of the mean square; large values leave small gradients small."""
    weight_decay: NonNegative = 0.0
    """Share of a weight taken off it in a step, times the learning rate; for adamw alone."""
    value_weight: NonNegative
    """Factor on the value's part of the loss, beside the policy's; published: 1."""
    gradient_clip: Positive | None = None
    """Longest gradient, as a norm over all weights; null clips none."""
    precision: Literal["auto", "32-true", "bf16-mixed"]
    """auto is bf16-mixed on a GPU and 32-true elsewhere."""
    checkpoint_steps: Count
    """Steps between checkpoints; at most so many are lost by a kill."""


class ResidualParams(TrainingParams):
    """A newer net on the same samples, with a training of its own; no figures of it were published."""

    channels: Count
    """Filters of each convolution of the trunk."""
    blocks: Count
    """Residual blocks, of two convolutions each."""
    embedding: Count
    """Numbers by which the policy of moves knows a square to start from, and one to go to."""


class AmazonsTrainParams(TrainingParams):
    """Training of Move-Net and Arrow-Net together, the same for each reading of the loss; and of the residual net."""

    width: Positive
    """Factor on the published filter counts; 1 is the published net."""
    fewest_filters: Count
    """No layer has fewer, whatever the width; published: 16, the narrowest layer at width 1."""
    dropout: BelowOne
    """Share of activations dropped after layers 4, 8 and 12; published: 0.3."""
    mover_relative: bool
    """Features show the mover's amazons as White's; published: false."""
    moved_first: bool
    """Arrow-Net's first plane is the amazon that just moved; published: not said."""
    starting_weights: Literal["he", "glorot", "torch"] = "he"
    """Of the convolutions: uniform ones of He or Glorot, or PyTorch's own; published: not said."""
    batch_norm: bool = False
    """Convolutions of the trunk are normalised over the batch; published: false."""
    shortcuts: bool = False
    """Layers of the trunk add their input; published: false."""
    spatial_heads: bool = False
    """Heads of 1x1 convolutions, as the residual net has, in place of fully connected layers; published: false."""
    residual: ResidualParams
    """The residual net, a training of its own on the same samples."""

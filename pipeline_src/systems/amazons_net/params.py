"""Params of Amazons-Net: the archive of engine games, crawl, samples and training; and self-play from nothing."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from pipeline_src.learning.arrays import SplitShares
from pipeline_src.learning.devices import MixedPrecision
from pipeline_src.project.params import (
    PARAMS_FILE,
    BelowOne,
    Count,
    Distinct,
    Items,
    Named,
    NonNegative,
    Params,
    Positive,
    Whole,
    build,
    load,
    load_value,
)
from pipeline_src.records.crawl_params import GamesParams
from pipeline_src.selfplay import params as shared
from pipeline_src.selfplay.params import GateParams, SelfPlayParams, TrainParams, at_generation, check_generations

StartPosition = Literal["standard", "cross"]
ModelName = Literal["soft_argmax", "expected_distance", "cross_entropy", "residual", "rays"]


class AmazonsArchive(Params):
    """The archive that the replica of the site serves: games between search players."""

    games: Count
    """Number of games; published: 25,000."""
    players: Annotated[Items[str], Field(min_length=2)]
    """Texts of the players, see `zugwerk players amazons`. Two of them play each game."""
    opening_plies: Annotated[int, Field(ge=0, le=20)]
    """Number of random plies before the players take over, so that games differ."""
    cross_share: BelowOne
    """Fraction of games from the 'Cross' start position. The data sets leave them out by default, like those of the
    site."""
    resign: NonNegative = 0.0
    """Squares by which a loser sees itself behind at three of its turns in a row when it resigns, as people do; 0 plays
    every game to its last square."""


class AmazonsCrawlParams(GamesParams):
    """The games of the Amazons to crawl. The site's id is amzn, with the variants DEFAULT and CROSS."""


class AmazonsParseParams(Params):
    """Filters that turn crawled records into an archive of games."""

    min_plies: Count
    """Shortest game to keep, in turns of both sides. Most shorter games were resigned early or lost on time."""
    variants: Distinct[StartPosition]
    """Start positions to keep."""


class AmazonsSamplesParams(Params):
    """The games that become samples, and their splits."""

    size: Literal[6, 8, 10]
    """Side of the board. Games of other sizes are skipped and counted."""
    variants: Distinct[StartPosition]
    """Start positions of the games to use; cross exists for size 10 only."""
    split: SplitShares
    """Shares of the games, in any unit; published: 7:2:1."""
    teachers: str = ""
    """Regular expression for the names of the players whose moves are learnt where ``teachers_only`` says so; the empty
    one matches all."""

    @field_validator("teachers")
    @classmethod
    def _is_an_expression(cls, teachers: str) -> str:
        try:
            re.compile(teachers)
        except re.error as error:
            raise ValueError(f"'{teachers}' is no regular expression: {error}") from None
        return teachers

    @model_validator(mode="after")
    def _cross_is_large(self) -> Self:
        if "cross" in self.variants and self.size != 10:
            raise ValueError(f"variants: the cross start is for size 10, not {self.size}")
        return self


class AmazonsModelsParams(Params):
    """Models that are trained, and evaluated on the test split."""

    trained: dict[ModelName, Literal["amazons_train", "amazons_residual", "amazons_rays"]]
    """Models to train, each with the section of its training: Amazons-Net by readings of its loss, including
    ``amazons_match.loss``, with amazons_train, the residual net with amazons_residual and the net of rays with
    amazons_rays."""

    @model_validator(mode="after")
    def _has_the_residual_net(self) -> Self:
        if "residual" not in self.trained:
            raise ValueError("trained: must name residual, whose matches are played")
        for name, section in self.trained.items():
            if (wanted := section_of(name)) != section:
                raise ValueError(f"trained: {name} is trained with {wanted}, not {section}")
        return self


def section_of(model: str) -> str:
    """Name of the section with the training of a model."""
    return {"residual": "amazons_residual", "rays": "amazons_rays"}.get(model, "amazons_train")


class TrainingParams(MixedPrecision):
    """Training of a net for the Amazons."""

    teachers_only: bool = False
    """Whether policies learn from the turns of the players ``amazons_samples.teachers`` alone, or from all turns.
    Values always learn from all."""
    augment: bool
    """Whether each sample is seen under a random symmetry of the board, drawn in each epoch; none is published."""
    batch: Count
    """Number of samples of each type, before the move and before the arrow, in a step."""
    epochs: Count
    """Largest number of passes over the training split; patience can end training earlier."""
    patience: Count
    """Number of epochs without a lower validation loss after which training ends."""
    learning_rate: Positive
    """Highest learning rate. It falls to 0 in a straight line after the warm-up, over all epochs."""
    warmup: BelowOne
    """Fraction of all steps over which the learning rate rises from 0."""
    value_weight: NonNegative
    """Factor of the value loss, relative to the policy loss; published: 1."""
    checkpoint_steps: Count
    """Number of steps between checkpoints, and so the largest number that a kill can lose."""


class AmazonsTrainParams(TrainingParams):
    """Training of Move-Net and Arrow-Net together, the same for each reading of the loss."""

    width: Positive
    """Factor on the published filter counts; published: 1."""
    fewest_filters: Count
    """Least number of filters of a layer at any width; published: 16, the narrowest layer at width 1."""
    dropout: BelowOne
    """Dropout rate after layers 4, 8 and 12; published: 0.3."""
    mover_relative: bool
    """Whether features show the amazons of the side to move as White's; published: false."""
    moved_first: bool
    """Whether Arrow-Net's first plane is the amazon that just moved; otherwise planes are in the order of the board, of
    which the publication gives the first."""
    starting_weights: Literal["he", "mirrored"] = "he"
    """Initial weights, which the publication does not give: He's uniform convolutions, as is usual; or mirrored,
    convolutions that hand on what they see, and policies that begin as 1x1 convolutions."""
    batch_norm: bool = False
    """Whether convolutions of the trunk are followed by batch norm; published: false."""
    shortcuts: bool = False
    """Whether each layer of the trunk adds its input to its output; published: false."""
    spatial_heads: bool = False
    """Whether the heads are 1x1 convolutions, as in the residual net, and not fully connected; published: false."""


class AmazonsResidualParams(TrainingParams):
    """A more recent net on the same samples, and its training. No figures were published for it."""

    channels: Count
    """Number of filters of each convolution of the trunk."""
    blocks: Count
    """Number of residual blocks of two convolutions each."""
    embedding: Count
    """Length of the embeddings of from and to squares in the move policy."""


class AmazonsRaysParams(TrainingParams):
    """The net of rays, which plays from a table, and its training on the same samples."""

    units: Count
    """Number of units of the perceptron that makes the table."""
    precision: Literal["32-true"] = "32-true"
    """Its own layers compute in 32-bit floats."""


class AmazonsBaselinesParams(Params):
    """Training-free baselines on the test split. The win rate of the one-ply evaluation has one fitted number."""

    fit_turns: Count
    """Number of turns, spread evenly over the validation split, to fit the scale of the win rate."""


class AmazonsEvaluateParams(Params):
    """Evaluation of trained nets on the test split. These params change only the last bits of results."""

    batch: Count
    """Number of positions in a forward pass."""


class Pairing(Params):
    """One match."""

    a: str
    """Text of player A; scores are reported for A. ``{published}`` and ``{residual}`` stand for the models' files."""
    b: str
    """Text of player B, the opponent, in the same form."""
    pairs: Count
    """Number of openings, each played twice with the sides swapped."""


class AmazonsMatchParams(Params):
    """Matches of the nets, limited by nodes or depth and never by time."""

    loss: str
    """Reading of the loss for the nets ``{published}`` and the headline figures: soft_argmax (the nearest to what is
    published), expected_distance or cross_entropy."""
    opening_plies: Annotated[int, Field(ge=1, le=20)]
    """Number of random plies before the players take over. Without them, deterministic players would repeat one
    game."""
    matches: Annotated[Named[Pairing], Field(min_length=1)]
    """Matches by name."""


# Self-play from nothing.

SECTION = "amazons_generations"
"""Maps the name of each generation after the first to the one before it: dvc.yaml makes a stage of each."""


class AmazonsZeroGame(Params):
    """Boards of self-play. The same net plays on all, so that a small board's is trained on on a larger one."""

    boards: Named[Literal[6, 8, 10]]
    """Sides of the boards by the first generation to which they apply, e.g. {1: 6, 3: 8, 5: 10}, all in quotes."""

    @property
    def variant(self) -> str:
        """The start position."""
        return "standard"

    def size_of(self, generation: int) -> int:
        """Side of the board of a generation, counted from 1."""
        return at_generation(self.boards, generation, self.boards["1"])

    @model_validator(mode="after")
    def _starts_with_the_first(self) -> Self:
        check_generations("boards", self.boards)
        if "1" not in self.boards:
            raise ValueError('boards: no board for generation "1"')
        return self


class AmazonsZeroNet(Params):
    """The net of rays."""

    units: Count = 128
    """Number of units of the perceptron that makes the table."""


class AmazonsZeroTrain(TrainParams):
    """Training on the replay window after each round's self-play."""

    owners: NonNegative = 0.0
    """Weight in the loss of the mean squared error of who owns each square at the end of the game, -1 to 1 (Wu,
    "Accelerating self-play learning in Go", 2019, arXiv 1902.10565). The net learns it with policy and value, since a
    game has but one result; 0 leaves it out."""


class AmazonsZeroEvaluate(Params):
    """Matches of the last generation's best player, and of earlier ones, in simulations and nodes and never by time."""

    opening_plies: Annotated[int, Field(ge=1, le=20)]
    """Number of random plies before the players take over, level to a short search."""
    size: Literal[6, 8, 10] = 10
    """Side of the board."""
    matches: Annotated[Named[Pairing], Field(min_length=1)]
    """Matches by name; ``{net}`` stands for the file of the best player's table."""
    rated: Items[Count] = ()
    """Numbers of the generations whose nets play the next match, for the curve."""
    rated_player: str = "puct:{net},simulations=100"
    """Text of a rated net's player."""
    rated_against: str = "one_ply"
    """Text of its opponent."""
    rated_pairs: Whole = 0
    """Number of pairs of that match; 0: none."""


class ZeroFiles(shared.GenerationFiles):
    """The files of one generation of the Amazons; the first is number 1."""

    of, reports = "amazons_zero", "amazons/zero"


class ZeroSetting(shared.Setting):
    """All params of a generation."""

    game: AmazonsZeroGame
    net: AmazonsZeroNet
    train: AmazonsZeroTrain


def read_zero_numbers(path: Path | str = PARAMS_FILE) -> list[int]:
    """The numbers of the generations, from 1 on; see `selfplay.params.read_numbers`."""
    return shared.read_numbers(SECTION, "name the one before each", path)


def read_zero_setting(path: Path | str = PARAMS_FILE) -> ZeroSetting:
    """The params of the generations.

    Raises:
        ZugwerkError: a section is missing or malformed.
    """
    sections = {
        "seed": load_value(int, "seed", path),
        "game": load(AmazonsZeroGame, "amazons_zero_game", path),
        "net": load(AmazonsZeroNet, "amazons_zero_net", path),
        "self_play": load(SelfPlayParams, "amazons_zero_self_play", path),
        "train": load(AmazonsZeroTrain, "amazons_zero_train", path),
        "gate": load(GateParams, "amazons_zero_gate", path),
    }
    return build(ZeroSetting, sections, "amazons_zero", str(path))

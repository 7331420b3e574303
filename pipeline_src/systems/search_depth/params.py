"""Params of the search depth: engine and clock, labels, splits and training."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_src.learning.arrays import SplitShares
from pipeline_src.learning.devices import Devices
from pipeline_src.project.params import BelowOne, Count, Items, Named, NonNegative, Params, Positive, Whole

CHOICES = ("depth", "model", "table", "lowest", "confidence", "shares", "plus", "stop", "near")
"""Options of ``alphabeta`` that choose its depth, which each player of a match has for itself."""


class DepthGame(Params):
    """The engine and the clock, shared by labels and matches, so that nets play with the engine they learnt from."""

    clock_ms: Positive
    """Time of a side, in milliseconds; published: 900,000."""
    nodes_per_ms: NonNegative
    """Nodes that count as one millisecond of the clock, about the speed of the engine, so that results do not depend on
    the machine; 0 is wall time."""
    game_plies: Annotated[int, Field(ge=2)]
    """Number of plies over which iterative deepening divides its clock. Once the areas are closed, moves take no
    time."""
    engine: str
    """Options of the ``alphabeta`` player, e.g. ``width=40,width3=20``, see `zugwerk players amazons`."""
    simulations: Count
    """Simulations of the small tree search that fills the nets' input."""
    plies: Whole
    """Number of random turns of each simulation after the tree, before the evaluation."""
    forward_nodes: Whole
    """Nodes that the clock is charged for a forward pass of a net."""
    lowest: Count
    """Smallest depth, the lowest class; published: 3."""
    highest: Annotated[int, Field(ge=2, le=16)]
    """Greatest depth, the highest class; published: 7. Positions have labels of 16 depths."""
    opening_plies: Annotated[int, Field(ge=1, le=20)]
    """Number of random plies before the players take over. Without them, deterministic players would repeat one
    game."""

    @model_validator(mode="after")
    def _depths_rise(self) -> Self:
        if self.lowest >= self.highest:
            raise ValueError(f"lowest and highest must rise within 1 to 16, not {self.lowest} and {self.highest}")
        for part in self.engine.split(","):
            if part.partition("=")[0] in CHOICES:
                raise ValueError(f"engine: {part}: what chooses the depth is not an option of the engine here")
        return self

    def player(self, options: str = "") -> str:
        """Return the text of a player on this clock, e.g. with ``depth=4``; ``options`` take precedence."""
        own = (
            f"clock={self.clock_ms:.12g},nodes_per_ms={self.nodes_per_ms:.12g},game_plies={self.game_plies},"
            f"simulations={self.simulations},plies={self.plies},forward_nodes={self.forward_nodes},{self.engine}"
        )
        given = [part for part in options.split(",") if part]
        names = {part.partition("=")[0] for part in given}
        rest = [part for part in own.split(",") if part and part.partition("=")[0] not in names]
        return "alphabeta:" + ",".join([*given, *rest])


class DepthLabelParams(Params):
    """Games of the engine against itself, labelled with search depths."""

    games: Count
    """Number of games of the engine against itself, by iterative deepening."""
    spent: BelowOne
    """Largest share of its clock that a side has used before a game, drawn for each side of each game, so that the nets
    see all states of the clock."""
    judge_depth: Count
    """Number of plies beyond the reached depth at which the moves of smaller depths are judged."""
    tolerance: NonNegative
    """Largest loss of value, in the evaluation's unit, with which a move still counts as good enough."""


class DepthSplitParams(SplitShares):
    """Shares of the games, in any unit; published: 85:15, without a validation split."""


Balance = Literal["smote", "oversample", "augment", "class_weights", "none"]


class DepthBalancing(Params):
    """The methods that balance the classes; the defaults are the paper's."""

    keep_most: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of the most frequent class that is kept; for smote, oversample and augment."""
    ratio: Annotated[float, Field(ge=1)] = 10.0
    """Rarer classes are filled up until the most frequent one is at most this many times as frequent."""
    k_neighbors: Count = 5
    """Neighbours of SMOTE; published: that of imbalanced-learn, 5."""
    few: Literal["error", "leave"] = "error"
    """Treatment of a class with too few rows for ``k_neighbors``: an error, or no filling."""


class DepthTraining(Devices):
    """The training, the same for all models."""

    steps: Count
    """Number of steps, the same for every balancing method."""
    batch: Count
    """Positions in a step; published: about 65,536."""
    learning_rate: Positive
    """Highest learning rate. The rate rises over ``warmup`` and falls to 0 along half a cosine."""
    warmup: BelowOne = 0.05
    """Fraction of the steps over which the learning rate rises."""
    weight_decay: NonNegative = 0.0
    """Weight decay of AdamW."""
    log_steps: Count = 100
    """Steps between two rows of the learning curves."""
    checkpoint_steps: Count = 1000
    """Number of steps between checkpoints, and so the largest number that a kill can lose."""


class DepthModelParams(Params):
    """One model."""

    label: Literal["reached", "needed"]
    """Target of the net: the depth that was reached, or the smallest that would have sufficed (needed)."""
    balance: Balance
    """Balancing method of the training split, see `pipeline_src.systems.search_depth.train`."""
    inputs: Literal["published", "full"] = "published"
    """Input planes, see `pipeline_src.systems.search_depth.positions`."""
    net: Literal["published", "residual"] = "published"
    """Kind of net, see `pipeline_src.systems.search_depth.net`."""
    head: Literal["linear", "sigmoid", "classes", "costs"] = "linear"
    """Meaning of its outputs, see `pipeline_src.systems.search_depth.net`."""
    filters: Count = 16
    """Filters of each convolution; the paper's 'three kernels', read literally, are 1."""
    shrink: Literal["stride", "pooling", "dense"] = "stride"
    """Method by which the published net shrinks the board."""
    blocks: Whole = 1
    """Blocks of the residual net."""
    symmetries: bool = False
    """Whether each position is seen under a random symmetry of the board, with any balancing method."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.head == "costs" and (self.balance != "none" or self.label != "reached"):
            raise ValueError("head: costs learns nodes, not classes; use balance: none and label: reached")
        if self.balance == "smote" and self.inputs != "published":
            raise ValueError(
                "balance: smote interpolates between boards, which is not possible here; use inputs: published"
            )
        return self


class DepthTrainParams(Params):
    """The nets that choose the search depth, trained one after another."""

    balancing: DepthBalancing
    """The methods that balance the classes."""
    training: DepthTraining
    """The training, the same for all models."""
    models: Named[DepthModelParams]
    """Models by the name of each one's folder."""


class DepthEvaluateParams(Params):
    """Evaluation of every net on the test split."""

    confidences: Items[Annotated[float, Field(gt=0, le=1)]]
    """Probabilities: classifying nets are also evaluated with the first class that suffices with each of them."""


TABLE = "table"  # Name of the published opponent. Its table is fitted to the computing of the player that it meets.


class DepthPairing(Params):
    """One match."""

    a: str
    """Name of player A; scores are reported for A."""
    b: str
    """Name of player B, the opponent; ``table`` is the published one, fitted to the nodes that ``a`` spends."""
    pairs: Count
    """Number of openings, each played twice with the sides swapped."""


class DepthMatchParams(Params):
    """Matches on the clock of ``depth_game``."""

    pilot_pairs: Count
    """Number of pairs of games that measure the nodes of each candidate table."""
    players: Named[str]
    """Options of the ``alphabeta`` player by a name: ``depth=4``, an empty text for iterative deepening, or
    ``depth=cnn,model={NAME}``, where ``{NAME}`` stands for the file of that model of depth_train."""
    matches: Annotated[Named[DepthPairing], Field(min_length=1)]
    """Matches by name."""

    @model_validator(mode="after")
    def _players_are_known(self) -> Self:
        if TABLE in self.players:
            raise ValueError(f"players: the name {TABLE} is that of the published opponent; take another")
        for name, pairing in self.matches.items():
            for side, player in (("a", pairing.a), ("b", pairing.b)):
                if player not in self.players and not (side == "b" and player == TABLE):
                    known = ", ".join(self.players)
                    raise ValueError(f"matches.{name}.{side}: no player {player!r}; there are: {known}")
        return self

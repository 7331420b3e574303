"""Params of the search depth: the engine and its clock, labels, splits and trainings."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_src.learning.devices import Devices
from pipeline_src.project.params import BelowOne, Count, Named, NonNegative, Params, Positive, Whole


class DepthGame(Params):
    """The engine and the clock, shared by labels and matches, so that the nets meet the engine they learnt from."""

    clock_ms: Positive
    """Time of a side, in milliseconds; published: 900,000."""
    nodes_per_ms: NonNegative
    """Nodes that a millisecond of the clock is worth, about as many as the engine searches in one, so that no machine
    decides a game; 0: the clock is one of wall time."""
    game_plies: Annotated[int, Field(ge=2)]
    """Over how many plies of a game a player that deepens iteratively shares out its clock; once the areas are closed
    no move takes time."""
    engine: str
    """Options of the ``alphabeta`` player, e.g. ``width=40,width3=20``, see `zugwerk players amazons`."""
    simulations: Count
    """Simulations of the small tree search that fills the nets' input."""
    plies: Whole
    """Turns that each of them plays at random after the tree, before it is evaluated."""
    forward_nodes: Whole
    """Node equivalents that a forward pass of a net is charged."""
    lowest: Count
    """Least depth that is chosen, the lowest class; published: 3."""
    highest: Annotated[int, Field(ge=2, le=32)]
    """Greatest depth, the highest class; published: 7."""
    opening_plies: Annotated[int, Field(ge=1, le=20)]
    """Random plies before the players take over; from the bare start position, players that draw no lots would play the
    same game again and again."""

    @model_validator(mode="after")
    def _depths_rise(self) -> Self:
        if self.lowest >= self.highest:
            raise ValueError(f"lowest and highest must rise within 1 to 32, not {self.lowest} and {self.highest}")
        return self

    def player(self, options: str = "") -> str:
        """Text of a player on this clock, e.g. with ``depth=4``; what ``options`` give goes before what is here."""
        own = (
            f"clock={self.clock_ms:.12g},nodes_per_ms={self.nodes_per_ms:.12g},game_plies={self.game_plies},"
            f"simulations={self.simulations},plies={self.plies},forward_nodes={self.forward_nodes},{self.engine}"
        )
        given = [part for part in options.split(",") if part]
        names = {part.partition("=")[0] for part in given}
        rest = [part for part in own.split(",") if part and part.partition("=")[0] not in names]
        return "alphabeta:" + ",".join([*given, *rest])


class DepthLabelParams(Params):
    """Games that the engine plays against itself while it writes down how deep it got."""

    games: Count
    """Games that the engine plays against itself, by iterative deepening."""
    group: Count
    """Games that a task plays; what a killed run has to do again at most, for each worker."""
    spent: BelowOne
    """Most of its clock that a side has used before the game begins, drawn for each side of each game: the nets are
    to know all states of the clock, not just those of this engine's habits."""
    judge_depth: Count
    """How many plies deeper than it got the moves of its lesser depths are judged."""
    tolerance: NonNegative
    """By how much, in the evaluation's unit, a move may be worse and is still as good."""


class DepthSplitParams(Params):
    """Shares of the games, in any unit; published: 85:15, without a validation split."""

    train: Positive
    """For learning, and for what is tuned on positions."""
    validation: Positive
    """For learning curves and for choosing among models."""
    test: Positive
    """For the figures that are reported."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """In the order of the splits."""
        return self.train, self.validation, self.test


Balance = Literal["smote", "oversample", "augment", "class_weights", "none"]


class DepthBalancing(Params):
    """The methods that change how often each class is seen; the defaults are the paper's."""

    keep_most: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of the most frequent class that stays; for smote, oversample and augment."""
    ratio: Annotated[float, Field(ge=1)] = 10.0
    """Rarer classes are filled up until the most frequent is no more than this many times as frequent."""
    k_neighbors: Count = 5
    """Neighbours of SMOTE; published: that of imbalanced-learn, 5."""
    block: Count = 20_000
    """Most rows of a class that SMOTE looks for neighbours among at once: its time goes with their square."""
    few: Literal["error", "leave"] = "error"
    """A class that has too few rows for ``k_neighbors`` ends the training, or is left as it is."""

    @model_validator(mode="after")
    def _a_block_has_neighbours(self) -> Self:
        if self.block <= self.k_neighbors:
            raise ValueError(f"k_neighbors must be below block, not {self.k_neighbors}, {self.block}")
        return self


class DepthTraining(Devices):
    """The training, the same for all models."""

    steps: Count
    """Steps, the same number whatever the balance, so that methods differ in what they show and not in how much."""
    batch: Count
    """Positions in a step; published: about 65,536."""
    learning_rate: Positive
    """Highest rate; it rises over ``warmup`` and falls to 0 along half a cosine."""
    warmup: BelowOne = 0.05
    """Fraction of the steps over which the rate rises."""
    weight_decay: NonNegative = 0.0
    """Weight decay of AdamW."""
    log_steps: Count = 100
    """Steps between two rows of the learning curves."""
    checkpoint_steps: Count = 1000
    """Steps between checkpoints; at most so many are lost by a kill."""
    threads: Count = 1
    """Threads of torch on the CPU; nets so small gain nothing by a second one."""


class DepthModelParams(Params):
    """One model."""

    label: Literal["reached", "needed"]
    """The depth that it learns to tell: the one that was reached, or the least that would have sufficed."""
    balance: Balance
    """How the training split is balanced, see `pipeline_src.systems.search_depth.balance`."""
    inputs: Literal["published", "full"] = "published"
    """Planes that it sees, see `pipeline_src.systems.search_depth.planes`."""
    net: Literal["published", "residual"] = "published"
    """Kind of net, see `pipeline_src.systems.search_depth.net`."""
    head: Literal["linear", "sigmoid", "classes", "costs"] = "linear"
    """Meaning of its outputs, see `pipeline_src.systems.search_depth.head`."""
    filters: Count = 16
    """Filters of each convolution; the paper's 'three kernels', read literally, are 1."""
    shrink: Literal["stride", "pooling", "dense"] = "stride"
    """How the published net shrinks the board."""
    blocks: Whole = 1
    """Blocks of the residual net."""
    symmetries: bool = False
    """Each position under a symmetry of the board drawn anew each time, whatever the balance."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.head == "costs" and (self.balance != "none" or self.label != "reached"):
            raise ValueError("head: costs learns nodes, not classes; use balance: none and label: reached")
        if self.balance == "smote" and self.inputs != "published":
            raise ValueError("balance: smote makes squares between squares, which no board has; use inputs: published")
        return self


class DepthTrainParams(Params):
    """The nets that choose the search depth, trained one after another."""

    balancing: DepthBalancing
    """The methods that change how often each class is seen."""
    training: DepthTraining
    """The training, the same for all models."""
    models: Named[DepthModelParams]
    """Models by the name of each one's folder."""

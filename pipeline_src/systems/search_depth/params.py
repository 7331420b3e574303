"""Params section ``depth_evaluate``: how the depth nets are looked at.

Params section ``depth_game``: the engine and the clock of all that has to do with the search depth.

Params section ``depth_label``: how many games are labelled with search depths, and how.

Params section ``depth_match``: who plays whom for the search depth, and how much.

Params section ``depth_split``: how the games with labelled depths are shared out; read by all that use them.

Params section ``depth_train``: how the nets that choose the search depth are trained.
"""

from dataclasses import dataclass
from typing import Literal

from pipeline_src.learning.devices import Devices


@dataclass(frozen=True)
class DepthEvaluateParams:
    """Of the stage that asks every net about the test split."""

    confidences: tuple[float, ...]
    """Of classifying nets, beside the likeliest class: the first class that suffices with this probability."""

    def __post_init__(self) -> None:
        if any(not 0 < confidence <= 1 for confidence in self.confidences):
            raise ValueError(f"confidences must be above 0 and at most 1, not {list(self.confidences)}")


@dataclass(frozen=True)
class DepthGame:
    """Shared by the labels and the matches, so that the nets meet the engine they learnt from."""

    clock_ms: float
    """Time of a side, in milliseconds; published: 900,000."""
    nodes_per_ms: float
    """What turns the clock into one of nodes, so that no machine decides a game; 0: wall time."""
    game_plies: int
    """Over how many plies of a game a player that deepens iteratively shares out its clock; once the areas are closed
    no move takes time."""
    engine: str
    """Options of the ``alphabeta`` player, e.g. ``width=40,width3=20``."""
    simulations: int
    """Of the small tree search that fills the nets' input."""
    plies: int
    """Turns that each of them plays at random after the tree, before it is evaluated."""
    forward_nodes: int
    """Node equivalents that a forward pass of a net is charged."""
    lowest: int
    """Least depth that is chosen, the lowest class; published: 3."""
    highest: int
    """Greatest depth, the highest class; published: 7."""
    opening_plies: int
    """Random plies before the players take over."""

    def __post_init__(self) -> None:
        if not 0 < self.clock_ms < float("inf"):
            raise ValueError(f"clock_ms must be above 0, not {self.clock_ms}")
        if not 0 <= self.nodes_per_ms < float("inf"):
            raise ValueError(f"nodes_per_ms must be 0 or more, not {self.nodes_per_ms}")
        if self.game_plies < 2:
            raise ValueError(f"game_plies must be at least 2, not {self.game_plies}")
        if self.simulations < 1 or self.plies < 0 or self.forward_nodes < 0:
            raise ValueError("simulations must be at least 1, plies and forward_nodes at least 0")
        if not 1 <= self.lowest < self.highest <= 32:
            raise ValueError(f"lowest and highest must rise within 1 to 32, not {self.lowest} and {self.highest}")
        if not 1 <= self.opening_plies <= 20:
            raise ValueError(
                f"opening_plies must be 1 to 20, not {self.opening_plies}: from the bare start position, players that "
                "draw no lots would play the same game again and again"
            )

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


@dataclass(frozen=True)
class DepthLabelParams:
    """Of the stage in which the engine plays itself and writes down how deep it got."""

    games: int
    """That the engine plays against itself, by iterative deepening."""
    group: int
    """Games that a task plays; what a killed run has to do again at most, for each worker."""
    spent: float
    """Most of its clock that a side has used before the game begins, drawn for each side of each game: the nets are
    to know all states of the clock, not just those of this engine's habits."""
    judge_depth: int
    """How many plies deeper than it got the moves of its lesser depths are judged."""
    tolerance: float
    """By how much, in the evaluation's unit, a move may be worse and is still as good."""

    def __post_init__(self) -> None:
        if self.games < 1 or self.group < 1:
            raise ValueError(f"games and group must be at least 1, not {self.games} and {self.group}")
        if not 0 <= self.spent < 1:
            raise ValueError(f"spent must be 0 or more and below 1, not {self.spent}")
        if self.judge_depth < 1 or not self.tolerance >= 0:
            raise ValueError("judge_depth must be at least 1 and tolerance at least 0")


TABLE = "table"
"""The name of the published opponent, whose table is fitted to the computing of whom it meets."""


@dataclass(frozen=True)
class DepthPairing:
    """One match."""

    a: str
    """Name of the player whose score is told."""
    b: str
    """Name of its opponent; `TABLE` is the published one, fitted to what ``a`` spends."""
    pairs: int
    """Openings, each played twice with the sides swapped."""


@dataclass(frozen=True)
class DepthMatchParams:
    """Of the stage that plays matches on the clock of ``depth_game``."""

    group: int
    """Pairs that a task plays; what a killed run has to do again at most, for each worker."""
    pilot_pairs: int
    """Pairs in which a table's computing is measured each time one is tried."""
    players: dict[str, str]
    """Options of the ``alphabeta`` player by a name: ``depth=4``, nothing for iterative deepening, or ``depth=cnn,
    model={NAME}``, where ``{NAME}`` stands for that model's file."""
    matches: dict[str, DepthPairing]
    """By name."""

    def __post_init__(self) -> None:
        if self.group < 1 or self.pilot_pairs < 1:
            raise ValueError(f"group and pilot_pairs must be at least 1, not {self.group} and {self.pilot_pairs}")
        if TABLE in self.players:
            raise ValueError(f"players: the name {TABLE} is that of the published opponent; take another")
        if not self.matches:
            raise ValueError("matches must name at least one")
        for name, pairing in self.matches.items():
            if pairing.pairs < 1:
                raise ValueError(f"matches.{name}.pairs must be at least 1, not {pairing.pairs}")
            for side, player in (("a", pairing.a), ("b", pairing.b)):
                if player not in self.players and not (side == "b" and player == TABLE):
                    known = ", ".join(self.players)
                    raise ValueError(f"matches.{name}.{side}: no player {player!r}; there are: {known}")


@dataclass(frozen=True)
class DepthSplitParams:
    """Shares of the games, in any unit; the paper's are 85:15, without a validation split."""

    train: float
    """For learning, and for what is tuned on positions."""
    validation: float
    """For learning curves and for choosing among models."""
    test: float
    """For the figures that are reported."""

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")

    @property
    def shares(self) -> tuple[float, float, float]:
        """In the order of the splits."""
        return self.train, self.validation, self.test


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
    """How the training split is balanced; `pipeline_src.systems.search_depth.balance`."""
    inputs: Literal["published", "full"] = "published"
    """What it sees; `pipeline_src.systems.search_depth.planes`."""
    net: Literal["published", "residual"] = "published"
    """`pipeline_src.systems.search_depth.net`."""
    head: Literal["linear", "sigmoid", "classes", "costs"] = "linear"
    """What its outputs mean; `pipeline_src.systems.search_depth.head`."""
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

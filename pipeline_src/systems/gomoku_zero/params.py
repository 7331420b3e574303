"""Params section ``gomoku_evaluate``: who plays whom, from which openings, and how much.

Params of the game that Gomoku's nets learn.

Params of the matches that decide who is Gomoku's best player.

Params section gomoku_generations: which generations there are.

It maps the name of each generation after the first to the one before it, which is how dvc.yaml makes a stage of each:
``"02": {before: "01"}``. ``zugwerk gomoku generations N`` writes it.

Params section ``gomoku_net``: the net that self-play trains.

Params of Gomoku's self-play.

Params section ``gomoku_train``: how a generation's net is trained on the replay window.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import MAX_SIDE, MIN_SIDE, parse_variant
from pipeline_src.learning.devices import Devices
from pipeline_src.project.params import PARAMS_FILE, read_tree


@dataclass(frozen=True)
class GomokuOpponent:
    """A player that learns nothing."""

    player: str
    """Its text."""
    pairs: int
    """Pairs of games of the best player against it."""


def _opponents() -> dict[str, GomokuOpponent]:
    return {
        "mcts1000": GomokuOpponent("mcts:playouts=1000", 50),
        "minimax": GomokuOpponent("minimax:depth=2", 50),
        "alphabeta2": GomokuOpponent("alphabeta:depth=2", 50),
        "alphabeta4": GomokuOpponent("alphabeta:depth=4", 50),
    }


@dataclass(frozen=True)
class GomokuOpenings:
    """The openings that all matches choose from: random stones that decide nothing yet."""

    count: int = 64
    plies: int = 3
    """Stones; 0 is the empty board for all, on which players that draw no lots repeat one game."""
    area: int = 7
    """The stones lie in the square of this side in the middle of the board; 0 is all of it."""
    judge: str = "alphabeta:depth=2"
    """Text of the player whose search says what an opening is worth."""
    bound: float = 40.0
    """The most that it may be worth to either side, in the unit of the judge's evaluation."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.plies < 0 or self.area < 0 or not self.bound > 0:
            raise ValueError(
                f"count must be at least 1, plies and area at least 0, bound above 0, not {self.count}, {self.plies}, "
                f"{self.area}, {self.bound:g}"
            )


@dataclass(frozen=True)
class GomokuEvaluateParams:
    """Of the stage that plays the published tables and the headline matches."""

    simulations: int = 300
    """Of a model's move."""
    search: Literal["puct", "gumbel"] = "puct"
    options: str = ""
    """Further options of a model's player, e.g. ``chunk=16,leaves=4``."""
    opponents: dict[str, GomokuOpponent] = field(default_factory=_opponents)
    """By name; the metrics are called ``score_vs_<name>``."""
    anchor: str = "mcts1000"
    """The opponent whose Elo is 0."""
    anchor_pairs: int = 5
    """Pairs of each rated model against the anchor."""
    every: int = 3
    """Rated are the models 1, 1 + every, ..., and the last one."""
    table2_games: int = 2
    """Between any two of them."""
    table3_games: int = 20
    """Of each of them against each of ``tables_against``."""
    tables_against: tuple[str, ...] = ("minimax", "alphabeta4")
    """Names of the opponents of tables 3 and 4."""
    best_of: int = 5
    """Games of a match of table 4, unless it is decided before."""
    replays: int = 4
    """Drawn games of such a match that are played again, at most."""
    openings: GomokuOpenings = field(default_factory=GomokuOpenings)
    group: int = 40
    """Games that a task plays in lock step; changes no game."""

    def __post_init__(self) -> None:
        for name in ("simulations", "anchor_pairs", "every", "group"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("table2_games", "table3_games"):
            if getattr(self, name) < 2 or getattr(self, name) % 2:
                raise ValueError(f"{name} must be even and at least 2, not {getattr(self, name)}: sides are swapped")
        if self.best_of < 1 or self.best_of % 2 == 0 or self.replays < 0:
            raise ValueError(f"best_of must be odd and replays at least 0, not {self.best_of} and {self.replays}")
        for name, opponent in self.opponents.items():
            if opponent.pairs < 1:
                raise ValueError(f"opponents.{name}.pairs must be at least 1, not {opponent.pairs}")
        for name in (self.anchor, *self.tables_against):
            if name not in self.opponents:
                raise ValueError(f"no opponent is called {name!r}; there are: {', '.join(self.opponents) or 'none'}")
        pairs = [self.anchor_pairs, self.table3_games // 2, self.table2_games // 2]
        pairs += [opponent.pairs for opponent in self.opponents.values()]
        wanted = max(*pairs, (self.best_of + self.replays + 1) // 2)
        if self.openings.count < wanted:
            raise ValueError(f"openings.count must be at least {wanted}: a match plays each opening once")

    def model_text(self, path: str) -> str:
        """Text of the player that a model is here."""
        more = f",{self.options}" if self.options else ""
        return f"zero:{path},simulations={self.simulations},search={self.search}{more}"

    def rated(self, generations: list[int]) -> list[int]:
        """Those of the generations, from 1 on, whose models play in the tables."""
        return sorted({*generations[:: self.every], generations[-1]})


@dataclass(frozen=True)
class GomokuGame:
    """Board and rules. Every model is made for one board size and one length of a line."""

    size: int = 15
    variant: str = "freestyle"
    """``freestyle`` (five or more win) or ``exact`` (just five); ``freestyle-4`` has lines of four."""

    def __post_init__(self) -> None:
        if not MIN_SIDE <= self.size <= MAX_SIDE:
            raise ValueError(f"size must be {MIN_SIDE} to {MAX_SIDE}, not {self.size}")
        line, _ = parse_variant(self.variant)
        if line > self.size:
            raise ValueError(f"a line of {line} (variant '{self.variant}') does not fit a board of size {self.size}")


@dataclass(frozen=True)
class GomokuGate:
    """The newly trained player against the best one; it takes its place if it scores more than half."""

    games: int = 20
    """Even: pairs with the sides swapped."""
    simulations: int = 300
    """Of a move, without noise and temperature."""
    search: Literal["puct", "gumbel"] = "puct"
    opening_plies: int = 2
    """Random stones before the players take over, the same in both games of a pair."""
    always: bool = False
    """The new player takes the place whatever the score, as in AlphaZero; the games are played for the record."""

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ValueError(f"games must be even and at least 2, not {self.games}")
        if self.simulations < 1 or self.opening_plies < 0:
            raise ValueError("simulations must be at least 1 and opening_plies at least 0")


SECTION = "gomoku_generations"


def read_numbers(path: Path | str = PARAMS_FILE) -> list[int]:
    """The numbers of the generations, from 1 on.

    Raises:
        ZugwerkError: the section is missing, or is not an unbroken row of generations.
    """
    section = read_tree(path).get(SECTION)
    if section == {} or not isinstance(section, dict) or section != wanted(len(section) + 1):
        raise ZugwerkError(
            f'{path}: {SECTION}: expected generations in a row, from "02": {{before: "01"}} on; '
            "`zugwerk gomoku generations N` writes them"
        )
    return list(range(1, len(section) + 2))


def wanted(count: int) -> dict[str, dict[str, Any]]:
    """The section for ``count`` generations."""
    return {f"{n:02d}": {"before": f"{n - 1:02d}"} for n in range(2, count + 1)}


@dataclass(frozen=True, kw_only=True)
class PlainParams:
    """Of the plain convolutional net, a small one for laptops."""

    filters: tuple[int, ...] = (32, 32, 32)
    """Of each 3x3 convolution in turn."""
    batch_norm: bool = True
    signed: bool = False
    """The net sees one plane, 1 on own stones, -1 on the other side's and 0 elsewhere, and nothing of the rest."""
    head: Literal["dense", "convolutional"] = "dense"
    """dense: fully connected layers, made for the board's size; convolutional: none of the layers knows that size."""
    policy_planes: int = 4
    """Filters before the policy's last layer."""
    value_planes: int = 2
    """Filters before the value's hidden layer."""
    value_hidden: int = 64
    """Units of the value's hidden layer."""

    def __post_init__(self) -> None:
        if not self.filters or min(self.filters) < 1:
            raise ValueError(f"filters must be one number or more, each at least 1, not {list(self.filters)}")
        _at_least(self, 1, "policy_planes", "value_planes", "value_hidden")


@dataclass(frozen=True, kw_only=True)
class ResidualParams:
    """Of the residual net; the defaults are the paper's."""

    stem_filters: int = 32
    """Of the first convolution."""
    stem_kernel: int = 5
    """Its side, odd."""
    widths: tuple[int, ...] = (64, 128, 256)
    """Filters of the blocks, rising."""
    blocks: int = 5
    """Of each width."""
    shortcut: Literal["pad", "project"] = "pad"
    """Where the width grows: zeros in the new channels, or a 1x1 convolution."""
    head_planes: int = 1
    """1x1 filters of the last convolution."""
    head_relu: bool = False
    """Whether a ReLU follows it."""
    value_hidden: int = 0
    """Units of a hidden layer before the value; 0 for none."""

    def __post_init__(self) -> None:
        widths = (self.stem_filters, *self.widths)
        if not self.widths or list(widths) != sorted(widths):
            raise ValueError(f"widths must rise from stem_filters on, not {list(widths)}")
        if self.stem_kernel % 2 == 0:
            raise ValueError(f"stem_kernel must be odd, not {self.stem_kernel}")
        _at_least(self, 1, "stem_filters", "stem_kernel", "blocks", "head_planes")
        _at_least(self, 0, "value_hidden")


@dataclass(frozen=True, kw_only=True)
class GomokuNet:
    """Which net, what it sees, and the sizes of each kind."""

    kind: Literal["plain", "residual"] = "plain"
    positions: int = 5
    """Of history that the net sees, the present one among them; the paper has 5."""
    plain: PlainParams = field(default_factory=PlainParams)
    residual: ResidualParams = field(default_factory=ResidualParams)

    def __post_init__(self) -> None:
        _at_least(self, 1, "positions")


def _at_least(params: object, least: int, *names: str) -> None:
    for name in names:
        if getattr(params, name) < least:
            raise ValueError(f"{name} must be at least {least}, not {getattr(params, name)}")


@dataclass(frozen=True)
class GomokuSelfPlay:
    """How the best player plays against itself."""

    games: int = 200
    """Of a generation."""
    group: int = 50
    """Games that a task plays in lock step. Fixed, so that the number of workers changes nothing."""
    first: Literal["search", "random"] = "search"
    """The first generation has no net: it searches with even priors and value 0, or plays uniformly random moves."""
    search: Literal["puct", "gumbel"] = "puct"
    """``gumbel`` is sequential halving at the root (Danihelka et al., 2022): better with few simulations."""
    simulations: int = 300
    """Of a move."""
    c: float = 1.0
    """c_puct, or what it begins at."""
    c_base: float = 0.0
    """c grows with a node's visits N by ln((1 + N + c_base) / c_base), as in AlphaZero, with 19652; 0: it does not."""
    fpu: float = 0.0
    """First-play urgency: how far below its node's Q an edge without visits begins, times sqrt(visited prior)."""
    own_visit: bool = True
    """The formula's N counts the node's own evaluation, as AlphaZero has it; False: only its edges, as published."""
    leaves: int = 1
    """Leaves of one tree in a batch of the net. More fill a GPU and cost some strength."""
    noise_alpha: float = 0.05
    """Of the Dirichlet noise on the root's prior; about 10 / (legal moves). Of puct alone."""
    noise_fraction: float = 0.25
    """Share of the root's prior that noise replaces; 0 is none. Of puct alone."""
    temperature_plies: int = 10
    """Plies at temperature 1: moves are drawn by their visits. Of puct alone."""
    temperature_decay: float = 0.9
    """Then the temperature falls by this factor a ply. Of puct alone."""
    decay_from_start: bool = False
    """It is temperature_decay^t at ply t of the game, so that it falls at once when those plies are over."""
    tempered_policy: bool = False
    """What is learnt is visits^(1 / temperature) too, not the visits. Of puct alone."""
    considered: int = 16
    """Actions that the root considers at first. Of gumbel alone."""
    c_visit: float = 50.0
    """Of gumbel alone."""
    c_scale: float = 1.0
    """Of gumbel alone."""
    rescale: bool = False
    """The search's Q of a position's moves go from 0 to 1 before c_scale weighs them. Of gumbel alone."""
    opening_plies: int = 0
    """A game begins with 0 to so many uniformly random stones."""
    backend: Literal["auto", "torch", "onnx", "onnx-int8", "cuda"] = "auto"
    chunk: int = 64
    """Positions of a forward pass; fewer are padded, so that an answer depends on its position alone."""

    def __post_init__(self) -> None:
        for name in ("games", "group", "simulations", "leaves", "considered", "chunk"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("c", "noise_alpha", "c_visit", "c_scale"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("c_base", "fpu", "temperature_plies", "opening_plies"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, not {getattr(self, name)}")
        for name in ("noise_fraction", "temperature_decay"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be 0 to 1, not {getattr(self, name)}")


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

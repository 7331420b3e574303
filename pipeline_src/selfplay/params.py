"""Params of learning by self-play that all games share, and the files of a generation."""

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.devices import MixedPrecision
from pipeline_src.project.params import (
    PARAMS_FILE,
    BelowOne,
    Count,
    Even,
    Fraction,
    Named,
    NonNegative,
    Params,
    Positive,
    Whole,
    read_value,
)

Search = Literal["puct", "gumbel"]
T = TypeVar("T")


def at_generation(values: Named[T], generation: int, usual: T) -> T:
    """The value of a generation, of values by the first one to which they apply; ``usual`` before all of them."""
    begun = [int(first) for first in values if int(first) <= generation]
    return values[str(max(begun))] if begun else usual


def check_generations(name: str, values: Named[Any]) -> None:
    """Refuse values of `at_generation` whose keys are no generations.

    Raises:
        ValueError: says which key of ``name`` it is.
    """
    for first in values:
        if not (first.isdecimal() and int(first) > 0):
            raise ValueError(f'{name}: {first} is not the number of a generation, such as "3"')
        if first != str(int(first)):
            raise ValueError(f"{name}: write generation {int(first)} without leading zeros, not {first}")


class SelfPlayParams(Params):
    """Self-play of the best player."""

    games: Count = 200
    """Number of games in a generation; published: 200."""
    rounds: Count = 1
    """Number of rounds in which a generation plays its games. The net trains after each, and the trained net plays the
    next one; the gate comes at the end. Published: 1."""
    search: Search = "puct"
    """Search of self-play. ``gumbel`` is sequential halving at the root (Danihelka et al., 2022), better with few
    simulations; published: puct."""
    simulations: Count = 300
    """Number of simulations of a move; published: 300, for growing boards 800."""
    simulations_from: Named[Count] | None = None
    """Numbers of simulations by the first generation to which they apply, e.g. {17: 224}, in place of `simulations`;
    null is none."""
    c: Positive = 1.0
    """Exploration constant c_puct, or its initial value; published for growing boards: 5."""
    c_base: NonNegative = 0.0
    """Base of the growth of c with a node's visits N: ln((1 + N + c_base) / c_base) is added; AlphaZero: 19652; 0:
    none."""
    own_visit: bool = True
    """Whether N in the formula includes the node's own evaluation, as in AlphaZero; published: false."""
    leaves: Count = 1
    """Number of leaves of one tree in a batch of the net. More leaves fill a GPU and cost some strength."""
    noise_alpha: Positive = 0.05
    """Concentration of the Dirichlet noise on the root's prior, about 10 / (legal moves); for puct only."""
    noise_fraction: Fraction = 0.25
    """Share of the root's prior that noise replaces; 0 is no noise; for puct only."""
    temperature_plies: Whole = 10
    """Number of plies at temperature 1, in which moves are drawn in proportion to their visits; for puct only."""
    temperature_decay: Fraction = 0.9
    """Factor of the temperature for each ply after `temperature_plies`; for puct only."""
    decay_from_start: bool = False
    """Whether the temperature after temperature_plies is temperature_decay^t with t counted from the game's start."""
    tempered_policy: bool = False
    """Whether the policy target is visits^(1 / temperature) instead of the visits; for puct only."""
    considered: Count = 16
    """Number of actions that the root considers at first; for gumbel only."""
    c_scale: Positive = 1.0
    """Weight of Q in the policy, times 50 + most visits (Danihelka et al., 2022, equation 8); published: 1.0, without
    rescaling of Q; for gumbel only."""
    rescale: bool = False
    """Whether the Q values of a position's moves are rescaled to 0..1 before c_scale applies; for gumbel only."""
    noise_steps: Count | None = None
    """Number of steps of a game that are chosen with noise; null is all of them; for gumbel only."""
    opening_plies: Whole = 0
    """Largest number of random plies at the start of a game. The number is drawn from 0 to this."""
    opening_bound: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Largest value of an opening for either side by the net that plays; worse ones are drawn again, up to twenty
    times. 1 accepts any."""

    @model_validator(mode="after")
    def _divides_its_games(self) -> Self:
        if self.games % self.rounds:
            raise ValueError(f"rounds must divide games, {self.games}, not {self.rounds}")
        check_generations("simulations_from", self.simulations_from or {})
        return self

    def at(self, generation: int) -> Self:
        """The params of a generation, counted from 1: `simulations` are its own."""
        found = at_generation(self.simulations_from or {}, generation, self.simulations)
        return self.model_copy(update={"simulations": found})


class TrainParams(MixedPrecision):
    """Training on the replay window after each generation's self-play. The paper does not print these numbers."""

    window: Count
    """Size of the replay window in positions, from the newest games."""
    passes: Positive
    """Mean number of times that a position is seen while it is in the window."""
    batch: Count
    """Number of positions in a step, drawn from the whole window."""
    augment: bool
    """Whether each position is seen under a random one of the eight symmetries of the board."""
    optimizer: Literal["adamw", "sgd"]
    """Optimizer; its state is kept between generations. sgd has Nesterov momentum; published for growing boards:
    sgd."""
    learning_rate: Positive
    """Learning rate of the first generation; published for growing boards: 0.01."""
    schedule: Named[Positive] | None = None
    """Factors of ``learning_rate`` by the first generation to which they apply, e.g. {12: 0.3, 20: 0.1}; null is
    none."""
    momentum: BelowOne = 0.9
    """Momentum of sgd; for adamw the decay of the running mean; published for growing boards: 0."""
    weight_decay: NonNegative = 0.0
    """Share of a weight that a step subtracts, times the learning rate; for adamw only."""
    l2: NonNegative = 0.0
    """c in the last term c ||theta||^2 of the published loss."""
    gradient_clip: Positive | None = None
    """Largest norm of the gradient over all weights; null is no limit."""
    averaged: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of a round's steps, the last ones, over which the weights are averaged: the net is their mean. 0 is the
    last step's weights, as published."""
    threads: Count = 1
    """Number of CPU threads of torch. For a small net a second one gains little, and on a busy machine it costs
    much."""
    log_steps: Count = 20
    """Number of steps over which a row of the learning curves averages."""
    checkpoint_steps: Count = 1000
    """Number of steps between checkpoints, and so the largest number that a kill can lose."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.num_nodes != 1:
            raise ValueError(
                "num_nodes must be 1: section parallel plays games on other machines, but training uses one"
            )
        if self.window < self.batch:
            raise ValueError(f"window {self.window} is smaller than batch {self.batch}")
        if self.optimizer == "sgd" and self.weight_decay:
            raise ValueError("weight_decay is for adamw only; with sgd use l2")
        check_generations("schedule", self.schedule or {})
        return self

    def rate(self, generation: int) -> float:
        """Learning rate in a generation, counted from 1."""
        return self.learning_rate * at_generation(self.schedule or {}, generation, 1.0)

    def steps(self, new_positions: int) -> int:
        """Return the number of steps, at least one, for a generation with this many new positions."""
        return max(1, round(self.passes * new_positions / self.batch))


class GateParams(Params):
    """Games of the new player against the best one. With a score above one half, the new player replaces the best."""

    games: Even = 20
    """Number of games, in pairs with the sides swapped."""
    simulations: Count = 300
    """Number of PUCT simulations of a move, without noise and temperature."""
    opening_plies: Whole = 2
    """Number of random plies before the players take over, the same in both games of a pair."""
    always: bool = False
    """Whether the new player always replaces the best, as in AlphaZero. The games are then played for the record
    only."""


class GenerationParams(Params):
    """One generation of self-play after the first."""

    before: str
    """Name of the generation before it."""


def read_numbers(section: str, remedy: str, path: Path | str = PARAMS_FILE) -> list[int]:
    """The numbers of the generations of a section, from 1 on; ``remedy`` tells the user what to do if they are wrong.

    Raises:
        ZugwerkError: the section is missing, or is not an unbroken row of generations.
    """
    found = read_value(section, path)
    if found == {} or not isinstance(found, dict) or found != wanted(len(found) + 1):
        raise ZugwerkError(
            f'{path}: {section}: expected generations in a row, from "02": {{before: "01"}} on; {remedy}'
        )
    return list(range(1, len(found) + 2))


def wanted(count: int) -> dict[str, dict[str, str]]:
    """The section for ``count`` generations."""
    return {f"{n:02d}": {"before": f"{n - 1:02d}"} for n in range(2, count + 1)}


ARTIFACTS = Path("artifacts")


class GenerationFiles:
    """The files of one generation; the first is number 1."""

    of: ClassVar[str]  # Whose they are, as folders have it
    reports: ClassVar[str] = ""  # The same for reports, if it is another name

    def __init__(self, number: int, artifacts: Path = ARTIFACTS) -> None:
        self.number, self.name, self.artifacts, of = number, f"{number:02d}", artifacts, self.of
        self.games = artifacts / f"records/{of}/self_play" / f"{self.name}.parquet"  # Records of the self-play games
        self.gate_games = artifacts / f"records/{of}/gate" / f"{self.name}.parquet"  # Of those against the best player
        self.window = artifacts / f"samples/{of}" / self.name  # The replay window: the games it trained on
        self.models = artifacts / f"models/{of}" / self.name  # Folder of the models
        self.model = self.models / "model.pt"  # The net that this generation trained, whether or not it became the best
        self.best = self.models / "best.pt"  # The best player after this generation's gate
        self.learner = self.models / "learner.pt"  # State of the optimizer
        self.report = artifacts / f"reports/{self.reports or of}/generations" / f"{self.name}.json"  # Metrics
        self.curves = self.report.with_suffix(".csv")  # Losses by step
        self.timings = self.report.with_suffix(".timings.json")
        """Seconds, hardware and the key of the generation's inputs. Written last, and not an output of the graph."""

    @property
    def before(self) -> "Self | None":
        """The generation before, None for the first one."""
        return type(self)(self.number - 1, self.artifacts) if self.number > 1 else None


class Setting(Params):
    """All params of a generation; a game's own model narrows the sections."""

    seed: int
    game: Any
    """Board and rules, with ``variant`` and ``size_of``, the side of the board of a generation."""
    net: Any
    self_play: SelfPlayParams
    train: TrainParams
    gate: GateParams

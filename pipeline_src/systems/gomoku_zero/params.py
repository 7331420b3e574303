"""Params of Gomoku by self-play: board and rules, net, self-play, training, gate and generations.

Sections ``gomoku_*`` are read by this system; growing boards read the same models from sections of their own.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import MAX_SIDE, MIN_SIDE, parse_variant
from pipeline_src.learning.devices import Devices
from pipeline_src.project.params import (
    PARAMS_FILE,
    BelowOne,
    Count,
    Even,
    Fraction,
    Items,
    Named,
    NonNegative,
    Params,
    Positive,
    Whole,
    read_tree,
)

Side = Annotated[int, Field(ge=MIN_SIDE, le=MAX_SIDE)]
Search = Literal["puct", "gumbel"]
Layers = Annotated[Items[Count], Field(min_length=1)]


class GomokuGame(Params):
    """Board and rules; each model is made for one board size and one length of a line."""

    size: Side = 15
    """Side of the board; published: 15."""
    variant: str = "freestyle"
    """``freestyle`` (five or more win) or ``exact`` (just five); ``freestyle-4`` has lines of four."""

    @model_validator(mode="after")
    def _line_fits(self) -> Self:
        line, _ = parse_variant(self.variant)
        if line > self.size:
            raise ValueError(f"a line of {line} (variant '{self.variant}') does not fit a board of size {self.size}")
        return self


class PlainParams(Params):
    """The plain convolutional net, a small one for laptops."""

    filters: Layers = (32, 32, 32)
    """Filters of each 3x3 convolution in turn; published for growing boards: 32, 64, 128."""
    batch_norm: bool = True
    """Batch normalization after each convolution; published for growing boards: false."""
    signed: bool = False
    """The net sees one plane, 1 on own stones, -1 on the other side's and 0 elsewhere, and nothing of the rest."""
    head: Literal["dense", "convolutional"] = "dense"
    """dense: fully connected layers, made for the board's size; convolutional: none of the layers knows that size."""
    policy_planes: Count = 4
    """Filters before the policy's last layer."""
    value_planes: Count = 2
    """Filters before the value's hidden layer."""
    value_hidden: Count = 64
    """Units of the value's hidden layer."""


class ResidualParams(Params):
    """The residual net; the defaults are the paper's."""

    stem_filters: Count = 32
    """Filters of the first convolution."""
    stem_kernel: Count = 5
    """Side of the first convolution, odd."""
    widths: Layers = (64, 128, 256)
    """Filters of the blocks, rising."""
    blocks: Count = 5
    """Blocks of each width, of two convolutions each."""
    shortcut: Literal["pad", "project"] = "pad"
    """Where the width grows: zeros in the new channels, or a 1x1 convolution."""
    head_planes: Count = 1
    """1x1 filters of the last convolution."""
    head_relu: bool = False
    """Whether a ReLU follows it."""
    value_hidden: Whole = 0
    """Units of a hidden layer before the value; 0 for none."""

    @model_validator(mode="after")
    def _has_a_shape(self) -> Self:
        widths = [self.stem_filters, *self.widths]
        if widths != sorted(widths):
            raise ValueError(f"widths must rise from stem_filters on, not {widths}")
        if self.stem_kernel % 2 == 0:
            raise ValueError(f"stem_kernel must be odd, not {self.stem_kernel}")
        return self


class GomokuNet(Params):
    """The net that self-play trains: its kind, what it sees, and the sizes of each kind."""

    kind: Literal["plain", "residual"] = "plain"
    """Published: residual; for growing boards: plain."""
    positions: Count = 5
    """Positions of history that the net sees, the present one among them; published: 5."""
    plain: PlainParams = PlainParams()
    """Sizes of the plain net."""
    residual: ResidualParams = ResidualParams()
    """Sizes of the residual net."""


class GomokuSelfPlay(Params):
    """Self-play of the best player."""

    games: Count = 200
    """Games of a generation; published: 200."""
    group: Count = 50
    """Games that a task plays in lock step; fixed, so that the number of workers changes nothing."""
    first: Literal["search", "random"] = "search"
    """The first generation has no net: it searches with even priors and value 0, or plays uniformly random moves."""
    search: Search = "puct"
    """``gumbel`` is sequential halving at the root (Danihelka et al., 2022), better with few simulations; published:
    puct."""
    simulations: Count = 300
    """Simulations of a move; published: 300, for growing boards 800."""
    c: Positive = 1.0
    """c_puct, or its value at the start; published for growing boards: 5."""
    c_base: NonNegative = 0.0
    """c grows with a node's visits N by ln((1 + N + c_base) / c_base), as in AlphaZero, with 19652; 0: it does not."""
    fpu: NonNegative = 0.0
    """First-play urgency: how far below its node's Q an edge without visits begins, times sqrt(visited prior)."""
    own_visit: bool = True
    """The formula's N counts the node's own evaluation, as AlphaZero has it; false: only its edges, as published."""
    leaves: Count = 1
    """Leaves of one tree in a batch of the net; more fill a GPU and cost some strength."""
    noise_alpha: Positive = 0.05
    """Concentration of the Dirichlet noise on the root's prior, about 10 / (legal moves); for puct alone."""
    noise_fraction: Fraction = 0.25
    """Share of the root's prior that noise replaces; 0 is none; for puct alone."""
    temperature_plies: Whole = 10
    """Plies at temperature 1, in which moves are drawn by their visits; for puct alone."""
    temperature_decay: Fraction = 0.9
    """Factor by which the temperature falls each ply after those; for puct alone."""
    decay_from_start: bool = False
    """The temperature is temperature_decay^t at ply t of the game, so that it falls at once after temperature_plies."""
    tempered_policy: bool = False
    """The policy learnt is visits^(1 / temperature) too, not the visits; for puct alone."""
    considered: Count = 16
    """Actions that the root considers at first; for gumbel alone."""
    c_visit: Positive = 50.0
    """Q weighs (c_visit + most visits) * c_scale (Danihelka et al., 2022, equation 8); for gumbel alone."""
    c_scale: Positive = 1.0
    """See c_visit; published: 1.0, where Q is not rescaled; for gumbel alone."""
    rescale: bool = False
    """The search's Q of a position's moves go from 0 to 1 before c_scale weighs them; for gumbel alone."""
    opening_plies: Whole = 0
    """A game begins with 0 to so many uniformly random stones."""
    backend: Literal["auto", "torch", "onnx", "onnx-int8", "cuda"] = "auto"
    """Program that runs the net; auto is cuda where there is a GPU, else onnx where it is installed, else torch."""
    chunk: Count = 64
    """Positions of a forward pass; fewer are padded, so that an answer depends on its position alone."""


class GomokuTrainParams(Devices):
    """Training after each generation's self-play, on the replay window; the paper prints none of these."""

    window: Count
    """Positions of the newest games that are kept to train on."""
    passes: Positive
    """Times that a position is seen on average while it is in the window."""
    batch: Count
    """Positions in a step, drawn from the whole window."""
    augment: bool
    """Each drawn position under a random one of the board's eight symmetries."""
    optimizer: Literal["adamw", "sgd"]
    """sgd is with Nesterov momentum; its state goes on from generation to generation; published for growing boards:
    sgd."""
    learning_rate: Positive
    """Rate of the first generation; published for growing boards: 0.01."""
    schedule: Named[Positive] | None = None
    """From a generation on, the factor on ``learning_rate``, e.g. {12: 0.3, 20: 0.1}; null is constant."""
    momentum: BelowOne = 0.9
    """Momentum of sgd; for adamw the decay of the running mean; published for growing boards: 0."""
    rho: BelowOne = 0.999
    """Decay of the running mean square, for adamw."""
    weight_decay: NonNegative = 0.0
    """Share of a weight taken off it in a step, times the learning rate; for adamw alone."""
    l2: NonNegative = 0.0
    """c of the published loss, whose last term is c ||theta||^2."""
    value_weight: NonNegative = 1.0
    """Factor on the value's part of the loss; published: 1."""
    gradient_clip: Positive | None = None
    """Longest gradient, its norm over all weights; null is any."""
    threads: Count = 1
    """Threads of torch on the CPU; on a small net a second one gains little, and on a busy machine it costs a lot."""
    precision: Literal["auto", "32-true", "bf16-mixed"] = "auto"
    """auto is bf16-mixed on a GPU and 32-true elsewhere."""
    log_steps: Count = 20
    """Steps that a row of the learning curves is the mean of."""
    checkpoint_steps: Count = 1000
    """Steps between checkpoints; at most so many are lost by a kill."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.num_nodes != 1:
            raise ValueError(
                "num_nodes must be 1: games go to other machines by the section parallel, training does not"
            )
        if self.window < self.batch:
            raise ValueError(f"window {self.window} is smaller than batch {self.batch}")
        if self.optimizer == "sgd" and self.weight_decay:
            raise ValueError("weight_decay is of adamw alone; with sgd use l2")
        for start, factor in (self.schedule or {}).items():
            if not (start.isdecimal() and int(start) > 0):
                raise ValueError(f"schedule: {start}: {factor} is not a generation and a factor above 0")
        return self

    def rate(self, generation: int) -> float:
        """Learning rate in a generation, counted from 1."""
        begun = {int(start): factor for start, factor in (self.schedule or {}).items() if int(start) <= generation}
        return self.learning_rate * (begun[max(begun)] if begun else 1.0)

    def steps(self, new_positions: int) -> int:
        """Steps of a generation that brought so many positions; at least one."""
        return max(1, round(self.passes * new_positions / self.batch))


class GomokuGate(Params):
    """Games of the newly trained player against the best one, whose place it takes if it scores more than half."""

    games: Even = 20
    """Games, in pairs with the sides swapped."""
    simulations: Count = 300
    """Simulations of a move, without noise and temperature."""
    search: Search = "puct"
    """The players' search, see gomoku_self_play."""
    opening_plies: Whole = 2
    """Random stones before the players take over, the same in both games of a pair."""
    always: bool = False
    """The new player takes the place whatever the score, as in AlphaZero; the games are played for the record."""


class GomokuGeneration(Params):
    """One generation of self-play after the first."""

    before: str
    """Name of the generation before it."""


SECTION = "gomoku_generations"
"""Maps the name of each generation after the first to the one before it: dvc.yaml makes a stage of each."""


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


def wanted(count: int) -> dict[str, dict[str, str]]:
    """The section for ``count`` generations."""
    return {f"{n:02d}": {"before": f"{n - 1:02d}"} for n in range(2, count + 1)}

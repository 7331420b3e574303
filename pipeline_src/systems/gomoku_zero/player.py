"""A self-play net with a tree search as a player: ``zero:MODEL``."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku import MAX_SIDE, PLY, GomokuState, format_variant, parse_variant
from pipeline_src.jit import Need
from pipeline_src.players.packaged import PackagedNet, nets_by_board
from pipeline_src.players.player import NO_BOUNDS, Bounds, OneBoard, Player, Position, Thought
from pipeline_src.players.searching import ByBoard, Nodes, SearchPlayer
from pipeline_src.project.params import Count, NonNegative
from pipeline_src.search.limits import Limit, OnInfo
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Between, Puct
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees, sample_step
from pipeline_src.search.tables import LINES
from pipeline_src.systems.gomoku_zero import ModelInfo
from pipeline_src.systems.gomoku_zero.evaluator import BackendName, make_evaluator

NAME = "zero"
Around = Callable[[EvaluateBatch, ModelInfo], tuple[EvaluateBatch, Between | None]]
TREE, FAST_TREE = 1 << 14, 1 << 18
"""Number of nodes of a tree if only time limits the search; with a line net, which fills a tree in less time."""


class ZeroPlayer(SearchPlayer):
    """Searches all positions in lock step, so that the net sees them as one batch; on time, one by one."""

    def __init__(
        self,
        searcher: Puct,
        limit: Limit,
        info: ModelInfo,
        considered: int | None = None,
        temperature: float = 0.0,
        plies: float = math.inf,
        policy: bool = False,
        any_size: bool = False,
    ) -> None:
        """How to play.

        Args:
            searcher: for one position at a time.
            limit: of a move, unless the game is played on a clock.
            info: of the model.
            considered: None for PUCT; else the root's actions are so many at first, halved in turn (Danihelka et al.,
                2022). Where time limits the search it is PUCT: halving needs to know the number of simulations.
            temperature: moves are drawn by their visits^(1 / temperature), by the game's own generator; 0 plays the
                most visited one. Where time limits the search, always that one.
            plies: of a game for which the temperature holds; later it is 0.
            policy: whether moves come from the net's policy, without a search, in place of visits.
            any_size: whether it plays on boards of other sizes than the model's.
        """
        super().__init__(searcher, limit)
        self.policy, self.searches, self.any_size = policy, not policy, any_size
        self.puct, self.info, self.considered = searcher, info, considered
        self.boards = (OneBoard(info.height, info.width, info.variant),)
        self.temperature, self.plies = temperature, plies
        self._trees: PuctTrees | None = None

    def check(self, state: GomokuState) -> None:
        """See `Player.check`."""
        check_state(self.info, state, self.any_size)

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`.

        Raises:
            ZugwerkError: a position of another board size or variant than the model's.
        """
        for position in positions:
            self.check(position.state)
        one_by_one = self.limit.movetime_ms is not None or any(position.clock is not None for position in positions)
        one_by_one |= self.puct.between is not None
        if one_by_one and not self.policy:
            return super().consider(positions)
        found, shapes = dict[int, Thought](), [position.state.board.shape for position in positions]
        for shape in dict.fromkeys(shapes):
            at = [k for k, other in enumerate(shapes) if other == shape]
            actions = self._choose_together([positions[k] for k in at])
            found.update(zip(at, map(Thought, actions), strict=True))
        return [found[k] for k in range(len(positions))]

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:
        """See `Player.think`; moves are drawn and halved here too, unless a limit is given from outside."""
        own = self.limit.movetime_ms is None and bounds == NO_BOUNDS and position.clock is None
        chosen = self.policy or (own and (self.temperature > 0 or self.considered is not None))
        return self.consider([position])[0] if chosen else super().think(position, bounds, on_info)

    def new_game(self) -> None:
        """See `Player.new_game`."""
        self.puct.forget()

    def needs(self, start: GomokuState) -> list[Need]:
        """See `Player.needs`."""
        halving = PuctTrees(start, 1, self.puct.evaluate_batch, self.puct.options, 1).needs(tables=True)
        return [*super().needs(start), *(halving if self.considered is not None else [])]

    def _choose_together(self, positions: Sequence[Position]) -> list[int]:
        trees, simulations = self._room(positions), self.limit.nodes or 0
        for g, position in enumerate(positions):
            trees.plant(g, position.state)
        if self.considered is not None:
            return _halve(trees, len(positions), self.considered, simulations)
        targets = np.full(trees.count, -1, np.int32)
        targets[: len(positions)] = simulations
        trees.simulate(targets)
        return [self._pick(trees, g, position) for g, position in enumerate(positions)]

    def _room(self, positions: Sequence[Position]) -> PuctTrees:
        puct, state, trees = self.puct, positions[0].state, self._trees
        if trees is None or trees.count < len(positions) or trees.roots.board.shape[1:] != state.board.shape:
            count, options, nodes = len(positions), puct.options, puct.nodes
            trees = PuctTrees(state, count, puct.evaluate_batch, options, nodes, per_tree=puct.per_tree)
            self._trees = trees
        return trees

    def _weights(self, trees: PuctTrees, g: int) -> Any:
        return trees.priors(g) if self.policy else trees.visits(g)

    def _pick(self, trees: PuctTrees, g: int, position: Position) -> int:
        steps, weights = trees.steps(g), self._weights(trees, g)
        if self.temperature > 0 and position.state.turn[PLY] < self.plies and weights.any():
            return sample_step(steps, weights, position.rng, self.temperature)
        return int(steps[trees.best(g)])


def _halve(trees: PuctTrees, count: int, considered: int, simulations: int) -> list[int]:
    """The actions of the first ``count`` trees by sequential halving, without noise."""
    from pipeline_src.search.mcts.gumbel import GumbelTrees

    found = GumbelTrees(trees, considered, simulations).search(range(count), None)
    return [int(step) for step in found.steps]


class ZeroOptions(Nodes):
    """``zero`` without searches for forced wins."""

    EXAMPLE = "zero:artifacts/models/gomoku/10/best.pt,simulations=300"
    VALUE = "model"
    ALIASES: ClassVar[Mapping[str, str]] = {"simulations": "nodes"}
    DEFAULT = Limit(nodes=300)

    model: str = ""
    """A ``model.pt``, or an export of it by `zugwerk export`; by default the packaged net of the board."""
    search: Literal["puct", "gumbel", "none"] = "puct"
    """puct, or gumbel: sequential halving at the root, for a limit of simulations only, or none: the net's policy."""
    considered: Count = 16
    """Number of actions that the root considers at first; for gumbel only."""
    c: NonNegative = 1.0
    """Exploration constant c_puct, or its initial value."""
    c_base: NonNegative = 0.0
    """Base of the growth of c with the visits N of a node: ln((1 + N + c_base) / c_base) is added; 0 is no growth."""
    fpu: float = 0.0
    """First-play urgency: an unvisited edge has its node's Q less fpu * sqrt(visited prior)."""
    caution: NonNegative = 0.0
    """The move played is the one with the greatest Q - caution / sqrt(visits); 0 is the most visited one."""
    leaves: Count = 1
    """Number of leaves of one tree in a batch."""
    backend: BackendName = "auto"
    """Program that runs the net; auto is cuda with a GPU, else onnx if it is installed, else torch."""
    chunk: Count = 1
    """Batch size of the net; smaller batches are padded. 1 suits a single game, 8 many games at once."""
    threads: Count = 1
    """Number of CPU threads: of the net, or with a line net of a search with no limit of simulations."""
    temperature: NonNegative = 0.0
    """Moves are drawn in proportion to visits^(1 / temperature), or without a search to the policy's probabilities to
    that power; 0 plays the most visited or the most probable move."""
    temperature_plies: Annotated[float, Field(ge=0, allow_inf_nan=True)] = math.inf
    """Number of plies of a game with this temperature; afterwards it is 0."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.search == "none" and (self.nodes, self.movetime) != (None, None):
            raise ValueError("search=none has no simulations and no movetime")
        if self.search == "gumbel" and (self.movetime is not None or self.temperature > 0):
            raise ValueError("search=gumbel needs a limit of simulations and excludes movetime and temperature")
        if self.temperature > 0 and self.movetime is not None:
            raise ValueError("temperature needs a limit of simulations, not of time")
        return self


def zero_player(options: ZeroOptions) -> Player:
    """The player ``zero`` with the net alone.

    Raises:
        ZugwerkError: no model there, or a backend that cannot run it.
    """
    return open_player(options)


def open_player(options: ZeroOptions, around: Around | None = None) -> Player:
    """Make a player with its net inside an evaluator from ``around``, which may prove results (`PuctOptions.solve`).

    What else proves them comes with the evaluator.

    Raises:
        ZugwerkError: no model there, or a backend that cannot run it.
    """
    if options.model:
        return _with_model(options, options.model, around)

    def with_net(net: PackagedNet) -> ZeroPlayer:
        player = _with_model(options, net.checked(), around)
        net.check_board(player.boards[0])
        return player

    nets = nets_by_board("gomoku")
    lending = [board for board, net in nets.items() if net.file.suffix == LINES]  # a line net plays on any size

    def board_of(state: GomokuState) -> OneBoard:
        """The board itself, or one whose line net plays there: the largest for the rule."""
        height, width = state.board.shape
        board = OneBoard(height, width, format_variant(state))
        return board if board in nets else max((one for one in lending if one.variant == board.variant), default=board)

    lent = [
        OneBoard(side, side, one.variant)
        for one in lending
        for side in range(parse_variant(one.variant)[0], MAX_SIDE + 1)
    ]
    searches = options.search != "none"
    limit = options.limit if searches else None
    boards = tuple(dict.fromkeys([*nets, *lent]))
    return ByBoard("zero", nets, with_net, board_of, searches=searches, limit=limit, boards=boards)


def _with_model(options: ZeroOptions, model: str, around: Around | None) -> ZeroPlayer:
    policy = options.search == "none"
    limit = Limit(nodes=1) if policy else options.limit
    evaluate: EvaluateBatch
    evaluate, info = make_evaluator(model, options.backend, options.chunk, options.threads)
    between: Between | None = None
    if around is not None:
        evaluate, between = around(evaluate, info)
    solve = around is not None and options.search == "puct"
    formula = PuctOptions(options.c, options.c_base, options.fpu, options.caution, solve=solve, share=solve)
    tree = FAST_TREE if info.kind == "lines" else TREE
    nodes = tree if limit.nodes is None else limit.nodes + 2
    searcher = Puct(evaluate, formula, nodes, options.leaves, threads=options.threads, between=between)
    considered = options.considered if options.search == "gumbel" else None
    drawn = options.temperature, options.temperature_plies
    any_size = info.kind == "lines" and options.backend == "auto"  # its kernel knows the board of the training
    return ZeroPlayer(searcher, limit, info, considered, *drawn, policy, any_size)


def check_state(info: ModelInfo | OneBoard, state: GomokuState, any_size: bool = False) -> None:
    """Refuse a position that is not of the model's board and rules; ``any_size``: or only of its rules.

    Raises:
        ZugwerkError: says which they are.
    """
    height, width = state.board.shape
    if (height, width) != (info.height, info.width) and not any_size:
        raise ZugwerkError(f"a {height}x{width} board, but this model plays on {info.height}x{info.width}")
    variant = format_variant(state)
    if variant != info.variant:
        raise ZugwerkError(f"variant {variant} of Gomoku, but this model plays {info.variant}")


# Outputs of a self-play net for one position, before and after a search, for pictures.


Shares = npt.NDArray[np.float64]  # [N], by cell; they sum to 1


@dataclass(frozen=True)
class PositionView:
    """A position as the net sees it, and as a search sees it; win rates are those of the side to move."""

    policy: Shares  # The net's probabilities of the moves
    win_rate: float  # By the net, a draw counting half
    visits: Shares  # Shares of the search's visits
    win_rate_searched: float  # Mean over the search


class ZeroView:
    """Asks one model; the search is the PUCT of the player ``zero``, with its defaults and without noise."""

    def __init__(self, path: Path | str, simulations: int) -> None:
        """Load the model, to run on one thread of the CPU: a ``.pt`` always in torch.

        Raises:
            ZugwerkError: no such model, or a damaged one.
        """
        self.evaluator, self.info = make_evaluator(path, "torch" if Path(path).suffix == ".pt" else "auto")
        self.simulations = simulations

    def view(self, state: GomokuState) -> PositionView:
        """Return the view of an unfinished position.

        Raises:
            ZugwerkError: another board size or variant than the model's, or the game is over.
        """
        check_state(self.info, state)
        trees = PuctTrees(state, 1, self.evaluator, PuctOptions(c=1.0, c_base=0.0), self.simulations + 2)
        trees.plant(0, state)
        trees.simulate(np.array([self.simulations], np.int32))
        steps, visits = trees.steps(0), trees.visits(0)
        policy, shares = np.zeros(state.board.size), np.zeros(state.board.size)
        policy[steps] = trees.priors(0)
        shares[steps] = visits / max(visits.sum(), 1)
        return PositionView(policy, _rate(trees.raw_value(0)), shares, _rate(trees.value(0)))


def _rate(value: float) -> float:
    """-1..1 as 0..1; a net's last layer may round just past the ends."""
    return min(max((1 + value) / 2, 0.0), 1.0)

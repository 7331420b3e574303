"""A self-play net with a tree search as a player: ``zero:MODEL``."""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.gomoku.board import PLY, GomokuState, format_variant
from pipeline_src.players.packaged import model_path
from pipeline_src.players.player import PlayerText, Position
from pipeline_src.players.searching import SearchPlayer, read_limit, with_nodes
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import Puct
from pipeline_src.search.mcts.puct_forest import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees, sample_step
from pipeline_src.systems.gomoku_zero.backends import BackendName, ModelInfo, empty_state, open_backend
from pipeline_src.systems.gomoku_zero.evaluator import ZeroEvaluator

PACKAGED = Path(__file__).parent / "weights/gomoku.pt"
DEFAULT = Limit(nodes=300)
"""The paper's."""
CHUNK = 8
"""Rows of the net's batches: most of ONNX Runtime's speed, and little lost where a single game is played."""
TREE = 1 << 14
"""Nodes of a tree where only time limits the search."""
WHOLE = ("considered", "chunk", "leaves", "threads")


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
        """
        super().__init__(searcher, limit)
        self.puct, self.info, self.considered = searcher, info, considered
        self.temperature, self.plies = temperature, plies
        self._trees: PuctTrees | None = None

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`.

        Raises:
            ZugwerkError: a position of another board size or variant than the model's.
        """
        for position in positions:
            check_state(self.info, position.state)
        if self.limit.movetime_ms is not None or any(position.clock is not None for position in positions):
            return super().choose(positions)
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
        if self._trees is None or self._trees.count < len(positions):
            puct = self.puct
            self._trees = PuctTrees(
                positions[0].state,
                len(positions),
                puct.evaluate_batch,
                puct.options,
                puct.nodes,
                per_tree=puct.per_tree,
            )
        return self._trees

    def _pick(self, trees: PuctTrees, g: int, position: Position) -> int:
        steps, visits = trees.steps(g), trees.visits(g)
        if self.temperature > 0 and position.state.turn[PLY] < self.plies and visits.any():
            return sample_step(steps, visits, position.rng, self.temperature)
        return int(steps[trees.best(g)])


def _halve(trees: PuctTrees, count: int, considered: int, simulations: int) -> list[int]:
    """The actions of the first ``count`` trees by sequential halving, without noise."""
    from pipeline_src.search.mcts.gumbel import GumbelTrees

    found = GumbelTrees(trees, considered, simulations).search(range(count), None)
    return [int(step) for step in found.steps]


def zero_player(text: PlayerText) -> ZeroPlayer:
    """``zero[:MODEL][,simulations=N,movetime=MS,search=puct|gumbel,c=...,fpu=...,leaves=N,backend=...,chunk=N,...]``.

    MODEL is a ``model.pt``, or what `zugwerk export` makes of it; without one, the net that comes with the package.
    ``simulations`` (or ``nodes``) and ``movetime`` limit a move; ``leaves`` of a tree go into one batch, whose rows are
    padded to ``chunk``; ``backend`` is one of `open_backend`, ``threads`` those of the CPU; ``considered``, of gumbel
    alone, ``temperature`` and ``temperature_plies`` are those of `ZeroPlayer`. With ``solver`` each leaf is also looked
    at by threats, so many positions of them; 0 is not at all.

    Raises:
        ZugwerkError: no such file, an unknown option, or one out of its range.
    """
    words, text = _words(with_nodes(text, "simulations"))
    nan = math.nan
    numbers = text.numbers(
        depth=nan,
        nodes=nan,
        movetime=nan,
        c=1.0,
        c_base=0.0,
        fpu=0.0,
        leaves=1,
        considered=16,
        chunk=CHUNK,
        threads=1,
        temperature=0.0,
        temperature_plies=math.inf,
        solver=0,
    )
    limit = read_limit(text, numbers, DEFAULT)
    _check(text, numbers, limit, words["search"])
    backend: Any = words["backend"]
    opened = open_backend(model_path(text, PACKAGED), backend, int(numbers["threads"]))
    evaluate: Any = ZeroEvaluator(opened, opened.info.positions, int(numbers["chunk"]))
    if numbers["solver"]:
        evaluate = ProvingEvaluator(evaluate, int(numbers["solver"]))
    options = PuctOptions(c=numbers["c"], c_base=numbers["c_base"], fpu=numbers["fpu"])
    searcher = Puct(evaluate, options, TREE if limit.nodes is None else limit.nodes + 2, int(numbers["leaves"]))
    searcher.search(empty_state(opened.info), Limit(nodes=2))  # compiled before any clock runs
    considered = int(numbers["considered"]) if words["search"] == "gumbel" else None
    return ZeroPlayer(searcher, limit, opened.info, considered, numbers["temperature"], numbers["temperature_plies"])


def check_state(info: ModelInfo, state: GomokuState) -> None:
    """Refuse a position that is not of the model's board and rules.

    Raises:
        ZugwerkError: says which they are.
    """
    height, width = state.board.shape
    if (height, width) != (info.height, info.width):
        raise ZugwerkError(f"a {height}x{width} board, but this model plays on {info.height}x{info.width}")
    variant = format_variant(state)
    if variant != info.variant:
        raise ZugwerkError(f"variant {variant} of Gomoku, but this model plays {info.variant}")


def _words(text: PlayerText) -> tuple[dict[str, str], PlayerText]:
    """The options that are words, and the text without them."""
    known = {"search": ("puct", "gumbel"), "backend": get_args(BackendName)}
    words = {name: text.options.get(name, choices[0]) for name, choices in known.items()}
    for name, word in words.items():
        if word not in known[name]:
            raise ZugwerkError(f"player '{text.name}': {name} is one of {', '.join(known[name])}, not {word!r}")
    rest = {key: setting for key, setting in text.options.items() if key not in known}
    return words, dataclasses.replace(text, options=rest)


def _check(text: PlayerText, numbers: dict[str, float], limit: Limit, search: str) -> None:
    if limit.depth is not None:
        raise ZugwerkError(f"player '{text.name}' cannot be limited by depth; give simulations or movetime")
    for name in WHOLE:
        if not (numbers[name] >= 1 and numbers[name] == int(numbers[name])):
            raise ZugwerkError(f"player '{text.name}': {name} must be whole and at least 1, not {numbers[name]}")
    if not (0 <= numbers["solver"] < 1 << 30 and numbers["solver"] == int(numbers["solver"])):
        raise ZugwerkError(f"player '{text.name}': solver must be a whole number from 0, not {numbers['solver']}")
    for name in ("temperature", "temperature_plies"):
        if not numbers[name] >= 0:
            raise ZugwerkError(f"player '{text.name}': {name} must be at least 0, not {numbers[name]}")
    if search == "gumbel" and (limit.movetime_ms is not None or numbers["temperature"] > 0):
        raise ZugwerkError(
            f"player '{text.name}': search=gumbel needs simulations, and knows neither time nor temperature"
        )
    if numbers["temperature"] > 0 and limit.movetime_ms is not None:
        raise ZugwerkError(f"player '{text.name}': temperature needs a limit of simulations, not of time")

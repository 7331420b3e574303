"""The best player against itself, many games in lock step."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.games.game import Game
from pipeline_src.search.mcts.batches import stack
from pipeline_src.search.mcts.gumbel import GumbelTrees
from pipeline_src.search.mcts.puct_forest import PuctOptions
from pipeline_src.search.mcts.puct_trees import Answer, EvaluateBatch, Leaves, PuctTrees, sample_step
from pipeline_src.systems.gomoku_zero.params import GomokuSelfPlay

COLDEST = 0.01
"""Below this temperature the most visited action is played."""

Policy = npt.NDArray[np.float32]
Choice = Generator[Leaves, Answer, list[tuple[int, Policy]]]
Result = TypeVar("Result")


@dataclass
class SelfPlayGame:
    """One game, under way or finished."""

    state: Any
    rng: np.random.Generator
    """All that is random in this game comes from it."""
    opening: int
    """Random plies before the first search."""
    actions: list[int]
    policies: list[Policy] = field(default_factory=list)
    """Policy of the search at each searched ply: float32 [N], summing to 1."""


def play_self(
    game: Game,
    start: Any,
    evaluate: EvaluateBatch,
    params: GomokuSelfPlay,
    seeds: Sequence[Sequence[int]],
    parts: int = 1,
) -> list[SelfPlayGame]:
    """Play one game from ``start`` to its end for each seed, all in lock step.

    A game depends on its own seed only, if the evaluator's answers do not depend on the other games.

    Args:
        game: the rules.
        start: an unfinished position.
        evaluate: where it can `submit` and `wait`, the trees of one part are searched while it works for another.
        params: the section.
        seeds: of each game.
        parts: number of independent lock steps that share the games; 2 keep a GPU busy.
    """
    groups = [list(seeds[part::parts]) for part in range(min(parts, len(seeds)))]
    played = answer_in_turn([_rounds(game, start, evaluate, params, group) for group in groups], evaluate)
    return [played[i % len(groups)][i // len(groups)] for i in range(len(seeds))]


def _rounds(
    game: Game, start: Any, evaluate: EvaluateBatch, params: GomokuSelfPlay, seeds: Sequence[Sequence[int]]
) -> Generator[Leaves, Answer, list[SelfPlayGame]]:
    """One lock step as a generator, which yields leaves and is sent the evaluator's answer."""
    level = _level(evaluate, params.opening_bound)
    games = [begin(game, start, seed, params.opening_plies, area=params.opening_area, level=level) for seed in seeds]
    chooser: _Puct | _Gumbel = (_Gumbel if params.search == "gumbel" else _Puct)(start, len(games), evaluate, params)
    for g, one in enumerate(games):
        chooser.trees.plant(g, one.state)
    going = list(range(len(games)))
    while going:
        chosen = yield from chooser.choose(going, games)
        for g, (action, policy) in zip(going, chosen, strict=True):
            one = games[g]
            full = np.zeros(one.state.board.size, np.float32)
            full[chooser.trees.steps(g)] = policy
            one.policies.append(full)
            one.actions.append(action)
            one.state = game.play(one.state, action)
        going = [g for g in going if not kernels.outcome(games[g].state)[0]]
        played = np.full(len(games), -1, np.int32)
        played[going] = [games[g].actions[-1] for g in going]
        chooser.trees.advance_all(played)
    return games


def answer_in_turn(searches: Sequence[Generator[Leaves, Answer, Result]], evaluate: Any) -> list[Result]:
    """Run searches that yield their leaves to the end, one after another in turn; what each returns.

    With an evaluator that can `submit` and `wait`, each search goes on while the leaves of the others are evaluated.
    """
    submit = getattr(evaluate, "submit", lambda *leaves: leaves)
    wait = getattr(evaluate, "wait", lambda leaves: evaluate(*leaves))
    results: dict[int, Result] = {}
    begun: list[tuple[int, Generator[Leaves, Answer, Result], Any]] = [(i, s, None) for i, s in enumerate(searches)]
    waiting = deque(begun)
    while waiting:
        i, search, handle = waiting.popleft()
        try:
            leaves = next(search) if handle is None else search.send(wait(handle))
            waiting.append((i, search, submit(*leaves)))
        except StopIteration as ended:
            results[i] = ended.value
    return [results[i] for i in range(len(searches))]


def play_random(game: Game, start: Any, seeds: Sequence[Sequence[int]]) -> list[SelfPlayGame]:
    """Play games of uniformly random moves. The policies are the played moves."""
    games = []
    for seed in seeds:
        one = begin(game, start, seed, 0)
        while not kernels.outcome(one.state)[0]:
            action = int(one.rng.choice(game.legal_actions(one.state)))
            policy = np.zeros(one.state.board.size, np.float32)
            policy[action] = 1
            one.policies.append(policy)
            one.actions.append(action)
            one.state = game.play(one.state, action)
        games.append(one)
    return games


def begin(
    game: Game,
    start: Any,
    seed: Sequence[int],
    most: int,
    cells: Sequence[int] | None = None,
    area: int = 0,
    level: Callable[[Any], bool] | None = None,
) -> SelfPlayGame:
    """A game after at most ``most`` random stones.

    Args:
        game: the rules.
        start: an unfinished position.
        seed: of the game.
        most: the number of stones is drawn from 0 to this.
        cells: where the stones may lie; None is the whole board.
        area: side of a square, at a random place, that contains the stones; 0 is the whole board.
        level: says whether neither side is ahead; other openings are drawn again, up to `DRAWS` times.
    """
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        one = _opening(game, start, rng, most, _square(start, rng, area) if area else cells)
        if level is None or level(one.state):
            break
    return one


DRAWS = 20


def _opening(game: Game, start: Any, rng: np.random.Generator, most: int, cells: Sequence[int] | None) -> SelfPlayGame:
    one = SelfPlayGame(start, rng, int(rng.integers(0, most + 1)), [])
    for _ in range(one.opening):
        legal = game.legal_actions(one.state)
        action = int(rng.choice(legal if cells is None else np.intersect1d(legal, cells)))
        after = game.play(one.state, action)
        if kernels.outcome(after)[0]:  # on a tiny board; the search goes on from before it
            one.opening = len(one.actions)
            break
        one.actions.append(action)
        one.state = after
    return one


def _square(start: Any, rng: np.random.Generator, area: int) -> Sequence[int]:
    """The cells of a square at a random place."""
    height, width = start.board.shape
    top, left = (int(rng.integers(0, max(1, side - area + 1))) for side in (height, width))
    cells = np.arange(height * width).reshape(height, width)[top : top + area, left : left + area]
    return list(cells.ravel())


def _level(evaluate: EvaluateBatch, bound: float) -> Callable[[Any], bool] | None:
    """Whether the evaluator's value of a position is at most ``bound`` for either side; None if any is."""
    if bound >= 1:
        return None

    def level(state: Any) -> bool:
        steps = np.empty((1, int(kernels.max_steps(state))), np.int32)
        counts = np.array([kernels.write_steps(state, steps[0])], np.int32)
        return bool(abs(evaluate(stack(state, 1), steps, counts)[1][0]) <= bound)

    return level


class _Puct:
    """Moves drawn by visits, after searches with noise at their roots."""

    def __init__(self, start: Any, count: int, evaluate: EvaluateBatch, params: GomokuSelfPlay) -> None:
        self.params = params
        self.trees = _trees(start, count, evaluate, params)

    def choose(self, going: Sequence[int], games: Sequence[SelfPlayGame]) -> Choice:
        """An action of each game that goes on, and its search's policy over the legal ones."""
        params, targets = self.params, np.full(self.trees.count, -1, np.int32)
        targets[going] = 0
        yield from self.trees.rounds(targets)  # noise needs the priors of the roots
        if params.noise_fraction:
            for g in going:
                self.trees.add_noise(g, games[g].rng, params.noise_alpha, params.noise_fraction)
        targets[going] = params.simulations
        yield from self.trees.rounds(targets)
        return [self._draw(g, games[g]) for g in going]

    def _draw(self, g: int, one: SelfPlayGame) -> tuple[int, Policy]:
        steps, visits, params = self.trees.steps(g), self.trees.visits(g), self.params
        heat = temperature(len(one.actions) + 1, params)
        action = steps[self.trees.best(g)]
        if heat > COLDEST:
            action = sample_step(steps, visits, one.rng, heat)
        policy = visits / visits.sum()
        if params.tempered_policy:
            policy = (visits / visits.max()) ** (1 / max(heat, COLDEST))
            policy /= policy.sum()
        return int(action), policy.astype(np.float32)


class _Gumbel:
    """Moves and policies by sequential halving at the roots."""

    def __init__(self, start: Any, count: int, evaluate: EvaluateBatch, params: GomokuSelfPlay) -> None:
        self.trees = _trees(start, count, evaluate, params)
        self._search = GumbelTrees(
            self.trees, params.considered, params.simulations, params.c_visit, params.c_scale, params.rescale
        )

    def choose(self, going: Sequence[int], games: Sequence[SelfPlayGame]) -> Choice:
        """An action of each game that goes on, and the improved policy over the legal ones."""
        found = yield from self._search.rounds(going, [games[g].rng for g in going])
        rows = zip(found.steps, found.policies, found.counts, strict=True)
        return [(int(action), policy[:count]) for action, policy, count in rows]


def _trees(start: Any, count: int, evaluate: EvaluateBatch, params: GomokuSelfPlay) -> PuctTrees:
    options = PuctOptions(c=params.c, c_base=params.c_base, fpu=params.fpu, own_visit=params.own_visit)
    return PuctTrees(start, count, evaluate, options, room(params.simulations), per_tree=params.leaves)


def temperature(ply: int, params: GomokuSelfPlay) -> float:
    """Return the temperature for the move at ``ply`` of a game, counted from 1."""
    late = ply - params.temperature_plies
    if late <= 0:
        return 1.0
    return params.temperature_decay ** (ply if params.decay_from_start else late)


def room(simulations: int) -> int:
    """Return the capacity of a tree for ``simulations`` per move that is reused from move to move."""
    return 2 * simulations + 16

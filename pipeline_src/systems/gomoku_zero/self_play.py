"""Self-play: the best player against itself, many games in lock step. Each game depends on its own number alone."""

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.arena.journal import Journal, each_kept, pack, unpack
from pipeline_src.files import write_json
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.game import Game
from pipeline_src.games.kernels import stack
from pipeline_src.search.gomoku.line_net import TABLE
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.mcts.gumbel import GumbelTrees
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import Answer, EvaluateBatch, Leaves, PuctTrees, sample_step
from pipeline_src.systems.gomoku_zero.evaluator import even, open_evaluator, prepare_model
from pipeline_src.systems.gomoku_zero.files import Work
from pipeline_src.systems.gomoku_zero.params import GomokuSelfPlay
from pipeline_src.systems.gomoku_zero.window import extend_window, make_games, open_window, write_window

SIGN = {"first": 1, "draw": 0, "second": -1}
EVALUATIONS = "evaluations.json"  # Number of positions that the net was asked about in a round
LOCK_STEP = 64
"""Games in lock step, if the net's batches do not ask for more. Neither this nor the unit of work changes a game."""
COLDEST = 0.01  # Below this temperature the most visited action is played
DRAWS = 20  # Openings that are drawn at most for a game; the last one is played in any case

Policy = npt.NDArray[np.float32]
Choice = Generator[Leaves, Answer, list[tuple[int, Policy]]]
Result = TypeVar("Result")


def play_round(work: Work) -> None:
    """Let the best player play itself; write the round's ``new`` games and its ``window``."""
    params, rules = work.setting.self_play, work.setting.game
    model = prepare_model(work.player, params.backend, work.folder) if work.player else None
    tasks = {str(number): (number,) for number in range(params.games // params.rounds)}
    searched = model is not None and not model.name.endswith(TABLE)  # by a net that answers in batches
    together = lock_step(params) if searched else 1
    title = f"generation {work.number:02d}: self-play"
    with Journal(work.folder / "games.journal.jsonl", {}) as journal:
        texts = each_kept(partial(play_games, model, work), tasks, work.parallel, title, journal, together=together)
        played = [unpack(text) for text in texts]
    new = make_games(
        rules.size_of(work.number),
        rules.variant,
        [one["actions"] for one in played],
        [int(one["winner"]) for one in played],
        [one["policies"] for one in played],
        generation=work.count,
        searched_from=[int(one["opening"]) for one in played],
    )
    write_window(work.folder / "new", new)
    before = open_window(work.before.window) if work.before else None
    if before and before.size != new.size:  # the first generation on a larger board
        before = None
    write_window(work.made.window, extend_window(before, new, work.setting.train.window))
    write_json(work.folder / EVALUATIONS, sum(int(one["evaluations"]) for one in played))


def lock_step(params: GomokuSelfPlay) -> int:
    """Number of games in lock step: two batches of the net, since one is prepared while it computes the other."""
    return max(LOCK_STEP, 2 * -(-params.chunk // params.leaves))


def play_games(model: Path | None, work: Work, tasks: list[tuple[int]]) -> list[str]:
    """Play the games of a round with these numbers; without a ``model``, by a search with even priors.

    Returns:
        For each game, packed: ``actions`` and ``winner`` (1 the first player, -1 the second, 0 a draw), ``policies``
        float16 [P - opening, N], ``opening``, the random plies before the first search, and ``evaluations``, the
        positions that the net was asked about; the first game of a lock step has those of all its games.
    """
    width = lock_step(work.setting.self_play)
    return [one for at in range(0, len(tasks), width) for one in _in_lock_step(model, work, tasks[at : at + width])]


def _in_lock_step(model: Path | None, work: Work, tasks: list[tuple[int]]) -> list[str]:
    setting, params, rules, evaluations = work.setting, work.setting.self_play, work.setting.game, 0
    game: Any = gomoku
    start = game.initial_state(rules.size_of(work.number), rules.variant)
    before = work.index * (params.games // params.rounds)
    seeds = [[setting.seed, streams.SELF_PLAY, work.number, before + number] for (number,) in tasks]
    if model is None:
        played = play_self(game, start, even, params, seeds)
    else:
        net = open_evaluator(model, params.backend, params.chunk)
        asked = net.evaluated
        parts = 2 if model.suffix == ".pt" else 1  # an export runs on the CPU
        played = play_self(game, start, with_fours(net, params), params, seeds, parts)
        evaluations = net.evaluated - asked
    return [
        pack(
            {
                "actions": np.array(one.actions, np.int16),
                "winner": SIGN[game.winner(one.state)],
                "policies": np.array(one.policies, np.float16),
                "opening": one.opening,
                "evaluations": 0 if i else evaluations,
            }
        )
        for i, one in enumerate(played)
    ]


def with_fours(net: EvaluateBatch, params: GomokuSelfPlay) -> EvaluateBatch:
    """The net, or together with a search by fours whose answers do not depend on the positions before."""
    return ProvingEvaluator(net, params.fours, alone=True) if params.fours else net


@dataclass
class SelfPlayGame:
    """One game, under way or finished."""

    state: Any
    rng: np.random.Generator  # All that is random in this game comes from it
    opening: int  # Random plies before the first search
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
    games = [_begin(game, start, seed, params, evaluate) for seed in seeds]
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

    With an evaluator that can `submit` and `wait`, each search continues while the leaves of the others are evaluated.
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


def _begin(
    game: Game, start: Any, seed: Sequence[int], params: GomokuSelfPlay, evaluate: EvaluateBatch
) -> SelfPlayGame:
    """A game after its random stones, drawn again where the net says that one side is ahead, up to `DRAWS` times."""
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        cells = _square(start, rng, params.opening_area) if params.opening_area else None
        one = _opening(game, start, rng, params.opening_plies, cells)
        if params.opening_bound >= 1 or abs(_value(one.state, evaluate)) <= params.opening_bound:
            break
    return one


def _opening(game: Game, start: Any, rng: np.random.Generator, most: int, cells: Sequence[int] | None) -> SelfPlayGame:
    one = SelfPlayGame(start, rng, int(rng.integers(0, most + 1)), [])
    for _ in range(one.opening):
        legal = game.legal_actions(one.state)
        choice = legal if cells is None else np.intersect1d(legal, cells)
        if len(choice) == 0:
            break
        action = int(rng.choice(choice))
        after = game.play(one.state, action)
        if kernels.outcome(after)[0]:  # on a tiny board; the search continues from before it
            break
        one.actions.append(action)
        one.state = after
    one.opening = len(one.actions)
    return one


def _square(start: Any, rng: np.random.Generator, area: int) -> Sequence[int]:
    """The cells of a square at a random place."""
    height, width = start.board.shape
    top, left = (int(rng.integers(0, max(1, side - area + 1))) for side in (height, width))
    cells = np.arange(height * width).reshape(height, width)[top : top + area, left : left + area]
    return list(cells.ravel())


def _value(state: Any, evaluate: EvaluateBatch) -> float:
    """The evaluator's value of one position, to the side to move."""
    steps = np.empty((1, int(kernels.max_steps(state))), np.int32)
    counts = np.array([kernels.write_steps(state, steps[0])], np.int32)
    return float(evaluate(stack(state, 1), steps, counts)[1][0])


class _Puct:
    """Moves drawn by visits, after searches with noise at their roots."""

    def __init__(self, start: Any, count: int, evaluate: EvaluateBatch, params: GomokuSelfPlay) -> None:
        self.params = params
        self.trees = _trees(start, count, evaluate, params)

    def choose(self, going: Sequence[int], games: Sequence[SelfPlayGame]) -> Choice:
        """An action of each unfinished game, and its search's policy over the legal ones."""
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
            self.trees, params.considered, params.simulations, c_scale=params.c_scale, rescale=params.rescale
        )

    def choose(self, going: Sequence[int], games: Sequence[SelfPlayGame]) -> Choice:
        """An action of each unfinished game, and the improved policy over the legal ones."""
        found = yield from self._search.rounds(going, [games[g].rng for g in going])
        rows = zip(found.steps, found.policies, found.counts, strict=True)
        return [(int(action), policy[:count]) for action, policy, count in rows]


def _trees(start: Any, count: int, evaluate: EvaluateBatch, params: GomokuSelfPlay) -> PuctTrees:
    options = PuctOptions(c=params.c, c_base=params.c_base, own_visit=params.own_visit)
    return PuctTrees(start, count, evaluate, options, room(params.simulations), per_tree=params.leaves)


def temperature(ply: int, params: GomokuSelfPlay) -> float:
    """Return the temperature for the move at ``ply`` of a game, counted from 1."""
    late = ply - params.temperature_plies
    if late <= 0:
        return 1.0
    return params.temperature_decay ** (ply if params.decay_from_start else late)


def room(simulations: int) -> int:
    """Return the capacity of a tree for ``simulations`` per move that is reused from move to move.

    What is kept after a likely move may be most of a tree, move after move: with twice the simulations half of the
    searches of 300 ended in a full tree, with eight times next to none. Untouched pages cost no memory.
    """
    return 8 * simulations + 16

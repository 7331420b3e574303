"""Self-play: the best player against itself, many games in lock step.

Each game depends on its own number alone.
"""

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
from pipeline_src.games import kernels
from pipeline_src.games.kernels import stack
from pipeline_src.games.rules import copy_state
from pipeline_src.search.mcts.gumbel import GumbelTrees
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import Answer, EvaluateBatch, Leaves, PuctTrees, sample_step
from pipeline_src.selfplay.params import SelfPlayParams
from pipeline_src.selfplay.subject import Round, Subject
from pipeline_src.selfplay.window import extend_window, make_games, open_window, write_window

EVALUATIONS = "evaluations.json"  # Number of positions that the net was asked about in a round
COLDEST = 0.01  # Below this temperature the most visited step is played
DRAWS = 20  # Openings that are drawn at most for a game; the last one is played in any case

Policy = npt.NDArray[np.float32]
Choice = Generator[Leaves, Answer, list[tuple[int, Policy]]]
Result = TypeVar("Result")


def play_round(own: Round) -> None:
    """Let the best player play itself; write the round's ``new`` games and its ``window``."""
    subject, params, before = own.subject, own.self_play, own.before
    player = before.best if before else own.start
    model = subject.prepare(player, own.setting, own.folder) if player else None
    tasks = {str(number): (number,) for number in range(params.games // params.rounds)}
    together, _, _ = subject.together(model, own.setting)
    title = f"generation {own.files.name}: self-play"
    with Journal(own.folder / "games.journal.jsonl", {}) as journal:
        texts = each_kept(partial(play_games, model, own), tasks, own.parallel, title, journal, together=together)
        played = [unpack(text) for text in texts]
    new = make_games(
        subject.start(own.setting, own.files.number),
        own.setting.game.variant,
        [one["steps"] for one in played],
        [int(one["winner"]) for one in played],
        [one["policies"] for one in played],
        generation=own.count,
        searched_from=[int(one["opening"]) for one in played],
        size=own.size,
    )
    write_window(own.new, new, subject.game)
    old = open_window(before.window, subject.game) if before else None
    if old and old.size != new.size:  # the first generation on a larger board
        old = None
    write_window(own.window, extend_window(old, new, own.setting.train.window), subject.game)
    write_json(own.folder / EVALUATIONS, sum(int(one["evaluations"]) for one in played))


def play_games(model: Path | None, own: Round, tasks: list[tuple[int]]) -> list[str]:
    """Play the games of a round with these numbers; without a ``model``, by a search with even priors.

    Returns:
        For each game, packed: ``steps`` and ``winner`` (1 the first player, -1 the second, 0 a draw), ``policies``
        float16 [P - opening, S], ``opening``, the random steps before the first search, and ``evaluations``, the
        positions that the net was asked about; the first game of a lock step has those of all its games.
    """
    subject, setting, found = own.subject, own.setting, list[str]()
    start = subject.start(setting, own.files.number)
    net, evaluate = subject.open(model, setting)
    _, width, parts = subject.together(model, setting)
    before = own.index * (own.self_play.games // own.self_play.rounds)
    for at in range(0, len(tasks), width):
        numbers = [before + number for (number,) in tasks[at : at + width]]
        seeds = [[setting.seed, streams.SELF_PLAY, own.files.number, number] for number in numbers]
        asked = net.evaluated if net else 0
        for i, one in enumerate(play_self(subject, start, evaluate, own.self_play, seeds, parts)):
            result = {
                "steps": np.array(one.steps, np.int16),
                "winner": subject.result(one.state),
                "policies": np.array(one.policies, np.float16),
                "opening": one.opening,
                "evaluations": net.evaluated - asked if net and i == 0 else 0,
            }
            found.append(pack(result))
    return found


@dataclass
class SelfPlayGame:
    """One game, under way or finished."""

    state: Any
    rng: np.random.Generator  # All that is random in this game comes from it
    opening: int  # Random steps before the first search
    steps: list[int]
    policies: list[Policy] = field(default_factory=list)
    """Policy of the search at each searched step: float32 [S], summing to 1; where, says `Subject.places`."""


def play_self(
    subject: Subject,
    start: Any,
    evaluate: EvaluateBatch,
    params: SelfPlayParams,
    seeds: Sequence[Sequence[int]],
    parts: int = 1,
) -> list[SelfPlayGame]:
    """Play one game from ``start`` to its end for each seed, all in lock step.

    A game depends on its own seed only, if the evaluator's answers do not depend on the other games.

    Args:
        subject: the game.
        start: an unfinished position.
        evaluate: where it can `submit` and `wait`, the trees of one part are searched while it works for another.
        params: the section.
        seeds: of each game.
        parts: number of independent lock steps that share the games; 2 keep a GPU busy.
    """
    groups = [list(seeds[part::parts]) for part in range(min(parts, len(seeds)))]
    played = answer_in_turn([_rounds(subject, start, evaluate, params, group) for group in groups], evaluate)
    return [played[i % len(groups)][i // len(groups)] for i in range(len(seeds))]


def _rounds(
    subject: Subject, start: Any, evaluate: EvaluateBatch, params: SelfPlayParams, seeds: Sequence[Sequence[int]]
) -> Generator[Leaves, Answer, list[SelfPlayGame]]:
    """One lock step as a generator, which yields leaves and is sent the evaluator's answer."""
    games = [_begin(subject, start, seed, params, evaluate) for seed in seeds]
    chooser: _Puct | _Gumbel = (_Gumbel if params.search == "gumbel" else _Puct)(start, len(games), evaluate, params)
    for g, one in enumerate(games):
        chooser.trees.plant(g, one.state)
    going, width = list(range(len(games))), int(kernels.max_steps(start))
    while going:
        chosen = yield from chooser.choose(going, games)
        for g, (step, policy) in zip(going, chosen, strict=True):
            one = games[g]
            full = np.zeros(width, np.float32)
            full[subject.places(chooser.trees.steps(g))] = policy
            one.policies.append(full)
            one.steps.append(step)
            kernels.play_step(one.state, step)
        going = [g for g in going if subject.result(games[g].state) is None]
        played = np.full(len(games), -1, np.int32)
        played[going] = [games[g].steps[-1] for g in going]
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
    subject: Subject, start: Any, seed: Sequence[int], params: SelfPlayParams, evaluate: EvaluateBatch
) -> SelfPlayGame:
    """A game after its random plies, drawn again where the net says that one side is ahead, up to `DRAWS` times."""
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        cells = subject.opening_cells(start, rng, params)
        one = _opening(subject, start, rng, params.opening_plies, cells)
        if params.opening_bound >= 1 or abs(_value(one.state, evaluate)) <= params.opening_bound:
            break
    return one


def _opening(
    subject: Subject, start: Any, rng: np.random.Generator, most: int, cells: Sequence[int] | None
) -> SelfPlayGame:
    """A game after random whole turns, up to ``most``, none of which ends it."""
    turns, room = int(rng.integers(0, most + 1)), np.empty(int(kernels.max_steps(start)), np.int32)
    one, under_way = SelfPlayGame(copy_state(start), rng, 0, []), copy_state(start)
    steps = list[int]()
    while turns:
        legal = room[: kernels.write_steps(under_way, room)]
        choice = legal if cells is None else np.intersect1d(legal, cells)
        if len(choice) == 0:
            break
        steps.append(int(rng.choice(choice)))
        side = kernels.to_play(under_way)
        kernels.play_step(under_way, steps[-1])
        if subject.result(under_way) is not None:  # on a tiny board; the search continues from before it
            break
        if kernels.to_play(under_way) != side:
            turns, one.steps, one.state = turns - 1, list(steps), copy_state(under_way)
    one.opening = len(one.steps)
    return one


def _value(state: Any, evaluate: EvaluateBatch) -> float:
    """The evaluator's value of one position, to the side to move."""
    steps = np.empty((1, int(kernels.max_steps(state))), np.int32)
    counts = np.array([kernels.write_steps(state, steps[0])], np.int32)
    return float(evaluate(stack(state, 1), steps, counts)[1][0])


class _Puct:
    """Moves drawn by visits, after searches with noise at their roots."""

    def __init__(self, start: Any, count: int, evaluate: EvaluateBatch, params: SelfPlayParams) -> None:
        self.params = params
        self.trees = _trees(start, count, evaluate, params)

    def choose(self, going: Sequence[int], games: Sequence[SelfPlayGame]) -> Choice:
        """A step of each unfinished game, and its search's policy over the legal ones."""
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
        heat = temperature(len(one.steps) + 1, params)
        step = steps[self.trees.best(g)]
        if heat > COLDEST:
            step = sample_step(steps, visits, one.rng, heat)
        policy = visits / visits.sum()
        if params.tempered_policy:
            policy = (visits / visits.max()) ** (1 / max(heat, COLDEST))
            policy /= policy.sum()
        return int(step), policy.astype(np.float32)


class _Gumbel:
    """Moves and policies by sequential halving at the roots."""

    def __init__(self, start: Any, count: int, evaluate: EvaluateBatch, params: SelfPlayParams) -> None:
        self.params = params
        self.trees = _trees(start, count, evaluate, params)
        self._search = GumbelTrees(
            self.trees, params.considered, params.simulations, c_scale=params.c_scale, rescale=params.rescale
        )

    def choose(self, going: Sequence[int], games: Sequence[SelfPlayGame]) -> Choice:
        """An action of each unfinished game, and the improved policy over the legal ones."""
        quiet = self.params.noise_steps
        rngs = [games[g].rng if quiet is None or len(games[g].steps) < quiet else None for g in going]
        found = yield from self._search.rounds(going, rngs)
        rows = zip(found.steps, found.policies, found.counts, strict=True)
        return [(int(step), policy[:count]) for step, policy, count in rows]


def _trees(start: Any, count: int, evaluate: EvaluateBatch, params: SelfPlayParams) -> PuctTrees:
    options = PuctOptions(c=params.c, c_base=params.c_base, own_visit=params.own_visit)
    return PuctTrees(start, count, evaluate, options, room(params.simulations), per_tree=params.leaves)


def temperature(ply: int, params: SelfPlayParams) -> float:
    """Return the temperature for step ``ply`` of a game, counted from 1."""
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

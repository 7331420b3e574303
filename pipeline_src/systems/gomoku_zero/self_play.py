"""Self-play: the best player against itself, many games in lock step; and the replay window that holds the games.

Each game depends on its own number alone.
"""

import hashlib
import io
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.arena.journal import Journal, each_kept, pack, unpack
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, written_aside
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.game import Game
from pipeline_src.games.gomoku import GomokuState, legal
from pipeline_src.games.kernels import stack
from pipeline_src.jit import njit
from pipeline_src.learning.arrays import MANIFEST, ArrayFolder, ArrayStream
from pipeline_src.parallel import Parallel
from pipeline_src.search.gomoku.line_net import TABLE
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.mcts.gumbel import GumbelTrees
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import Answer, EvaluateBatch, Leaves, PuctTrees, sample_step
from pipeline_src.systems.gomoku_zero.evaluator import even, open_evaluator, plane_count, prepare_model, zero_planes
from pipeline_src.systems.gomoku_zero.params import GenerationFiles, GomokuSelfPlay, Setting

SIGN = {"first": 1, "draw": 0, "second": -1}
EVALUATIONS = "evaluations.json"  # Number of positions that the net was asked about in a round
LOCK_STEP = 64
"""Games in lock step, if the net's batches do not ask for more. Neither this nor the unit of work changes a game."""
COLDEST = 0.01  # Below this temperature the most visited action is played
DRAWS = 20  # Openings that are drawn at most for a game; the last one is played in any case

Policy = npt.NDArray[np.float32]
Choice = Generator[Leaves, Answer, list[tuple[int, Policy]]]
Result = TypeVar("Result")


class Round:
    """A round of self-play and training in an unfinished generation: what it begins with, and what it leaves."""

    def __init__(
        self,
        work: Path,
        files: GenerationFiles,
        index: int,
        setting: Setting,
        parallel: Parallel,
        start: Path | None = None,
    ) -> None:
        """Name its files.

        Args:
            work: folder of the unfinished generation.
            files: of the generation.
            index: number of the round in its generation, from 0.
            setting: the params.
            parallel: how games are played side by side.
            start: model that the first generation begins with; None: fresh weights, and a player that knows nothing.
        """
        self.work, self.files, self.index, self.start = work, files, index, start
        self.setting, self.parallel = setting, parallel
        self.count = (files.number - 1) * setting.self_play.rounds + index + 1
        """Number of the round among those of all generations, from 1. It marks the games and seeds the training."""
        self.size = setting.game.size_of(files.number)  # Side of the board
        self.folder = work / f"round_{index + 1:03d}"
        self.new = self.folder / "new"  # Its games
        self.window = self.folder / "window"  # The replay window with them
        self.model = self.best = self.folder / "model.pt"  # The net trained on the window, which plays the next round
        self.learner = self.folder / "learner.pt"  # State of the optimizer

    @property
    def before(self) -> "Round | GenerationFiles | None":
        """The round before, or the generation before; None for the first round of all."""
        if not self.index:
            return self.files.before
        return Round(self.work, self.files, self.index - 1, self.setting, self.parallel, self.start)


def play_round(own: Round) -> None:
    """Let the best player play itself; write the round's ``new`` games and its ``window``."""
    params, before = own.setting.self_play, own.before
    player = before.best if before else own.start
    model = prepare_model(player, params.backend, own.folder) if player else None
    tasks = {str(number): (number,) for number in range(params.games // params.rounds)}
    searched = model is not None and not model.name.endswith(TABLE)  # by a net that answers in batches
    together = lock_step(params) if searched else 1
    title = f"generation {own.files.name}: self-play"
    with Journal(own.folder / "games.journal.jsonl", {}) as journal:
        texts = each_kept(partial(play_games, model, own), tasks, own.parallel, title, journal, together=together)
        played = [unpack(text) for text in texts]
    new = make_games(
        own.size,
        own.setting.game.variant,
        [one["actions"] for one in played],
        [int(one["winner"]) for one in played],
        [one["policies"] for one in played],
        generation=own.count,
        searched_from=[int(one["opening"]) for one in played],
    )
    write_window(own.new, new)
    old = open_window(before.window) if before else None
    if old and old.size != new.size:  # the first generation on a larger board
        old = None
    write_window(own.window, extend_window(old, new, own.setting.train.window))
    write_json(own.folder / EVALUATIONS, sum(int(one["evaluations"]) for one in played))


def lock_step(params: GomokuSelfPlay) -> int:
    """Number of games in lock step: two batches of the net, since one is prepared while it computes the other."""
    return max(LOCK_STEP, 2 * -(-params.chunk // params.leaves))


def play_games(model: Path | None, own: Round, tasks: list[tuple[int]]) -> list[str]:
    """Play the games of a round with these numbers; without a ``model``, by a search with even priors.

    Returns:
        For each game, packed: ``actions`` and ``winner`` (1 the first player, -1 the second, 0 a draw), ``policies``
        float16 [P - opening, N], ``opening``, the random plies before the first search, and ``evaluations``, the
        positions that the net was asked about; the first game of a lock step has those of all its games.
    """
    setting, params, found = own.setting, own.setting.self_play, list[str]()
    game: Any = gomoku
    start = game.initial_state(own.size, setting.game.variant)
    net = open_evaluator(model, params.backend, params.chunk) if model else None
    evaluate = with_fours(net, params) if net else even
    parts = 2 if model and model.suffix == ".pt" else 1  # an export runs on the CPU
    before, width = own.index * (params.games // params.rounds), lock_step(params)
    for at in range(0, len(tasks), width):
        numbers = [before + number for (number,) in tasks[at : at + width]]
        seeds = [[setting.seed, streams.SELF_PLAY, own.files.number, number] for number in numbers]
        asked = net.evaluated if net else 0
        for i, one in enumerate(play_self(game, start, evaluate, params, seeds, parts)):
            result = {
                "actions": np.array(one.actions, np.int16),
                "winner": SIGN[game.winner(one.state)],
                "policies": np.array(one.policies, np.float16),
                "opening": one.opening,
                "evaluations": net.evaluated - asked if net and i == 0 else 0,
            }
            found.append(pack(result))
    return found


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


# Self-play games with the search's policy at each ply: the replay window on disk, and its training positions.
#
# A window is a folder of plain .npy arrays, one for each of `ARRAYS`, with a manifest that has their hashes. It holds
# whole games, the oldest first; a new one is the last one with new games behind and the oldest dropped.


class _WindowFolder(ArrayFolder):
    def damaged(self, path: Path, reason: str) -> ZugwerkError:
        """A window may be that of an unfinished generation, which no stage of the graph is for."""
        return ZugwerkError(f"{path}: {reason}; remove the window and run its generation again")

    def read_array(self, path: Path, hashes: dict[str, str]) -> Any:
        """Read a whole array whose SHA-256 is in the manifest."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise self.damaged(path, "no such file") from None
        if hashlib.sha256(content).hexdigest() != hashes.get(path.name):
            raise self.damaged(path, "its sha256 is not the manifest's")
        return np.load(io.BytesIO(content), allow_pickle=False)


WINDOW = _WindowFolder("self-play window", 1, ("game", "rules", "size", "variant"), "gomoku_generation")
ARRAYS: dict[str, type[np.generic]] = {
    "actions": np.int16,
    "offsets": np.int64,
    "winner": np.int8,
    "searched_from": np.int16,
    "generation": np.int16,
    "policy": np.float16,
}


@dataclass(frozen=True)
class SelfPlayGames:
    """G games of one board size and variant, the oldest first, P plies long (each its own P), N = size * size cells.

    Game g's actions are ``actions[offsets[g]:offsets[g + 1]]``. R is the number of plies with a target, all those from
    ``searched_from`` on, by game and then by ply.
    """

    size: int  # Side of the board
    variant: str  # As `gomoku.initial_state` takes it
    actions: npt.NDArray[np.int16]  # [sum of P], cells
    offsets: npt.NDArray[np.int64]  # [G + 1]
    winner: npt.NDArray[np.int8]  # [G]: 1 the first player, -1 the second, 0 a draw
    searched_from: npt.NDArray[np.int16]  # [G]: the plies before this one are opening stones, which no search chose
    generation: npt.NDArray[np.int16]
    """[G]: which generation played the game; of generations with several rounds, which round, counted through all."""
    policy: npt.NDArray[np.float16]  # [R, N]: the search's distribution over the cells

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def searched(self) -> npt.NDArray[np.int64]:
        """Plies of each game that have a target, [G]."""
        return np.asarray(np.maximum(np.diff(self.offsets) - self.searched_from, 0), np.int64)

    def last(self, count: int) -> "SelfPlayGames":
        """The newest ``count`` games."""
        first = len(self) - count
        rows = len(self.policy) - int(self.searched[first:].sum())
        return SelfPlayGames(
            self.size,
            self.variant,
            self.actions[self.offsets[first] :],
            self.offsets[first:] - self.offsets[first],
            self.winner[first:],
            self.searched_from[first:],
            self.generation[first:],
            self.policy[rows:],
        )


def make_games(
    size: int,
    variant: str,
    actions: Sequence[Sequence[int] | npt.NDArray[np.integer]],
    winners: Sequence[int],
    policies: Sequence[npt.NDArray[np.floating]],
    *,
    generation: int,
    searched_from: Sequence[int] | int = 0,
) -> SelfPlayGames:
    """Games of one generation from one list a game.

    Args:
        size: side of the board.
        variant: as `gomoku.initial_state` takes it.
        actions: of each game, its cells in order.
        winners: of each game, 1 the first player, -1 the second, 0 a draw.
        policies: for each game, float [P - searched_from, N]: the search's policy at each ply from ``searched_from``
            on; kept as float16.
        generation: that played them.
        searched_from: of each game or of all, how many opening stones it has.

    Raises:
        ZugwerkError: the lists do not fit each other.
    """
    count = len(actions)
    openings = np.broadcast_to(np.asarray(searched_from, np.int16), (count,)).copy()
    lengths = np.array([len(game) for game in actions], np.int64)
    rows = [np.asarray(policy, np.float16).reshape(-1, size * size) for policy in policies]
    games = SelfPlayGames(
        size,
        variant,
        np.concatenate([np.empty(0, np.int16), *(np.asarray(game, np.int16) for game in actions)]),
        np.concatenate(([0], np.cumsum(lengths))),
        np.asarray(winners, np.int8),
        openings,
        np.full(count, generation, np.int16),
        np.concatenate([np.empty((0, size * size), np.float16), *rows]),
    )
    wrong = _misfit(games)
    if wrong or [len(row) for row in rows] != games.searched.tolist():
        raise ZugwerkError(
            f"self-play of generation {generation}: {wrong or 'a game does not have one policy for each ply'}"
        )
    return games


def extend_window(previous: SelfPlayGames | None, new: SelfPlayGames, keep_positions: int) -> SelfPlayGames:
    """New games behind those of ``previous``; of all these the newest whole games with ``keep_positions`` targets.

    At least the newest game stays, however long it is.

    Raises:
        ZugwerkError: the two are of different boards or variants.
    """
    if previous is None:
        games = new
    elif (previous.size, previous.variant) != (new.size, new.variant):
        boards = [f"{g.variant} on {g.size}x{g.size}" for g in (previous, new)]
        raise ZugwerkError(f"games of {boards[1]} cannot follow a window of {boards[0]}; start with a new first one")
    else:
        both = {name: np.concatenate((getattr(previous, name), getattr(new, name))) for name in ARRAYS}
        both["offsets"] = np.concatenate((previous.offsets, new.offsets[1:] + previous.offsets[-1]))
        games = SelfPlayGames(new.size, new.variant, **both)
    if not len(games):
        return games
    fit = int((np.cumsum(games.searched[::-1]) <= keep_positions).sum())
    return games.last(max(fit, 1))


def write_window(path: Path | str, games: SelfPlayGames) -> None:
    """Write a window folder aside and rename it."""
    with written_aside(path) as aside:
        aside.mkdir()
        hashes = {}
        for name, dtype in ARRAYS.items():
            array = getattr(games, name)
            with open(aside / f"{name}.npy", "wb", buffering=0) as file:
                stream = ArrayStream(file, aside / f"{name}.npy", dtype, array.shape)
                stream.append(array)
            hashes[f"{name}.npy"] = stream.sha256
        manifest = {
            "format": WINDOW.name,
            "version": WINDOW.version,
            "game": gomoku.NAME,
            "rules": gomoku.VERSION,
            "size": games.size,
            "variant": games.variant,
            "games": len(games),
            "plies": len(games.actions),
            "positions": len(games.policy),
            "generations": sorted(set(games.generation.tolist())),
            "params": {},
            "sha256": hashes,
        }
        write_json(aside / MANIFEST, manifest)


def open_window(path: Path | str) -> SelfPlayGames:
    """Read a window that `write_window` wrote, all of it, and check it.

    Raises:
        ZugwerkError: no window there, or one that is damaged or of other rules; says which file and what to do.
    """
    path = Path(path)
    manifest = WINDOW.read_manifest(path)
    if not all(isinstance(manifest[k], kind) for k, kind in (("size", int), ("variant", str), ("sha256", dict))):
        raise WINDOW.damaged(path / MANIFEST, "it is not a manifest of a replay window")
    if (manifest["game"], manifest["rules"]) != (gomoku.NAME, gomoku.VERSION):
        found = f"{manifest['game']!r}, rules {manifest['rules']!r}, not {gomoku.NAME}, rules {gomoku.VERSION}"
        raise WINDOW.damaged(path / MANIFEST, f"it is of {found}")
    games = SelfPlayGames(
        manifest["size"],
        manifest["variant"],
        **{name: WINDOW.read_array(path / f"{name}.npy", manifest["sha256"]) for name in ARRAYS},
    )
    if wrong := _misfit(games):
        raise WINDOW.damaged(path, wrong)
    return games


def _misfit(games: SelfPlayGames) -> str:
    """Return an error text about the arrays, empty if they are consistent. Legality is checked by the replay."""
    count = len(games.winner)
    shapes = {
        "actions": (int(games.offsets[-1]) if len(games.offsets) else 0,),
        "offsets": (count + 1,),
        "winner": (count,),
        "searched_from": (count,),
        "generation": (count,),
    }
    for name, dtype in ARRAYS.items():
        array = getattr(games, name)
        if array.dtype != dtype or array.shape != shapes.get(name, array.shape):
            return f"{name} is {array.dtype} {array.shape}, which does not fit {count} games"
    if games.offsets[0] != 0 or (np.diff(games.offsets) < 0).any() or (games.searched_from < 0).any():
        return "offsets or searched_from are out of order"
    if not np.isin(games.winner, (-1, 0, 1)).all():
        return "a winner is none of 1, -1 and 0"
    if games.policy.shape != (games.searched.sum(), games.size * games.size):
        return f"policy is {games.policy.shape}, for {games.searched.sum()} searched plies of {games.size}x{games.size}"
    return ""


class Positions(NamedTuple):
    """R positions before a searched ply, by game and then by ply; C = 2 * positions + 1 planes."""

    planes: npt.NDArray[np.uint8]  # [R, C, H, W], 0 or 1, as `zero_planes` says
    policy: npt.NDArray[np.float32]  # [R, N], the search's policy; each row sums to 1
    value: npt.NDArray[np.float32]  # [R], how the game ended for the side to move: 1 won, -1 lost, 0 drawn
    generation: npt.NDArray[np.int16]  # [R], which generation played it


def positions(games: SelfPlayGames, history: int) -> Positions:
    """All positions of a window that have a target.

    Args:
        games: the window.
        history: how many positions back the planes go, the one to move in included (the paper's: 5).

    Raises:
        ZugwerkError: an action is not legal; names the game and the ply.
    """
    rows, start = len(games.policy), gomoku.initial_state(games.size, games.variant)
    states = GomokuState(*(np.empty((rows, *array.shape), array.dtype) for array in start))
    value = np.empty(rows, np.float32)
    wrong, ply = _replay(start, games.actions, games.offsets, games.winner, games.searched_from, states, value)
    if wrong >= 0:
        generation = games.generation[wrong]
        raise ZugwerkError(
            f"self-play window: game {wrong} (of generation {generation}), ply {ply}: cell "
            f"{games.actions[games.offsets[wrong] + ply]} is not legal; run that generation again"
        )
    policy = games.policy.astype(np.float32)
    sums = policy.sum(axis=1, keepdims=True)
    if not (np.isfinite(sums) & (sums > 0.5) & (games.policy.min(axis=1, initial=0, keepdims=True) >= 0)).all():
        raise ZugwerkError("self-play window: a policy is no distribution; run its generation again")
    planes = np.empty((rows, plane_count(history), games.size, games.size), np.uint8)
    zero_planes(states, history, planes)
    return Positions(planes, policy / sums, value, np.repeat(games.generation, games.searched))


@njit(cache=True, allocates=True)
def _replay(
    start: GomokuState,
    actions: npt.NDArray[np.int16],
    offsets: npt.NDArray[np.int64],
    winner: npt.NDArray[np.int8],
    searched_from: npt.NDArray[np.int16],
    out: GomokuState,
    value: npt.NDArray[np.float32],
) -> tuple[int, int]:
    """Fill ``out``, stacked, and ``value``; return (-1, -1), or game and ply of the first action that is not legal."""
    state = GomokuState(start.board.copy(), start.moves.copy(), start.turn.copy(), start.hash.copy())
    row = 0
    for g in range(len(winner)):
        kernels.copy_into(start, state)
        for ply in range(offsets[g + 1] - offsets[g]):
            action = int(actions[offsets[g] + ply])
            if not legal(state, action):
                return g, ply
            if ply >= searched_from[g]:
                out.board[row], out.moves[row] = state.board, state.moves
                out.turn[row], out.hash[row] = state.turn, state.hash
                value[row] = winner[g] if kernels.to_play(state) == 0 else -winner[g]
                row += 1
            kernels.play(state, action)
    return -1, -1

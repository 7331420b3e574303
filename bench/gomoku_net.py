"""Simulations a second of Gomoku self-play with a net, against OpenSpiel's Python MCTS with the same net.

15x15, 300 simulations a move, the plain net of three convolutions (32, 64, 128 filters, 11 planes, random weights) in
ONNX Runtime on one thread. Ours plays 256 games in lock step, with root noise, sampled moves and tree reuse, as
self-play does. The reference searches one position at a time and has three planes in place of eleven, which cost it
less; it is null if open_spiel is not installed (``pip install -e '.[bench]'``).

The line net, with one thread too, is compared with that net of three convolutions, 64 positions at a time: positions a
second, and simulations a second of self-play with the same openings and noise. Both have random weights.
"""

import importlib.util
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import Row, row
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import initial_state
from pipeline_src.games.kernels import stack
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees, sample_step
from pipeline_src.systems.gomoku_zero.evaluator import LineEvaluator, Synchronous, ZeroEvaluator, plane_count

SIZE, POSITIONS, FILTERS = 15, 5, (32, 64, 128)
GAMES, SIMULATIONS, CHUNK = 256, 300, 64
REPEATS = 5
WARM = 2  # Simulations before the measurement
SLICE = 60  # Our simulations between two searches of the reference, so that noise of the machine falls on both
Planes = npt.NDArray[np.float32]


class TimedNet(Synchronous):
    """The net, with the sum of its CPU seconds."""

    def __init__(self) -> None:
        import torch

        from pipeline_src.systems.gomoku_zero.evaluator import open_backend
        from pipeline_src.systems.gomoku_zero.models import ZeroModel
        from pipeline_src.systems.gomoku_zero.nets import PlainConfig, PlainNet

        torch.manual_seed(0)
        net = PlainNet(
            PlainConfig(height=SIZE, width=SIZE, positions=POSITIONS, filters=FILTERS, batch_norm=False)
        ).eval()
        self.backend = open_backend(ZeroModel(net, "freestyle"), "onnx", threads=1)
        super().__init__(self._timed, self.backend.info)
        self.seconds = 0.0

    def _timed(self, planes: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return policy and values of the backend."""
        start = time.process_time()
        found = self.backend.run(planes)
        self.seconds += time.process_time() - start
        return found


class SelfPlay:
    """Games in lock step, each with four random stones at the start."""

    def __init__(self, seed: int = 0, games: int = GAMES, evaluate: EvaluateBatch | None = None) -> None:
        """``evaluate`` replaces the net of three convolutions."""
        self.net = TimedNet()
        evaluate = evaluate or ZeroEvaluator(self.net, POSITIONS, CHUNK)
        options = PuctOptions(c=1.25, c_base=0.0)
        start = initial_state(SIZE)
        self.trees = PuctTrees(start, games, evaluate, options, 2 * SIMULATIONS + 16)
        for array in self.trees.forest:  # touch all memory, as after the first moves of a long run
            array[...] = np.zeros((), array.dtype)
        self.rng = np.random.default_rng(seed)
        for g in range(self.trees.count):
            self.trees.plant(g, start)
        for cells in self.rng.permuted(np.tile(np.arange(SIZE * SIZE, dtype=np.int32), (games, 1)), axis=1)[:, :4].T:
            self.trees.advance_all(cells)

    def simulate(self, upto: int) -> None:
        """Continue the search of all games up to this number of simulations."""
        self.trees.simulate(np.full(self.trees.count, upto, np.int32))

    def begin_move(self) -> None:
        """Evaluate the roots and add noise to their priors."""
        self.simulate(0)
        for g in range(self.trees.count):
            self.trees.add_noise(g, self.rng, 0.05, 0.25)

    def end_move(self) -> None:
        """Sample each game's move and keep the tree below it; no game ends after so few moves."""
        drawn = [sample_step(self.trees.steps(g), self.trees.visits(g), self.rng) for g in range(self.trees.count)]
        self.trees.advance_all(np.array(drawn, np.int32))


def opponent() -> Any:
    """Return a function that searches one position with OpenSpiel's MCTS; None if that is not installed."""
    if importlib.util.find_spec("pyspiel") is None:
        return None
    import pyspiel
    from open_spiel.python.algorithms import mcts

    net = TimedNet()

    class NetEvaluator(mcts.Evaluator):  # type: ignore[misc]
        """Evaluates each position once, for prior and value."""

        def __init__(self) -> None:
            self.seen: dict[str, tuple[npt.NDArray[np.float32], float]] = {}

        def ask(self, state: Any) -> tuple[npt.NDArray[np.float32], float]:
            key = str(state)
            if key not in self.seen:
                planes = np.zeros((1, plane_count(POSITIONS), SIZE, SIZE), np.float32)
                planes[0, :3] = np.asarray(state.observation_tensor(), np.float32).reshape(3, SIZE, SIZE)
                logits, values = net.run(planes)
                self.seen[key] = logits[0], float(values[0])
            return self.seen[key]

        def evaluate(self, state: Any) -> npt.NDArray[np.float64]:
            value = self.ask(state)[1]
            return np.array([value, -value] if state.current_player() == 0 else [-value, value])

        def prior(self, state: Any) -> list[tuple[int, float]]:
            logits, legal = self.ask(state)[0], state.legal_actions()
            weights = np.exp(logits[legal] - logits[legal].max())
            return list(zip(legal, weights / weights.sum(), strict=True))

    game = pyspiel.load_game(f"mnk(m={SIZE},n={SIZE},k=5)")
    rng = np.random.default_rng(1)

    def search() -> None:
        state = game.new_initial_state()
        for cell in rng.choice(SIZE * SIZE, 4, replace=False):
            state.apply_action(int(cell))
        bot = mcts.MCTSBot(
            *(game, 1.25, SIMULATIONS, NetEvaluator()),
            solve=False,
            random_state=np.random.RandomState(1),
            child_selection_fn=mcts.SearchNode.puct_value,
            dirichlet_noise=(0.25, 0.05),
        )
        bot.mcts_search(state)

    return search


def seconds(function: Callable[[], Any]) -> float:
    """Return the CPU seconds of one call; both sides have one thread, and other processes do not count."""
    start = time.process_time()
    function()
    return time.process_time() - start


def line_evaluator() -> LineEvaluator:
    """Return a line net with random heads."""
    import torch

    from pipeline_src.systems.gomoku_zero.nets import LinesConfig, LinesNet, tabulate

    torch.manual_seed(0)
    net = LinesNet(LinesConfig(height=SIZE, width=SIZE))
    torch.nn.init.normal_(net.policy.weight)
    torch.nn.init.normal_(net.value.weight, std=0.1)
    return LineEvaluator(tabulate(net))


def positions(count: int) -> tuple[Any, Any, Any]:
    """Return stacked positions of random games with their legal steps, as input of evaluators."""
    rng, state = np.random.default_rng(0), gomoku.initial_state(SIZE)
    states = stack(state, count)
    steps, counts = np.zeros((count, SIZE * SIZE), np.int32), np.zeros(count, np.int32)
    for b in range(count):
        if gomoku.winner(state) is not None:
            state = gomoku.initial_state(SIZE)
        for whole, one in zip(states, state, strict=True):
            whole[b] = one
        legal = gomoku.legal_actions(state)
        counts[b] = len(legal)
        steps[b, : len(legal)] = legal
        state = gomoku.play(state, int(rng.choice(legal)))
    return states, steps, counts


def measure() -> list[Row]:
    """Also ``gomoku_in_net_share``, the net's fraction of its loop; then the two rows of the line net."""
    games, search = SelfPlay(), opponent()
    if search is not None:
        search()
    games.begin_move()
    games.simulate(WARM)
    games.net.seconds = theirs = 0.0
    ours, searches = seconds(games.begin_move), 0
    for upto in range(SLICE, SIMULATIONS + 1, SLICE):
        ours += seconds(partial(games.simulate, upto))
        if search is not None:
            theirs += seconds(search)
            searches += 1
    ours += seconds(games.end_move)
    rate = GAMES * (SIMULATIONS - WARM) / ours
    reference = searches * SIMULATIONS / theirs if searches else None
    name = "OpenSpiel's Python MCTS, same net"
    return [
        row("gomoku_net_sims_per_s", rate, reference, name, "simulations/s"),
        row("gomoku_in_net_share", games.net.seconds / ours, None, None, "fraction of loop time"),
        *_lines(),
    ]


def _lines() -> list[Row]:
    """The best of each side in interleaved runs."""
    ours = line_evaluator()
    theirs = ZeroEvaluator(TimedNet(), POSITIONS, CHUNK)
    asked = positions(CHUNK * 8)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(REPEATS + 1):  # the first one compiles
        times["ours"].append(seconds(lambda: [ours(*asked) for _ in range(8)]) / 8)
        times["theirs"].append(seconds(partial(theirs, *asked)))
    fast, slow = (len(asked[2]) / min(times[side][1:]) for side in ("ours", "theirs"))
    return [
        row("gomoku_lines_evals_per_s", fast, slow, "three convolutions in ONNX Runtime", "positions/s"),
        _simulations(ours),
    ]


def _simulations(evaluator: LineEvaluator) -> Row:
    games, reference = SelfPlay(evaluate=evaluator), SelfPlay(games=CHUNK)  # full batches for its net
    spent = [0.0, 0.0]
    for side, one in enumerate((games, reference)):
        one.begin_move()
        one.simulate(WARM)
        spent[side] += seconds(one.begin_move)
    for upto in range(SLICE, SIMULATIONS + 1, SLICE):
        for side, one in enumerate((games, reference)):
            spent[side] += seconds(partial(one.simulate, upto))
    for side, one in enumerate((games, reference)):
        spent[side] += seconds(one.end_move)
    fast, slow = (
        one.trees.count * (SIMULATIONS - WARM) / taken for one, taken in zip((games, reference), spent, strict=True)
    )
    return row("gomoku_lines_sims_per_s", fast, slow, "three convolutions in ONNX Runtime", "simulations/s")

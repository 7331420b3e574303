"""Simulations a second of Gomoku self-play with a net, beside OpenSpiel's Python MCTS with the same net.

15x15, 300 simulations a move, the plain net of three convolutions (32, 64, 128 filters, 11 planes, random weights) in
ONNX Runtime on one thread. Ours plays 256 games in lock step, with root noise, sampled moves and tree reuse, as
self-play does. The reference searches one position at a time, as it does, and sees its own three planes in place of
eleven, which costs it less; it is null where open_spiel is not installed (``pip install -e '.[bench]'``).
"""

import importlib.util
import multiprocessing
import statistics
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import row
from pipeline_src.games.gomoku.setup import initial_state
from pipeline_src.search.mcts.puct_forest import PuctOptions
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees, sample_step
from pipeline_src.systems.gomoku_zero.evaluator import ZeroEvaluator
from pipeline_src.systems.gomoku_zero.planes import plane_count

SIZE, POSITIONS, FILTERS = 15, 5, (32, 64, 128)
GAMES, SIMULATIONS, CHUNK = 256, 300, 64
WARM = 2
"""Simulations before the clock runs."""
SLICE = 60
"""Simulations of ours between two searches of the reference, so that noise of the machine falls on both."""
PAIR_SIMULATIONS, PAIR_REPEATS = 16, 6
"""Of each game, for one process and for two in turn."""
Planes = npt.NDArray[np.float32]


class TimedNet:
    """The net; sums up the processor's seconds in it."""

    def __init__(self) -> None:
        import torch

        from pipeline_src.systems.gomoku_zero.backends import open_backend
        from pipeline_src.systems.gomoku_zero.models import ZeroModel
        from pipeline_src.systems.gomoku_zero.plain import PlainConfig, PlainNet

        torch.manual_seed(0)
        net = PlainNet(PlainConfig(SIZE, SIZE, POSITIONS, FILTERS, batch_norm=False)).eval()
        self.backend = open_backend(ZeroModel(net, "gomoku", "freestyle", 1), "onnx", threads=1)
        self.seconds = 0.0

    def __call__(self, planes: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Policy and values, as the backend finds them."""
        start = time.process_time()
        found = self.backend.run(planes)
        self.seconds += time.process_time() - start
        return found


class SelfPlay:
    """Games in lock step, begun by four random stones each."""

    def __init__(self, seed: int = 0, games: int = GAMES, evaluate: EvaluateBatch | None = None) -> None:
        """``evaluate`` takes the place of the net of three convolutions."""
        self.net = TimedNet()
        evaluate = evaluate or ZeroEvaluator(self.net, POSITIONS, CHUNK)
        options = PuctOptions(c=1.25, c_base=0.0)
        start = initial_state(SIZE)
        self.trees = PuctTrees(start, games, evaluate, options, 2 * SIMULATIONS + 16)
        for array in self.trees.forest:  # touched once, as after the first moves of a long run
            array[...] = np.zeros((), array.dtype)
        self.rng = np.random.default_rng(seed)
        for g in range(self.trees.count):
            self.trees.plant(g, start)
        for cells in self.rng.permuted(np.tile(np.arange(SIZE * SIZE, dtype=np.int32), (games, 1)), axis=1)[:, :4].T:
            self.trees.advance_all(cells)

    def simulate(self, upto: int) -> None:
        """Bring all games to so many simulations of their present move."""
        self.trees.simulate(np.full(self.trees.count, upto, np.int32))

    def begin_move(self) -> None:
        """Evaluate the roots and add noise to their priors."""
        self.simulate(0)
        for g in range(self.trees.count):
            self.trees.add_noise(g, self.rng, 0.05, 0.25)

    def end_move(self) -> None:
        """Draw each game's move and keep the tree below it; so few moves end no game."""
        drawn = [sample_step(self.trees.steps(g), self.trees.visits(g), self.rng) for g in range(self.trees.count)]
        self.trees.advance_all(np.array(drawn, np.int32))


def opponent() -> Any:
    """A function that searches one position with OpenSpiel's MCTS, or None where that is not installed."""
    if importlib.util.find_spec("pyspiel") is None:
        return None
    import pyspiel
    from open_spiel.python.algorithms import mcts

    net = TimedNet()

    class NetEvaluator(mcts.Evaluator):  # type: ignore[misc]
        """Asks the net once a position, for its prior and its value."""

        def __init__(self) -> None:
            self.seen: dict[str, tuple[npt.NDArray[np.float32], float]] = {}

        def ask(self, state: Any) -> tuple[npt.NDArray[np.float32], float]:
            key = str(state)
            if key not in self.seen:
                planes = np.zeros((1, plane_count(POSITIONS), SIZE, SIZE), np.float32)
                planes[0, :3] = np.asarray(state.observation_tensor(), np.float32).reshape(3, SIZE, SIZE)
                logits, values = net(planes)
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


def seconds(function: Callable[[], None]) -> float:
    """The processor's seconds of one call; both sides have one thread, and other processes do not count."""
    start = time.process_time()
    function()
    return time.process_time() - start


def measure() -> list[dict[str, Any]]:
    """``gomoku_net_sims_per_s``, ``gomoku_in_net_share`` of its loop, and ``gomoku_two_process_speedup``."""
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
    name = "OpenSpiel's Python MCTS, same net" if searches else None
    return [
        row("gomoku_net_sims_per_s", rate, reference, name, "simulations/s"),
        row("gomoku_in_net_share", games.net.seconds / ours, None, None, "fraction of loop time"),
        row("gomoku_two_process_speedup", two_process_speedup(), None, None, "times one process"),
    ]


def two_process_speedup() -> float:
    """Simulations a second of two processes by that of one, each with games and a thread of its own; a median."""
    context = multiprocessing.get_context("spawn")
    ends = [context.Pipe() for _ in range(2)]
    workers = [context.Process(target=work, args=(theirs, seed), daemon=True) for seed, (_, theirs) in enumerate(ends)]
    for worker, (_, theirs) in zip(workers, ends, strict=True):
        worker.start()
        theirs.close()  # so that a worker's end is noticed
    connections = [ours for ours, _ in ends]
    try:
        together(connections)  # loaded and warm
        ratios = []
        for repeat in range(PAIR_REPEATS):
            alone = together(connections[repeat % 2 :][:1])
            ratios.append(2 * alone / together(connections))
        for connection in connections:
            connection.send(None)
    finally:
        for connection, worker in zip(connections, workers, strict=True):
            connection.close()
            worker.join()
    return statistics.median(ratios)


def together(connections: list[Any]) -> float:
    """Seconds until all of these workers have searched on in their games."""
    start = time.perf_counter()
    for connection in connections:
        connection.send(PAIR_SIMULATIONS)
    for connection in connections:
        connection.recv()
    return time.perf_counter() - start


def work(connection: Connection, seed: int) -> None:
    """A worker: searches on by as many simulations as come in, until None does or nobody is there."""
    games, upto = SelfPlay(seed), 0
    games.begin_move()
    while (more := connection.recv()) is not None:
        upto += more
        games.simulate(upto)
        connection.send(upto)

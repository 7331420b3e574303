"""The net of rays on 10x10 with one thread: positions a second, and simulations a second of a search on its own.

The reference is the packaged residual net in ONNX Runtime, in 32-bit floats, 8 positions at a time. The net of rays has
random weights; both see positions of random games.
"""

from functools import partial
from typing import Any

import numpy as np

from bench.gomoku_net import seconds
from bench.measure import Row, row
from pipeline_src.games import amazons, kernels
from pipeline_src.games.kernels import stack
from pipeline_src.games.rules import copy_state
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.search.amazons.ray_keys import ROWS
from pipeline_src.search.amazons.rays import CHANNELS, WEIGHTS, RayEvaluator, RayTable
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.systems.amazons_net.player import SettlingEvaluator, open_nets

POSITIONS, BATCH, REPEATS = 400, 8, 5
SIMULATIONS, SHARE = 4_000, 10  # Ours in a search, and how many times as many as the reference's
REFERENCE = "residual net in ONNX Runtime"


def random_rays(seed: int = 0) -> RayTable:
    """Return a net with random weights, so small that its answers are not certain."""
    rng = np.random.default_rng(seed)
    heads = {name: (rng.normal(size=count) * 0.1).astype(np.float32) for name, count in WEIGHTS.items()}
    return RayTable((rng.normal(size=(ROWS, CHANNELS)) * 200).astype(np.int16), heads)


def positions(count: int) -> tuple[Any, Any, Any]:
    """Return stacked positions of random games, before moves and before arrows, and their steps, for evaluators."""
    rng, start = np.random.default_rng(0), amazons.initial_state()
    state, states = copy_state(start), stack(start, count)
    steps, counts = np.zeros((count, int(kernels.max_steps(start))), np.int32), np.zeros(count, np.int32)
    for b in range(count):
        while (legal := int(kernels.write_steps(state, steps[b]))) == 0:
            state = copy_state(start)
        for whole, one in zip(states, state, strict=True):
            whole[b] = one
        counts[b] = legal
        kernels.play_step(state, int(rng.choice(steps[b, :legal])))
    return states, steps, counts


def measure() -> list[Row]:
    """``amazons_rays_evals_per_s`` and ``amazons_rays_sims_per_s``, the best of each side in interleaved runs."""
    (net,) = (one for one in packaged_nets("amazons") if one.card.size == 10)
    ours, theirs = RayEvaluator(random_rays(), settles=True), open_nets(str(net.file), "onnx", BATCH)
    plain, asked = RayEvaluator(random_rays()), positions(POSITIONS)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(REPEATS + 1):  # the first one compiles
        times["ours"].append(seconds(lambda: [plain(*asked) for _ in range(20)]) / 20)
        times["theirs"].append(seconds(partial(theirs, *asked)))
    fast, slow = (POSITIONS / min(times[side][1:]) for side in ("ours", "theirs"))
    options = PuctOptions(solve=True)
    searches = [
        (Puct(ours, options, SIMULATIONS + 2), SIMULATIONS),
        (Puct(SettlingEvaluator(theirs), options, SIMULATIONS + 2, per_tree=BATCH), SIMULATIONS // SHARE),
    ]
    found: list[list[float]] = [[], []]
    states = [type(asked[0])(*(array[b] for array in asked[0])) for b in range(POSITIONS) if asked[0].turn[b, 1] < 0]
    for state in [states[0], *states[:120:12]]:
        for side, (searcher, count) in enumerate(searches):
            found[side].append(seconds(partial(searcher.search, state, Limit(nodes=count))) / count)
    many, few = (1 / float(np.median(side[1:])) for side in found)
    return [
        row("amazons_rays_evals_per_s", fast, slow, REFERENCE, "positions/s"),
        row("amazons_rays_sims_per_s", many, few, REFERENCE, "simulations/s"),
    ]

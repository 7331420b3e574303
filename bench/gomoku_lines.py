"""The line net on 15x15 with one thread: positions a second, and simulations a second of self-play.

The reference is the net of three convolutions of `bench.gomoku_net` in ONNX Runtime, 64 positions at a time, for
positions and for simulations. Both have the same openings and noise, and random weights.
"""

from functools import partial
from typing import Any

import numpy as np

from bench.gomoku_net import CHUNK, POSITIONS, SIMULATIONS, SIZE, SLICE, WARM, SelfPlay, TimedNet, seconds
from bench.measure import Row, row
from pipeline_src.games import gomoku
from pipeline_src.games.kernels import stack
from pipeline_src.systems.gomoku_zero.evaluator import LineEvaluator, ZeroEvaluator

REPEATS = 5


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
    """``gomoku_lines_evals_per_s`` and ``gomoku_lines_sims_per_s``, the best of each side in interleaved runs."""
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

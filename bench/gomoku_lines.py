"""The line net on 15x15, one thread: positions a second, and simulations a second of self-play.

The reference of the positions is the packaged convolutional net of that board in ONNX Runtime, 64 positions at a time.
The reference of the simulations is the self-play of `bench.gomoku_net`, the net of three convolutions. Ours plays
with the same openings and noise; its net has random weights, as that one has.
"""

from functools import partial
from typing import Any

import numpy as np

from bench.gomoku_net import CHUNK, SIMULATIONS, SIZE, SLICE, WARM, SelfPlay, seconds
from bench.measure import row
from pipeline_src.games import gomoku
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.search.mcts.batches import stack
from pipeline_src.systems.gomoku_zero.evaluator import LineEvaluator, make_evaluator

REPEATS = 5


def line_evaluator() -> LineEvaluator:
    """A line net whose policy says something."""
    import torch

    from pipeline_src.systems.gomoku_zero.lines import LinesConfig, LinesNet, tabulate

    torch.manual_seed(0)
    net = LinesNet(LinesConfig(SIZE, SIZE))
    torch.nn.init.normal_(net.policy.weight)
    torch.nn.init.normal_(net.value.weight, std=0.1)
    return LineEvaluator(tabulate(net))


def positions(count: int) -> tuple[Any, Any, Any]:
    """Stacked positions of random games in order, with their legal steps, as evaluators take them."""
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


def measure() -> list[dict[str, Any]]:
    """``gomoku_lines_evals_per_s`` and ``gomoku_lines_sims_per_s``, both sides in turn, the best of each."""
    ours = line_evaluator()
    packaged = next(net for net in packaged_nets("gomoku") if net.card.size == SIZE)
    theirs, _ = make_evaluator(packaged.checked(), "onnx", CHUNK)
    asked = positions(CHUNK * 8)
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(REPEATS + 1):  # the first one compiles
        times["ours"].append(seconds(lambda: [ours(*asked) for _ in range(8)]) / 8)
        times["theirs"].append(seconds(partial(theirs, *asked)))
    fast, slow = (len(asked[2]) / min(times[side][1:]) for side in ("ours", "theirs"))
    return [
        row("gomoku_lines_evals_per_s", fast, slow, "packaged net in ONNX Runtime", "positions/s"),
        _simulations(ours),
    ]


def _simulations(evaluator: LineEvaluator) -> dict[str, Any]:
    games, reference = SelfPlay(evaluate=evaluator), SelfPlay(games=CHUNK)  # full batches of its net
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

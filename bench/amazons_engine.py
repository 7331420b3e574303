"""Evaluation and turn generation of the Amazons engine, against plain C++ that processes one position at a time."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.measure import Row, compiled, row, seconds
from pipeline_src.games import amazons
from pipeline_src.games.amazons import AmazonsState, write_turns
from pipeline_src.jit import njit
from pipeline_src.search.amazons.evaluation import AmazonsEvaluator, evaluate_words, make_evaluator, rank_all
from pipeline_src.search.amazons.terms import amazon_squares, empty_squares

GAMES = 40
REPEATS = 15
PLIES = range(0, 60, 2)  # Plies after which positions are taken, from games played one ply deep after four random plies


class Stack(NamedTuple):
    """Positions of one board size, stacked along the first axis of each array."""

    boards: npt.NDArray[np.int8]
    lines: npt.NDArray[np.uint16]
    amazons: npt.NDArray[np.int16]
    turns: npt.NDArray[np.int16]
    hashes: npt.NDArray[np.uint64]


@njit(cache=True)
def generate_all(stack: Stack, scratch: npt.NDArray[np.int32], out: npt.NDArray[np.int32]) -> int:
    """Generate and store the turns of all positions; return their number."""
    total = 0
    for i in range(stack.boards.shape[0]):
        state = AmazonsState(stack.boards[i], stack.lines[i], stack.amazons[i], stack.turns[i], stack.hashes[i])
        total += write_turns(state, scratch, out)
    return total


def summing(mobility: bool) -> AmazonsEvaluator:
    """Return an evaluator with the value t1 + t2 + c1 + c2 + w, and + m with ``mobility``.

    The term w is a constant that rises with w.
    """
    m = 1.0 if mobility else 0.0
    knots = np.array([[0.0, 1, 1, 1, 1, m, 0, 0, 0], [128.0, 1, 1, 1, 1, m, 0, 128, 1 / 128]])
    return make_evaluator()._replace(knots=knots, tempo=np.array([0.2, 0.0 if mobility else np.inf]))


def positions() -> list[AmazonsState]:
    """Return unfinished positions of every phase, too many for a branch predictor to learn."""
    evaluator, rng, found = make_evaluator(), np.random.default_rng(7), []
    _, actions = amazons.buffers(amazons.initial_state())
    values = np.empty(actions.size, np.float32)
    for _ in range(GAMES):
        state = amazons.initial_state()
        while amazons.winner(state) is None:
            if state.turn[2] in PLIES:
                found.append(state)
            n = rank_all(state, evaluator, actions, values)
            action = rng.choice(actions[:n]) if state.turn[2] < 4 else actions[np.argmax(values[:n])]
            state = amazons.play(state, int(action))
    return found


def words_of(states: list[AmazonsState]) -> npt.NDArray[np.uint64]:
    """Return uint64 [N, 6], the input of `evaluate_words`."""
    rows = []
    for state in states:
        side, width = amazons.to_play(state), state.board.shape[1]
        own, other = amazon_squares(state.amazons, side, width), amazon_squares(state.amazons, 1 - side, width)
        rows.append([*own, *other, *empty_squares(state.board)])
    return np.array(rows, np.uint64)


def children(states: list[AmazonsState]) -> list[AmazonsState]:
    """Return positions after a few successive turns of each position, as a search evaluates them."""
    rng, found = np.random.default_rng(8), []
    for state in states:
        actions = amazons.legal_actions(state)
        first = int(rng.integers(max(1, len(actions) - 8)))
        found += [amazons.play(state, int(action)) for action in actions[first : first + 8]]
    return [child for child in found if amazons.winner(child) is None]


def measure() -> list[Row]:
    """Rates a second, the best of `REPEATS` passes in turns with the C++, whose sums must be the same."""
    parents = positions()
    batch = children(parents)
    some = [amazons.initial_state(), *parents[6 :: len(parents) // 12]]
    words, few_words = words_of(batch), words_of(some)
    values = np.empty(len(batch), np.float32)
    scratch, actions = amazons.buffers(parents[0])
    ranked = np.empty(actions.size, np.float32)
    plain, mobile = summing(mobility=False), summing(mobility=True)
    few = Stack(*map(np.stack, zip(*some, strict=True)))

    def evaluate(evaluator: AmazonsEvaluator) -> float:
        evaluate_words(words, evaluator, values)
        return float(values.sum(dtype=float))

    def one_ply() -> tuple[float, int]:
        total, count = 0.0, 0
        for state in some:
            n = rank_all(state, mobile, actions, ranked)
            total, count = total - float(ranked[:n].sum(dtype=float)), count + n
        return total, count

    _, evaluated = one_ply()
    ours: dict[str, tuple[Callable[[], Any], int]] = {
        "amazons_evaluation_per_s": (lambda: evaluate(plain), len(batch)),
        "amazons_evaluation_mobility_per_s": (lambda: evaluate(mobile), len(batch)),
        "amazons_generation_per_s": (lambda: generate_all(few, scratch, actions), evaluated),
        "amazons_one_ply_per_s": (lambda: one_ply()[0], evaluated),
    }
    best, theirs = dict.fromkeys(ours, 0.0), dict.fromkeys(ours, 0.0)
    with compiled(Path(__file__).with_suffix(".cpp")) as (program, folder):
        files = [folder / "batch", folder / "few"]
        for path, data in zip(files, (words, few_words), strict=True):
            path.write_bytes(data.astype("<u8").tobytes())
        for _ in range(REPEATS):  # interleaved, so that noise of the machine falls on both
            for name, (function, count) in ours.items():
                best[name] = max(best[name], count / seconds(function))
            if program:
                for name, (rate, total) in _reference(program, files, len(batch), evaluated).items():
                    theirs[name] = max(theirs[name], rate)
                    expected = float(ours[name][0]())
                    assert abs(total - expected) <= 1e-6 * max(1e3, abs(expected)), (name, total, expected)
    label = "C++ -O3, bitboards, one at a time" if program else None
    return [row(name, best[name], theirs[name] if program else None, label, "1/s") for name in ours]


def _reference(program: str, files: list[Path], batch: int, evaluated: int) -> dict[str, tuple[float, float]]:
    """Return rate and sum of the C++ by name."""
    lines = []
    for path in files:
        command = [program, str(path), "0.2", "1"]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        lines.append([tuple(map(float, line.split())) for line in out.splitlines()])
    (plain, mobile), (_, _, generation, one_ply) = lines[0][:2], lines[1]
    return {
        "amazons_evaluation_per_s": (batch / plain[0], plain[1]),
        "amazons_evaluation_mobility_per_s": (batch / mobile[0], mobile[1]),
        "amazons_generation_per_s": (evaluated / generation[0], generation[1]),
        "amazons_one_ply_per_s": (evaluated / one_ply[0], one_ply[1]),
    }

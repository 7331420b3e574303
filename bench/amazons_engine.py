"""Evaluation and turn generation of the Amazons engine, against plain C++ that processes one position at a time.

``amazons_perft2_ms`` is perft(2) from the start with every turn of the last ply generated and stored, against C++ with
a mailbox; ``amazons_perft2_counted_ms`` counts the last ply, as `zugwerk amazons perft` does.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bench.measure import Row, compiled, medians, row, seconds
from pipeline_src.games import amazons
from pipeline_src.games.amazons import AmazonsState, perft, write_turns
from pipeline_src.jit import njit
from pipeline_src.search.amazons.evaluation import AmazonsEvaluator, evaluate_words, make_evaluator, rank_all
from pipeline_src.search.amazons.terms import amazon_squares, empty_squares

GAMES = 40
REPEATS = 15
PERFT_2 = 4_307_152
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


@njit(cache=True)
def perft2_stored(
    state: AmazonsState, scratch: npt.NDArray[np.int32], first: npt.NDArray[np.int32], last: npt.NDArray[np.int32]
) -> int:
    """Return perft(2), with the last ply generated and stored too."""
    squares, total = state.board.size, 0
    for i in range(write_turns(state, scratch, first)):
        turn = first[i]
        start, to, arrow = turn // (squares * squares), turn // squares % squares, turn % squares
        amazons.move_amazon(state, start, to)
        amazons.shoot(state, arrow)
        total += write_turns(state, scratch, last)
        amazons.take_back(state, start, to, arrow)
    return total


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
    with compiled("amazons_engine") as (program, folder):
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
    label = "C++ -O3, bitboards, one at a time"
    return [row(name, best[name], theirs[name] or None, label, "1/s") for name in ours] + _perft()


def _reference(
    program: Callable[..., str], files: list[Path], batch: int, evaluated: int
) -> dict[str, tuple[float, float]]:
    """Return rate and sum of the C++ by name."""
    outs = [program(path, 0.2, 1).splitlines() for path in files]
    lines = [[tuple(map(float, line.split())) for line in out] for out in outs]
    (plain, mobile), (_, _, generation, one_ply) = lines[0][:2], lines[1]
    return {
        "amazons_evaluation_per_s": (batch / plain[0], plain[1]),
        "amazons_evaluation_mobility_per_s": (batch / mobile[0], mobile[1]),
        "amazons_generation_per_s": (evaluated / generation[0], generation[1]),
        "amazons_one_ply_per_s": (evaluated / one_ply[0], one_ply[1]),
    }


def _perft() -> list[Row]:
    state = amazons.initial_state()
    scratch, first = amazons.buffers(state)
    last = np.empty_like(first)
    assert perft2_stored(state, scratch, first, last) == perft(state, 2) == PERFT_2
    with compiled("amazons_perft") as (program, _):

        def cpp() -> float:
            assert program is not None
            nodes, ms = program(15).split()
            assert int(nodes) == PERFT_2
            return float(ms)

        theirs = cpp if program else None
        stored = medians(lambda: 1e3 * seconds(lambda: perft2_stored(state, scratch, first, last)), theirs, 9)
        counted = medians(lambda: 1e3 * seconds(lambda: perft(state, 2)), theirs, 9)
    found = {"amazons_perft2_ms": stored, "amazons_perft2_counted_ms": counted}
    return [row(name, *times, "C++ -O3, mailbox, stored", "ms") for name, times in found.items()]

"""The static evaluation of the Amazons: territory, closeness and mobility, weighted by the openness of the board.

The terms are those of `terms`; their weights are interpolated between knots in w. At w = 0 no square is open to both
sides: t1 is then the difference between the squares left to each side. Half a square is subtracted, because the side to
move loses if both have the same number.

Source: Lieberum, "An evaluation function for the game of Amazons", Theoretical Computer Science 349 (2005).
"""

from itertools import pairwise
from typing import Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from pipeline_src.games.amazons import EMPTY as NO_PIECE
from pipeline_src.games.amazons import MAX_REACH, SPARE, AmazonsState, can_move, flip, reach, write_moves, write_turns
from pipeline_src.games.kernels import implement
from pipeline_src.jit import njit
from pipeline_src.project.params import Count, Fraction, Items, Params
from pipeline_src.search import evaluator
from pipeline_src.search.amazons.endgame import EndgameScratch, endgame_scratch, settle_amazons
from pipeline_src.search.amazons.terms import (
    BITS,
    FREE,
    LANES,
    OTHER,
    OWN,
    OWN_ALL,
    U64,
    Lanes,
    Terms,
    amazon_squares,
    collect,
    count_apart,
    empty_squares,
    king_balance,
    king_fills,
    make_lanes,
    mobility,
    queen_fills,
    terms,
)
from pipeline_src.search.evaluator import WIN

# Params of the Amazons evaluation and of the searches that use it.


class Phase(Params):
    """Weights of the terms at one openness of the board. They are interpolated between two phases."""

    w: float
    """Openness: squares that both sides reach, weighted less the more their distances differ; 70 at the start."""
    t1: float
    """Territory by queen moves."""
    t2: float = 0.0
    """Territory by king moves."""
    c1: float = 0.0
    """Closeness by queen moves."""
    c2: float = 0.0
    """Closeness by king moves."""
    m: float = 0.0
    """Mobility of the amazons."""
    e: float = 0.0
    """Enclosed amazons."""
    one: float = 0.0
    """Being to move."""


HAND = (
    Phase(w=0.0, t1=1.0),
    Phase(w=8.0, t1=0.40, t2=0.35, c2=0.02),
    Phase(w=30.0, t1=0.17, t2=0.30, c1=0.17, c2=0.32),
    Phase(w=60.0, t1=0.17, t2=0.09, c1=-0.10, c2=0.19),
)
"""Weights chosen by matches among a few fits to 1,800 searches, before there was the term e."""

LEARNED = (
    Phase(w=0.0, t1=1.0),
    Phase(w=6.0, t1=0.29, t2=0.19, c1=-0.09, c2=0.23, e=-0.58, one=-0.39),
    Phase(w=12.0, t1=0.27, t2=0.21, c1=0.10, c2=0.08, e=-0.52, one=-0.15),
    Phase(w=20.0, t1=0.19, t2=0.17, c1=0.09, c2=0.20, e=-1.35, one=0.13),
    Phase(w=32.0, t1=0.13, t2=0.11, c1=0.04, c2=0.33, e=-2.18, one=0.19),
    Phase(w=46.0, t1=-0.01, t2=0.07, c1=0.22, c2=0.39, e=-2.75, one=0.60),
    Phase(w=60.0, t1=-0.05, t2=0.04, c1=0.18, c2=0.03, e=-3.52, one=0.74),
)
"""Learned from 260 games of the engine against itself, 10,815 positions searched with 100,000 nodes each.

Made in four minutes of one core, 23 November 2026, with bench/fit_amazons.py of commit 115887a:

    python -m bench.fit_amazons --seed 2 games FOLDER --count 260 --weights FIRST
    python -m bench.fit_amazons fit FOLDER

FIRST are the weights that a first round learned from 240 games by `HAND`; docs/experiments.md lists them and the
matches. On held-out games (2,178 positions) the error is 1.32 squares, that of `HAND` 2.15."""


class AmazonsEngine(Params):
    """The evaluation: territory (t1, t2), position (c1, c2), mobility (m) and enclosed amazons (e), by openness w."""

    weights: Literal["learned", "hand"] = "learned"
    """Weights of the terms: those learned from the engine's own games, or the ones before them, found by hand."""
    tempo: Fraction = 0.2
    """Value, to the side to move, of a square that both sides reach in the same number of moves."""
    phases: Items[Phase] = ()
    """Weights of one's own by rising w, in place of those that ``weights`` names. The first phase is at w = 0, the
    closed board, where t1 counts the squares of each side."""
    table_mb: Count = 64
    """Size of the transposition table in MiB."""

    @model_validator(mode="after")
    def _begins_at_the_closed_board(self) -> Self:
        if not self.phases:
            return self
        if self.phases[0].w != 0:
            raise ValueError("phases must begin with one at w = 0")
        if any(a.w >= b.w for a, b in pairwise(self.phases)):
            raise ValueError(f"phases must have rising w, not {[p.w for p in self.phases]}")
        if self.phases[0] != Phase(w=0.0, t1=1.0):
            raise ValueError("the phase at w = 0 must have t1 = 1 and no other term: squares are counted there")
        return self

    def table(self) -> npt.NDArray[np.float64]:
        """Return the phases as float64 [K, 8]: w, t1, t2, c1, c2, m, e, 1."""
        phases = self.phases or {"learned": LEARNED, "hand": HAND}[self.weights]
        return np.array([list(phase.model_dump().values()) for phase in phases])


PARITY = 0.5  # Squares subtracted from the value of the side to move at w = 0


class AmazonsEvaluator(NamedTuple):
    """The evaluation in the form that searches take: weights, and scratch space for one thread."""

    knots: npt.NDArray[np.float64]
    """[K, 9]: w, rising from 0; the weights of t1, t2, c1, c2, m, e and 1 there; one over the distance in w from the
    previous knot."""
    tempo: npt.NDArray[np.float64]
    """[2]: value of a square that both sides reach at once; the least w at which m may have a weight."""
    moves: npt.NDArray[np.int32]
    likely: npt.NDArray[np.float32]  # Values of the moves of a position before the arrow
    found: npt.NDArray[np.float64]
    lanes: Lanes
    endgame: EndgameScratch


def make_evaluator(engine: AmazonsEngine | None = None, amazons: int = 4) -> AmazonsEvaluator:
    """Return an evaluator for positions with up to ``amazons`` amazons per side, by default with the default weights.

    ``evaluate(get_game("amazons").initial_state(), make_evaluator())`` is the value of the start position in squares.
    """
    engine = engine or AmazonsEngine()
    table = engine.table()
    inverse = np.zeros(len(table))
    table[0, 7] = -PARITY
    inverse[1:] = 1 / np.diff(table[:, 0])
    mobile = np.flatnonzero(table[:, 5])
    least = table[max(0, mobile[0] - 1), 0] if mobile.size else np.inf
    return AmazonsEvaluator(
        np.column_stack([table, inverse]),
        np.array([engine.tempo, least]),
        np.empty(amazons * MAX_REACH + SPARE, np.int32),
        np.empty(amazons * MAX_REACH + SPARE, np.float32),
        np.empty(LANES),
        make_lanes(),
        endgame_scratch(amazons),
    )


@njit(cache=True)
def weigh(found: Terms, knots: npt.NDArray[np.float64]) -> float:
    """Return the weighted sum of the terms. `weigh_lanes` computes the same sums in the same order."""
    total = knots[0, 1] * found.t1
    total += knots[0, 2] * found.t2
    total += knots[0, 3] * found.c1
    total += knots[0, 4] * found.c2
    total += knots[0, 5] * found.m
    total += knots[0, 6] * found.e
    total += knots[0, 7]
    for k in range(1, knots.shape[0]):
        share = (found.w - knots[k - 1, 0]) * knots[k, 8]
        share = 0.0 if share < 0.0 else 1.0 if share > 1.0 else share
        change = (knots[k, 1] - knots[k - 1, 1]) * found.t1
        change += (knots[k, 2] - knots[k - 1, 2]) * found.t2
        change += (knots[k, 3] - knots[k - 1, 3]) * found.c1
        change += (knots[k, 4] - knots[k - 1, 4]) * found.c2
        change += (knots[k, 5] - knots[k - 1, 5]) * found.m
        change += (knots[k, 6] - knots[k - 1, 6]) * found.e
        change += knots[k, 7] - knots[k - 1, 7]
        total += share * change
    return float(total)


@njit(cache=True)
def weigh_lanes(lanes: Lanes, knots: npt.NDArray[np.float64], values: npt.NDArray[np.float64]) -> None:
    """Compute the weighted sum of the terms in each lane."""
    found = lanes.terms
    t1, t2, c1, c2 = knots[0, 1], knots[0, 2], knots[0, 3], knots[0, 4]
    m, e, one = knots[0, 5], knots[0, 6], knots[0, 7]
    for i in range(LANES):
        total = t1 * found[i]
        total += t2 * found[LANES + i]
        total += c1 * found[2 * LANES + i]
        total += c2 * found[3 * LANES + i]
        total += m * found[5 * LANES + i]
        total += e * found[6 * LANES + i]
        values[i] = total + one
    for k in range(1, knots.shape[0]):
        start, inverse = knots[k - 1, 0], knots[k, 8]
        t1, t2, c1 = knots[k, 1] - knots[k - 1, 1], knots[k, 2] - knots[k - 1, 2], knots[k, 3] - knots[k - 1, 3]
        c2, m, e = knots[k, 4] - knots[k - 1, 4], knots[k, 5] - knots[k - 1, 5], knots[k, 6] - knots[k - 1, 6]
        one = knots[k, 7] - knots[k - 1, 7]
        for i in range(LANES):
            share = (found[4 * LANES + i] - start) * inverse
            share = 0.0 if share < 0.0 else share
            share = 1.0 if share > 1.0 else share
            change = t1 * found[i]
            change += t2 * found[LANES + i]
            change += c1 * found[2 * LANES + i]
            change += c2 * found[3 * LANES + i]
            change += m * found[5 * LANES + i]
            change += e * found[6 * LANES + i]
            change += one
            values[i] += share * change


@njit(cache=True)
def value_lanes(evaluator: "AmazonsEvaluator") -> None:
    """Write the value of the position in each lane to ``evaluator.found``; ``-WIN`` if the side to move has no turn."""
    lanes, values = evaluator.lanes, evaluator.found
    s, terms = lanes.words, lanes.terms
    steps = king_fills(lanes)
    king_balance(lanes, steps)
    count_apart(lanes, queen_fills(lanes))
    collect(lanes, evaluator.tempo[0])
    openness = 0.0
    for i in range(LANES):
        openness = max(openness, terms[4 * LANES + i])
        terms[5 * LANES + i] = 0.0
    if openness >= evaluator.tempo[1]:  # in the other lanes m has weight 0
        mobility(lanes)
    weigh_lanes(lanes, evaluator.knots, values)
    for i in range(LANES):
        if s[OWN_ALL * LANES + i] | s[(OWN_ALL + 1) * LANES + i] == U64(0):
            values[i] = -WIN


@njit(cache=True, nogil=True)
def evaluate_words(words: npt.NDArray[np.uint64], evaluator: AmazonsEvaluator, values: npt.NDArray[np.float32]) -> None:
    """Write the values of positions given as words to ``values``, float32 [N]; ``-WIN`` if the mover has no turn.

    ``words`` is uint64 [N, 6]: the mover's amazons, the other side's and the empty squares, low and high word of each
    (see `terms`).
    """
    s, n = evaluator.lanes.words, words.shape[0]
    for first in range(0, n, LANES):
        size = min(LANES, n - first)
        for i in range(LANES):  # the last position again, to fill the lanes
            for row in range(6):
                s[row * LANES + i] = words[first + min(i, size - 1), row]
        value_lanes(evaluator)
        for i in range(size):
            values[first + i] = evaluator.found[i]


@njit(cache=True)
def _evaluate(state: AmazonsState, evaluator: AmazonsEvaluator) -> float:
    if not can_move(state):
        return -WIN
    return float(weigh(terms(state, evaluator.tempo[0], evaluator.tempo[1]), evaluator.knots))


@njit(cache=True)
def _value_turns(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    actions: npt.NDArray[np.int32],
    n: int,
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    """Write the values of ``n`` turns, up to the first of at least ``stop_at``; return their number."""
    squares, bits = state.board.size, BITS[state.board.shape[1]]
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high = amazon_squares(state.amazons, state.turn[0], state.board.shape[1])
    other_low, other_high = amazon_squares(state.amazons, 1 - state.turn[0], state.board.shape[1])
    s, found = evaluator.lanes.words, evaluator.found
    for i in range(LANES):  # after a turn the opponent is to move
        s[OWN * LANES + i], s[(OWN + 1) * LANES + i] = other_low, other_high
    base, low, high = -squares, U64(0), U64(0)
    for first in range(0, n, LANES):
        size = min(LANES, n - first)
        for i in range(LANES):  # the last turn again, to fill the lanes
            arrow = actions[first + min(i, size - 1)] - base
            if not 0 <= arrow < squares:  # first turn of the next move, which may have a smaller number
                move = (base + arrow) // squares
                base, arrow = move * squares, base + arrow - move * squares
                start, to = np.uint64(move // squares), np.uint64(move % squares)
                low, high = bits[start, 0] ^ bits[to, 0], bits[start, 1] ^ bits[to, 1]
            s[OTHER * LANES + i], s[(OTHER + 1) * LANES + i] = own_low ^ low, own_high ^ high
            s[FREE * LANES + i] = empty_low ^ low ^ bits[np.uint64(arrow), 0]
            s[(FREE + 1) * LANES + i] = empty_high ^ high ^ bits[np.uint64(arrow), 1]
        value_lanes(evaluator)
        best = -WIN
        for i in range(size):
            values[first + i] = -found[i]
            best = max(best, float(values[first + i]))
        if best >= stop_at:
            return first + size
    return n


@njit(cache=True)
def _value_moves(state: AmazonsState, evaluator: AmazonsEvaluator, n: int) -> None:
    """Write the values of the ``n`` moves in ``evaluator.moves``, without an arrow, to ``evaluator.likely``."""
    squares, bits = state.board.size, BITS[state.board.shape[1]]
    empty_low, empty_high = empty_squares(state.board)
    own_low, own_high = amazon_squares(state.amazons, state.turn[0], state.board.shape[1])
    other_low, other_high = amazon_squares(state.amazons, 1 - state.turn[0], state.board.shape[1])
    s = evaluator.lanes.words
    for i in range(LANES):
        s[OWN * LANES + i], s[(OWN + 1) * LANES + i] = other_low, other_high
    for first in range(0, n, LANES):
        size = min(LANES, n - first)
        for i in range(LANES):
            move = evaluator.moves[first + min(i, size - 1)]
            start, to = np.uint64(move // squares), np.uint64(move % squares)
            low, high = bits[start, 0] ^ bits[to, 0], bits[start, 1] ^ bits[to, 1]
            s[OTHER * LANES + i], s[(OTHER + 1) * LANES + i] = own_low ^ low, own_high ^ high
            s[FREE * LANES + i], s[(FREE + 1) * LANES + i] = empty_low ^ low, empty_high ^ high
        value_lanes(evaluator)
        for i in range(size):
            evaluator.likely[first + i] = -evaluator.found[i]


@njit(cache=True)
def _rank(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> int:
    n = write_turns(state, evaluator.moves, actions)
    return int(_value_turns(state, evaluator, actions, n, values, stop_at))


@njit(cache=True)
def _shortlist(
    state: AmazonsState,
    evaluator: AmazonsEvaluator,
    breadth: int,
    actions: npt.NDArray[np.int32],
    values: npt.NDArray[np.float32],
    stop_at: float,
) -> tuple[int, int]:
    squares, width, moves, likely = state.board.size, state.board.shape[1], evaluator.moves, evaluator.likely
    count, n = write_moves(state, moves), 0
    if breadth == 0 or count <= breadth:
        return int(_rank(state, evaluator, actions, values, stop_at)), 0
    _value_moves(state, evaluator, count)
    for i in range(breadth):
        best = i
        for k in range(i + 1, count):
            if likely[k] > likely[best]:
                best = k
        move = moves[best]
        moves[best], likely[best] = moves[i], likely[i]
        flip(state.lines, width, move // squares)
        n = reach(state.lines, width, move % squares, actions, n, move * squares)
        flip(state.lines, width, move // squares)
    return int(_value_turns(state, evaluator, actions, n, values, stop_at)), count


@njit(cache=True, nogil=True)
def rank_all(
    state: AmazonsState, evaluator: AmazonsEvaluator, actions: npt.NDArray[np.int32], values: npt.NDArray[np.float32]
) -> int:
    """`evaluator.rank` without a bound, compiled by itself for calls from Python."""
    return int(_rank(state, evaluator, actions, values, np.inf))


@njit(cache=True, nogil=True)
def value_of(state: AmazonsState, evaluator: AmazonsEvaluator) -> float:
    """`evaluator.evaluate`, compiled by itself for calls from Python."""
    return float(_evaluate(state, evaluator))


@njit(cache=True)
def _settle(state: AmazonsState, evaluator: AmazonsEvaluator) -> tuple[bool, float]:
    return settle_amazons(state, evaluator.endgame)


implement(evaluator.settle, AmazonsState, _settle)
implement(evaluator.evaluate, AmazonsState, _evaluate)
implement(evaluator.rank, AmazonsState, _rank)
implement(evaluator.shortlist, AmazonsState, _shortlist)


# Owners of the squares by the Amazons evaluation: the side that is nearer by queen moves (t1) or king moves (t2).


NOBODY, FIRST, SECOND, BOTH = 0, 1, 2, 3
"""Owner of a square: nobody (not empty, or out of reach), the side that reaches it sooner, or both at once."""
LINES = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]
Distances = npt.NDArray[np.float64]


class Territory(NamedTuple):
    """Owners of the squares, int8 [N] by square."""

    queen: npt.NDArray[np.int8]
    """Owners by queen moves. Squares of FIRST less those of SECOND are the term t1 with the first side to move."""
    king: npt.NDArray[np.int8]  # Owners by king moves, for the term t2


def territory(state: AmazonsState) -> Territory:
    """Return the owners in a position between two turns."""
    return Territory(*(_owners(*(distances(state, side, far) for side in (0, 1))) for far in (True, False)))


def distances(state: AmazonsState, side: int, far: bool) -> Distances:
    """Return the fewest moves in which a side reaches each empty square, float64 [H, W]; infinity if never.

    Args:
        state: the position.
        side: 0 the first, 1 the second.
        far: True for queen moves, False for king moves.
    """
    height, width = state.board.shape
    found = np.full((height, width), np.inf)
    edge = [divmod(int(square), width) for square in state.amazons[side] if square >= 0]
    moves = 0
    while edge:
        moves, following = moves + 1, []
        for row, column in edge:
            for down, right in LINES:
                r, c = row + down, column + right
                while 0 <= r < height and 0 <= c < width and state.board[r, c] == NO_PIECE:
                    if found[r, c] > moves:
                        found[r, c] = moves
                        following.append((r, c))
                    if not far:
                        break
                    r, c = r + down, c + right
        edge = following
    return found


def _owners(first: Distances, second: Distances) -> npt.NDArray[np.int8]:
    owners = np.where(first < second, FIRST, np.where(second < first, SECOND, BOTH))
    return np.where(np.isinf(first) & np.isinf(second), NOBODY, owners).astype(np.int8).ravel()

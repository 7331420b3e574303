"""Fit the weights of the Amazons evaluation to what deeper searches say of positions.

    python -m bench.fit_amazons label work/amazons_fit.npy --positions 3000
    python -m bench.fit_amazons fit work/amazons_fit.npy --knots 8 30 60

The first command plays games one ply deep with noise and writes terms and search values of some of their positions, a
row each; the second prints weights at the knots that foresee the values, and how well, on rows it has not seen. At
w = 0 the weights are fixed: squares are counted there.
"""

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline_src.games import amazons
from pipeline_src.players.amazons.alphabeta import STANDARD
from pipeline_src.players.amazons.basic import one_ply_values
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.search.alphabeta.searcher import AlphaBeta
from pipeline_src.search.amazons.evaluation import PARITY
from pipeline_src.search.amazons.params import AmazonsEngine
from pipeline_src.search.amazons.terms import terms
from pipeline_src.search.limits import Limit

DEPTH = 6
"""Of the search. The label is the mean of its value and that one ply before, which see the tempo from both sides."""
SHARE = 0.3
"""Of a game's positions that are labelled."""
NOISE = 1.5
"""Of a move's value, in squares, as a standard deviation."""
MOST = 40.0
"""Squares; positions that a search finds further from level are left out."""
RIDGE = 3.0
FOLDS = 5
Floats = npt.NDArray[np.float64]


def label(count: int, seed: int) -> Floats:
    """Float64 [count, 6]: t1, t2, c1, c2, w and the label, every fifth game on 8x8."""
    evaluator, rng, rows, game = make_evaluator("amazons"), np.random.default_rng(seed), list[list[float]](), 0
    tempo, searcher = AmazonsEngine().tempo, AlphaBeta(evaluator, STANDARD)
    while len(rows) < count:
        game += 1
        state, random_plies = amazons.initial_state(10 if game % 5 else 8), int(rng.integers(5))
        while amazons.winner(state) is None:
            found = terms(state, tempo, np.inf)
            if found.w < 0.5 and state.turn[2] > 0:
                break
            if state.turn[2] >= random_plies and rng.random() < SHARE:
                values = dict[int, float]()
                searcher.search(state, Limit(depth=DEPTH), on_info=lambda r, v=values: v.update({r.depth: r.value}))  # type: ignore[misc]
                if all(abs(values.get(depth, np.inf)) < MOST for depth in (DEPTH - 1, DEPTH)):
                    rows.append([*found[:5], (values[DEPTH - 1] + values[DEPTH]) / 2])
            turns, worth = one_ply_values(state, evaluator)
            noise = (
                rng.normal(0, NOISE, len(worth)) if state.turn[2] >= random_plies else rng.normal(0, 1e6, len(worth))
            )
            state = amazons.play(state, int(turns[np.argmax(worth + noise)]))
    return np.array(rows[:count])


def fit(rows: Floats, knots: list[float]) -> tuple[Floats, Floats]:
    """Weights of t1, t2, c1, c2 at the knots above 0, float64 [K, 4], and the values foreseen of rows left out, [N]."""
    features, w, labels = rows[:, :4], rows[:, 4], rows[:, 5]
    shares = np.stack([np.interp(w, [0, *knots], row) for row in np.eye(len(knots) + 1)], axis=1)
    known = shares[:, 0] * (features[:, 0] - PARITY)
    design = (shares[:, 1:, None] * features[:, None, :]).reshape(len(rows), -1)

    def solve(chosen: npt.NDArray[np.bool_]) -> Floats:
        a, b = design[chosen], (labels - known)[chosen]
        return np.linalg.solve(a.T @ a + RIDGE * np.eye(a.shape[1]), a.T @ b)

    foreseen, fold = np.empty(len(rows)), np.arange(len(rows)) % FOLDS
    for number in range(FOLDS):
        foreseen[fold == number] = (design @ solve(fold != number) + known)[fold == number]
    return solve(np.ones(len(rows), bool)).reshape(-1, 4), foreseen


def main() -> None:
    """See the module's head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["label", "fit"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--positions", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--knots", type=float, nargs="+", default=[8.0, 30.0, 60.0])
    given = parser.parse_args()
    if given.command == "label":
        given.path.parent.mkdir(parents=True, exist_ok=True)
        np.save(given.path, label(given.positions, given.seed), allow_pickle=False)
        return
    rows = np.load(given.path, allow_pickle=False)
    weights, foreseen = fit(rows, given.knots)
    for knot, row in zip(given.knots, weights, strict=True):
        print(
            f"{knot:g}: "
            + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(("t1", "t2", "c1", "c2"), row, strict=True))
        )
    error = np.sqrt(np.mean((foreseen - rows[:, 5]) ** 2))
    print(f"error, as a root mean square: {error:.2f} squares of {len(rows)} positions")


if __name__ == "__main__":
    main()

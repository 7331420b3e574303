"""Fit the weights of `search.gomoku.worth` to games of the engine against itself.

    python -m bench.fit_gomoku games work/gomoku_fit.jsonl --count 2000
    python -m bench.fit_gomoku fit work/gomoku_fit.jsonl

The first command adds games to a file, an object a line, with what the search said of each position; the second prints
weights that predict results and search alike, and how well, on games that it has not seen.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from pipeline_src.games import gomoku
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.gomoku.lines import make_lines
from pipeline_src.search.gomoku.patterns import FOUR, ONE_THREE, PATTERNS, SURE
from pipeline_src.search.limits import Limit

SCALE = 400.0
"""Points that are a factor of e in the odds."""
MOST = 2000
"""Bound of the search's values as labels."""
SLIP = 0.06
"""Share of moves that are random ones nearby, so that games are not all alike."""
PENALTY = 2e-5
Floats = npt.NDArray[np.float64]


def play_game(engine: Engine, rng: np.random.Generator, nodes: int) -> dict[str, Any]:
    """A game from a few random stones in the middle: what the file holds of it."""
    size = int(rng.choice([13, 15, 15, 20]))
    state, actions = _opening(size, rng)
    first, values = len(actions), []
    while gomoku.winner(state) is None:
        found = engine.search(state, Limit(nodes=nodes))
        action = found.action
        values.append(round(found.value))
        if rng.random() < SLIP and abs(found.value) < MOST:
            legal = gomoku.legal_actions(state)
            near = np.maximum(abs(legal // size - action // size), abs(legal % size - action % size)) < 3
            action = int(rng.choice(legal[near]))
        state = gomoku.play(state, action)
        actions.append(action)
    return {"size": size, "first": first, "actions": actions, "winner": gomoku.winner(state), "values": values}


def _opening(size: int, rng: np.random.Generator) -> tuple[Any, list[int]]:
    spread, middle = int(rng.integers(2, 5)), size // 2
    while True:
        state, actions = gomoku.initial_state(size), []
        for _ in range(int(rng.integers(2, 8))):
            legal = gomoku.legal_actions(state)
            near = np.maximum(abs(legal // size - middle), abs(legal % size - middle)) <= spread
            actions.append(int(rng.choice(legal[near])))
            state = gomoku.play(state, actions[-1])
        if gomoku.winner(state) is None:
            return state, actions


def rows(game: dict[str, Any]) -> Iterator[tuple[Floats, float]]:
    """(features, label) of a game's positions in which nothing is certain on the next stones.

    Features: how many empty cells there are, times lines, of each pattern up to a four, and how many cells of each
    class of threats, to the side to move and then to the other one. The label is the mean of the result and of the
    odds that the search gave.
    """
    state = gomoku.initial_state(game["size"])
    for i, action in enumerate(game["actions"]):
        at = i - game["first"]
        if at >= 0:
            lines, c = make_lines(state), gomoku.to_play(state)
            if not lines.counts[:, SURE:].any():
                won = (game["winner"] == "first") == (c == 0)
                result = 0.5 if game["winner"] == "draw" else float(won)
                value = min(MOST, max(-MOST, game["values"][at]))
                yield _features(lines, c), 0.5 * result + 0.5 / (1 + np.exp(-value / SCALE))
        state = gomoku.play(state, action)


def _features(lines: Any, c: int) -> Floats:
    found: list[npt.NDArray[Any]] = []
    for side in (c, 1 - c):
        packed = lines.packed[side][lines.cells == 0].astype(np.int64)
        patterns = np.concatenate([packed >> 4 * d & 15 for d in range(4)])
        found += [np.bincount(patterns, minlength=16)[1 : FOUR + 1], lines.counts[side, ONE_THREE:SURE]]
    return np.concatenate([*found, [1]]).astype(np.float64)


def fit(features: Floats, labels: Floats) -> Floats:
    """Weights of a logistic regression, with a small penalty on their squares."""
    scales = np.abs(features).max(axis=0) + 1.0
    scaled = features / scales

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = scaled @ weights
        value = float(np.mean(np.logaddexp(0, odds) - labels * odds) + PENALTY * (weights**2).sum())
        slope = scaled.T @ (1 / (1 + np.exp(-odds)) - labels) / len(labels) + 2 * PENALTY * weights
        return value, slope

    found = minimize(loss, np.zeros(scaled.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    return np.asarray(found.x / scales)


def main() -> None:
    """See the module's head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("games", "fit"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=2500, help="of a move")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.what == "games":
        engine, rng = Engine(Options(threats=3000)), np.random.default_rng(given.seed)
        with given.file.open("a", encoding="utf-8") as out:
            for _ in range(given.count):
                out.write(json.dumps(play_game(engine, rng, given.nodes)) + "\n")
        return
    games = [json.loads(text) for text in given.file.read_text(encoding="utf-8").splitlines()]
    pairs = [(features, label, g) for g, game in enumerate(games) for features, label in rows(game)]
    features, labels = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    held = np.array([pair[2] for pair in pairs]) % 5 == 0
    odds = features[held] @ fit(features[~held], labels[~held])
    print(f"{len(labels)} positions of {len(games)} games")
    print(f"held out: log loss {np.mean(np.logaddexp(0, odds) - labels[held] * odds):.4f}")
    weights = np.round(SCALE * fit(features, labels)).astype(int)
    n = len(weights) // 2
    for name, sign, part in (("MOVER", 1, weights[:n]), ("WAITER", -1, weights[n : 2 * n])):
        patterns = [0, *(sign * part[:FOUR]).tolist(), *[0] * (PATTERNS - FOUR - 1)]
        print(f"{name} = Weights({tuple(patterns)}, (0,) * 8 + {(*(sign * part[FOUR:]).tolist(), 0, 0)})")
    print(f"TEMPO = {weights[-1]}")


if __name__ == "__main__":
    main()

"""Play two sets of evaluation weights, or any two players, against each other, and look for better weights.

    python -m bench.tune_amazons default published --pairs 500
    python -m bench.tune_amazons "0:1; 20:.5,.2,.2,.1; 60:.2,.4,.2,.2,.1" default
    python -m bench.tune_amazons default published --pairs 50 --nodes 100000
    python -m bench.tune_amazons one_ply random --pairs 20
    python -m bench.tune_amazons default --search 30 --pairs 200

A set is named, or the file that ``python -m bench.fit_amazons`` has written, or knots ``w:t1,t2,c1,c2,m,e,1`` with
semicolons between them; what is left out is 0. ``hand`` are the weights before the learned ones. Sets play one ply
deep, or with ``--nodes`` in alpha-beta; any other word is a player's text.
"""

import argparse
import time
from collections.abc import Iterable

import numpy as np

from pipeline_src.arena.game import POINTS, Fixture, OpenGame, play
from pipeline_src.arena.openings import random_openings
from pipeline_src.arena.score import Score, pair_score
from pipeline_src.games.game import get_game
from pipeline_src.players.amazons.alphabeta import STANDARD
from pipeline_src.players.amazons.basic import OnePlyPlayer
from pipeline_src.players.amazons.closing import ClosingFirst
from pipeline_src.players.player import Player
from pipeline_src.players.registry import make_player, players_of
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.project.params import load
from pipeline_src.search.alphabeta.searcher import AlphaBeta
from pipeline_src.search.amazons.evaluation import make_evaluator
from pipeline_src.search.amazons.params import AmazonsEngine, Phase
from pipeline_src.search.limits import Limit

GROUP = 16
"""Pairs played in lock step."""
SETS = {
    # The published table by rounds, each row brought to sum 1, at the w of those rounds.
    "published": "0:1; 5:.8,.1,.05,.05; 25:.3,.25,.2,.2,.05; 50:.14,.37,.13,.13,.2",
    # Its first three terms alone.
    "first": "0:1; 5:.842,.105,0.053; 25:.4,.333,.267; 50:.219,.578,.203",
    "territory": "0:1; 1:.5,.5",
    "t1": "0:1",
}


def read_set(text: str) -> AmazonsEngine:
    """The weights that a text names or spells out."""
    if text == "default":
        return AmazonsEngine()
    if text == "hand":
        return AmazonsEngine(weights="hand")
    if text.endswith(".yaml"):
        return load(AmazonsEngine, "amazons_engine", text)
    phases = []
    for part in SETS.get(text, text).split(";"):
        w, _, weights = part.partition(":")
        phases.append(phase([float(w), *map(float, weights.split(","))]))
    return AmazonsEngine(phases=tuple(phases))


def phase(row: Iterable[float]) -> Phase:
    """A row of `AmazonsEngine.table`, or the beginning of one."""
    return Phase(**dict(zip(Phase.model_fields, map(float, row), strict=False)))


def spell(engine: AmazonsEngine) -> str:
    """The text of a set, as `read_set` takes it."""
    rows = [f"{w:g}:" + ",".join(f"{x:.3g}" for x in weights) for w, *weights in engine.table()]
    return "; ".join(rows)


def player(text: str, nodes: int = 0) -> Player:
    """One ply deep with a set of weights, or in alpha-beta with so many nodes a move; or the player of that name."""
    if text.partition(":")[0] in players_of("amazons"):
        return make_player("amazons", text)
    evaluator = make_evaluator(read_set(text))
    if not nodes:
        return OnePlyPlayer(evaluator=evaluator)
    return SearchPlayer(ClosingFirst(AlphaBeta(evaluator, STANDARD)), Limit(nodes=nodes))


def match(a: Player, b: Player, pairs: int, seed: int, size: int = 10) -> Score:
    """Score of ``a`` over colour-swapped pairs from random openings of two to six plies."""
    rules = get_game("amazons")
    start, points = rules.initial_state(size), []
    for group in range(0, pairs, GROUP):
        plies = 2 + group // GROUP % 5
        openings = random_openings(rules, start, min(GROUP, pairs - group), plies, [seed, group])
        seats = ((a, b), (b, a))
        one, other = (
            play(
                [
                    OpenGame(rules, start, Fixture("", "", opening, (seed, group, i, swapped)), seats[swapped])
                    for i, opening in enumerate(openings)
                ]
            )
            for swapped in (0, 1)
        )
        points += [(POINTS[x.winner][0], POINTS[y.winner][1]) for x, y in zip(one, other, strict=True)]
    return pair_score(points)


def varied(engine: AmazonsEngine, rng: np.random.Generator) -> AmazonsEngine:
    """The weights with one of them, or the place of a knot, changed at random; those of a knot keep their sum."""
    table = engine.table()
    k = rng.integers(1, len(table))
    j = rng.integers(0, 6)
    if j == 0:
        low, high = table[k - 1, 0] + 1, table[k + 1, 0] - 1 if k + 1 < len(table) else 75.0
        table[k, 0] = np.clip(table[k, 0] * rng.choice([0.8, 1.25]), low, high)
    else:
        total = table[k, 1:5].sum()
        step = rng.choice([-0.1, -0.05, 0.05, 0.1]) * (0.3 if j == 5 else 1.0)  # m is of the order of t1 + t2
        table[k, j] = max(0.0, table[k, j] + step)
        table[k, 1:5] *= total / table[k, 1:5].sum()
    return AmazonsEngine(tempo=engine.tempo, phases=tuple(map(phase, table)))


def search(text: str, tries: int, pairs: int, seed: int) -> None:
    """Coordinate search: keep a change that a match finds better, by more than its own standard error."""
    best, rng = read_set(text), np.random.default_rng(seed)
    for number in range(tries):
        other = varied(best, rng)
        a, b = (OnePlyPlayer(evaluator=make_evaluator(engine)) for engine in (other, best))
        score = match(a, b, pairs, seed + number)
        better = score.value - 0.5 > (score.high - score.low) / 4
        print(
            f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}] {'kept  ' if better else '      '} {spell(other)}"
        )
        if better:
            best = other
    print(spell(best))


def main() -> None:
    """See the module's head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b", nargs="?", default="default")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--size", type=int, default=10)
    parser.add_argument("--nodes", type=int, default=0, help="alpha-beta with so many nodes a move instead of one ply")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--search", type=int, default=0, metavar="TRIES", help="look for weights better than A's")
    given = parser.parse_args()
    if given.search:
        search(given.a, given.search, given.pairs, given.seed)
        return
    start = time.perf_counter()
    score = match(player(given.a, given.nodes), player(given.b, given.nodes), given.pairs, given.seed, given.size)
    spent = time.perf_counter() - start
    interval = f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"
    print(f"{given.a} | {given.b} | {2 * given.pairs} games | {interval} | {spent:.0f} s")


if __name__ == "__main__":
    main()

"""Play two Gomoku players, or alpha-beta with two sets of evaluation weights, against each other; look for better ones.

    python -m bench.tune_gomoku mcts:c=0.1 mcts:c=0.2 --pairs 200
    python -m bench.tune_gomoku default "threats=0,0" --depth 2 --pairs 200
    python -m bench.tune_gomoku default "windows=20,9,4,1" --size 15
    python -m bench.tune_gomoku default --search 30 --pairs 200

A set is ``default``, or fields of `search.gomoku.evaluation.Weights` with their values, those not named as by default.
"""

import argparse
import time

import numpy as np

from pipeline_src.arena.game import POINTS, Fixture, OpenGame, play
from pipeline_src.arena.openings import random_openings
from pipeline_src.arena.score import Score, pair_score
from pipeline_src.games.game import get_game
from pipeline_src.players.gomoku.alphabeta import EXACT
from pipeline_src.players.player import Player
from pipeline_src.players.registry import make_player, players_of
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.alphabeta.searcher import AlphaBeta
from pipeline_src.search.gomoku.evaluation import Weights, make_evaluator
from pipeline_src.search.limits import Limit


def read_set(text: str) -> Weights:
    """The weights that a text names or spells out."""
    fields = {}
    for part in [] if text == "default" else text.split(";"):
        name, _, numbers = part.partition("=")
        fields[name.strip()] = tuple(map(float, numbers.split(",")))
    return Weights(**fields)  # type: ignore[arg-type]  # of the right lengths or not: that shows at once


def spell(weights: Weights) -> str:
    """The text of a set, as `read_set` takes it."""
    return ";".join(f"{name}={','.join(f'{x:.3g}' for x in row)}" for name, row in weights._asdict().items())


def player(text: str, depth: int) -> Player:
    """Alpha-beta with a set of weights, or the player of that name."""
    if text.partition(":")[0] in players_of("gomoku"):
        return make_player("gomoku", text)
    return SearchPlayer(AlphaBeta(make_evaluator(read_set(text)), EXACT), Limit(depth=depth))


def match(a: Player, b: Player, pairs: int, seed: int, size: int, plies: int, variant: str = "freestyle") -> Score:
    """Score of ``a`` over colour-swapped pairs from openings of so many random stones."""
    rules = get_game("gomoku")
    start = rules.initial_state(size, variant)
    openings = random_openings(rules, start, pairs, plies, [seed])
    one, other = (
        play(
            [
                OpenGame(rules, start, Fixture("", "", opening, (seed, i, swapped)), (b, a) if swapped else (a, b))
                for i, opening in enumerate(openings)
            ]
        )
        for swapped in (0, 1)
    )
    return pair_score([(POINTS[x.winner][0], POINTS[y.winner][1]) for x, y in zip(one, other, strict=True)])


def varied(weights: Weights, rng: np.random.Generator) -> Weights:
    """The weights with one of those of windows changed at random, the last one being the unit."""
    windows = list(weights.windows)
    windows[rng.integers(len(windows) - 1)] *= float(rng.choice([0.5, 0.7, 1.4, 2.0]))
    return weights._replace(windows=tuple(windows))


def search(text: str, tries: int, pairs: int, seed: int, size: int, plies: int, depth: int) -> None:
    """Coordinate search: keep a change that a match finds better, by more than its own standard error."""
    best, rng = read_set(text), np.random.default_rng(seed)
    for number in range(tries):
        other = varied(best, rng)
        a, b = (SearchPlayer(AlphaBeta(make_evaluator(w), EXACT), Limit(depth=depth)) for w in (other, best))
        score = match(a, b, pairs, seed + number, size, plies)
        better = score.value - 0.5 > (score.high - score.low) / 4
        mark = "kept  " if better else "      "
        print(f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}] {mark} {spell(other)}", flush=True)
        if better:
            best = other
    print(spell(best))


def main() -> None:
    """See the module's head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a")
    parser.add_argument("b", nargs="?", default="default")
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--variant", default="freestyle")
    parser.add_argument("--plies", type=int, default=4, help="random stones of an opening")
    parser.add_argument("--depth", type=int, default=2, help="of alpha-beta with a set of weights")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--search", type=int, default=0, metavar="TRIES", help="look for weights better than A's")
    given = parser.parse_args()
    if given.search:
        search(given.a, given.search, given.pairs, given.seed, given.size, given.plies, given.depth)
        return
    start = time.perf_counter()
    a, b = player(given.a, given.depth), player(given.b, given.depth)
    score = match(a, b, given.pairs, given.seed, given.size, given.plies, given.variant)
    spent = time.perf_counter() - start
    interval = f"{score.value:.3f} [{score.low:.3f}, {score.high:.3f}]"
    print(f"{given.a} | {given.b} | {2 * given.pairs} games | {interval} | {spent:.0f} s")


if __name__ == "__main__":
    main()

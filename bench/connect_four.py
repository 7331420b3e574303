"""Share of a player's moves in Connect Four that keep the position's exact value: won, drawn or lost.

``python -m bench.connect_four PLAYER --games 100`` lets the player play itself from random openings of eight plies. An
exact solver judges each of its moves: negamax with a transposition table on bitboards, as in Pascal Pons, "Solving
Connect 4: how to build a perfect AI" (2015). With ``--peer NET.npz`` it plays the net of another repository instead, in
pairs with the sides swapped, each after four random plies; see `bench.peers`.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import run_main
from pipeline_src.games.game import load_game
from pipeline_src.jit import njit

# A board is two int64: the stones of the side to move, and all stones. Bit 7 * column + row, row 0 being the lowest;
# the seventh bit of a column stays empty.

BOTTOM = sum(1 << 7 * column for column in range(7))
FULL = BOTTOM * 63
TABLE = (1 << 22) + 15  # Entries; odd, so that both ends of a key count
ORDER = np.array([3, 2, 4, 1, 5, 0, 6])
LOWEST, HIGHEST = -1, 1  # Values for the side to move: lost and won; 0 is drawn
EARLIEST = 8  # Stones from which on most positions take less than a second
PEER_PLIES = 4  # Random plies before a game against a peer
Table = tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]


@njit
def _wins(stones: int, taken: int) -> int:
    """Return the empty cells, reachable or not, that make four in a row of some stones."""
    found = (stones << 1) & (stones << 2) & (stones << 3)
    for step in (6, 7, 8):
        pair = (stones << step) & (stones << 2 * step)
        found |= pair & (stones << 3 * step)
        found |= pair & (stones >> step)
        pair = (stones >> step) & (stones >> 2 * step)
        found |= pair & (stones << step)
        found |= pair & (stones >> 3 * step)
    return found & (FULL ^ taken)


@njit
def _count(cells: int) -> int:
    found = 0
    while cells:
        cells &= cells - 1
        found += 1
    return found


@njit(allocates=True)
def _solve(
    own: int, taken: int, alpha: int, keys: npt.NDArray[np.int64], bounds: npt.NDArray[np.int8]
) -> tuple[int, int]:
    """Return (a number on the value's side of ``alpha``, positions searched).

    ``bounds`` has (lowest + 1) + 3 * (highest + 1) of the positions of ``keys``.
    """
    owns, takens, at = np.zeros(43, np.int64), np.zeros(43, np.int64), np.zeros(43, np.int64)
    alphas, betas, best = np.zeros(43, np.int64), np.zeros(43, np.int64), np.zeros(43, np.int64)
    low, counts = np.zeros(43, np.int64), np.zeros(43, np.int64)
    moves, weights = np.zeros((43, 7), np.int64), np.zeros(7, np.int64)
    owns[0], takens[0], alphas[0], betas[0] = own, taken, alpha, alpha + 1
    depth, entering, value, nodes = 0, True, 0, 0
    while True:
        own, taken = owns[depth], takens[depth]
        if entering:
            nodes += 1
            other = own ^ taken
            open_cells = (taken + BOTTOM) & FULL
            threats = _wins(other, taken)
            safe = open_cells
            if safe & threats:
                forced = safe & threats
                safe = 0 if forced & (forced - 1) else forced
            safe &= ~(threats >> 1)
            done = True
            if open_cells == 0:
                value = 0
            elif open_cells & _wins(own, taken):
                value = HIGHEST
            elif safe == 0:
                value = LOWEST
            else:
                done = False
                key, lowest, highest = own + taken + BOTTOM, LOWEST, HIGHEST
                if keys[key % TABLE] == key:
                    lowest, highest = bounds[key % TABLE] % 3 - 1, bounds[key % TABLE] // 3 - 1
                alphas[depth], betas[depth] = max(alphas[depth], lowest), min(betas[depth], highest)
                if alphas[depth] >= betas[depth]:
                    done, value = True, lowest if lowest >= betas[depth] else highest
                else:
                    n = 0
                    for i in range(7):
                        move = safe & (63 << 7 * ORDER[i])
                        if move:
                            weight, j = _count(_wins(own | move, taken | move)), n
                            while j > 0 and weights[j - 1] < weight:
                                weights[j], moves[depth, j] = weights[j - 1], moves[depth, j - 1]
                                j -= 1
                            weights[j], moves[depth, j] = weight, move
                            n += 1
                    counts[depth], at[depth], best[depth], low[depth] = n, 0, LOWEST - 1, alphas[depth]
        else:
            best[depth] = max(best[depth], -value)
            alphas[depth] = max(alphas[depth], -value)
            at[depth] += 1
            done = False
        if not done and at[depth] < counts[depth] and alphas[depth] < betas[depth]:
            move = moves[depth, at[depth]]
            owns[depth + 1], takens[depth + 1] = own ^ taken, taken | move
            alphas[depth + 1], betas[depth + 1] = -betas[depth], -alphas[depth]
            depth, entering = depth + 1, True
            continue
        if not done:
            value = best[depth]
            lowest = value if value > low[depth] else LOWEST
            highest = value if value < betas[depth] else HIGHEST
            key = own + taken + BOTTOM
            keys[key % TABLE], bounds[key % TABLE] = key, (lowest + 1) + 3 * (highest + 1)
        if depth == 0:
            return value, nodes
        depth, entering = depth - 1, False


class Solver:
    """Exact values of positions; what it has learnt of one helps with the next."""

    def __init__(self) -> None:
        """Take 38 MB."""
        self.keys, self.bounds = np.zeros(TABLE, np.int64), np.zeros(TABLE, np.int8)
        self.positions = 0  # searched so far

    def value(self, state: Any) -> int:
        """Return the value of a position of `games.learnable.connect_four` to the side to move: 1, 0 or -1."""
        if state.turn[2]:
            return -1 if state.turn[2] == 1 else 0
        side, own, taken = int(state.turn[0]), 0, 0
        for row, column in zip(*np.nonzero(state.board), strict=True):
            bit = 1 << 7 * int(column) + 5 - int(row)
            taken |= bit
            own |= bit if state.board[row, column] == side + 1 else 0
        for alpha in (0, -1):  # won? at least drawn?
            value, positions = _solve(own, taken, alpha, self.keys, self.bounds)
            self.positions += positions
            if value > alpha:
                return alpha + 1
        return LOWEST


class Share(NamedTuple):
    """Moves that keep the value."""

    kept: int
    moves: int
    low: float  # 95 % interval over games
    high: float
    decided: int  # Moves where another one would have lost something


def share(counts: Sequence[tuple[int, int, int]]) -> Share:
    """Return the share over games of (moves kept, moves, moves where one would not); moves of a game go together."""
    kept, moves, decided = (sum(column) for column in zip(*counts, strict=True))
    rate, games = kept / moves, len(counts)
    spread = sum((k - rate * n) ** 2 for k, n, _ in counts) * games / max(1, games - 1)
    wide = 1.96 * math.sqrt(spread) / moves
    return Share(kept, moves, max(0.0, rate - wide), min(1.0, rate + wide), decided)


def judge(solver: Solver, opening: Iterable[int], actions: Iterable[int]) -> tuple[int, int, int]:
    """Return (moves that keep the value, moves, moves where another would not) of a game after an opening."""
    game = load_game("connect_four")
    state, kept, moves, decided = game.initial_state(), 0, 0, 0
    for action in opening:
        state = game.play(state, action)
    for action in actions:
        value = solver.value(state)
        values = {int(other): -solver.value(game.play(state, int(other))) for other in game.legal_actions(state)}
        kept, moves = kept + (values[action] == value), moves + 1
        decided += min(values.values()) < value
        state = game.play(state, action)
    return kept, moves, decided


def start_of(name: str, size: int | None = None) -> Any:
    """Return the start position of a game; without a size, on its first board."""
    game = load_game(name)
    return game.initial_state(game.SIZES[0] if size is None else size)


def random_opening(
    rng: np.random.Generator, plies: int, name: str = "connect_four", size: int | None = None
) -> list[int]:
    """Return a random line of a game that ends in an unfinished position."""
    game = load_game(name)
    while True:
        state, line = start_of(name, size), list[int]()
        while len(line) < plies and (legal := game.legal_actions(state).tolist()):
            line.append(int(rng.choice(legal)))
            state = game.play(state, line[-1])
        if game.winner(state) is None:
            return line


def play(choose: Callable[[list[Any]], list[int]], openings: Sequence[Sequence[int]], seed: int) -> list[list[int]]:
    """Return the actions after each opening of a player's games against itself."""
    from pipeline_src.players.player import Position

    game = load_game("connect_four")
    start, games = game.initial_state(), [list[int]() for _ in openings]
    rngs = [np.random.default_rng((seed, number)) for number in range(len(openings))]
    states = [reduce(game.play, opening, start) for opening in openings]
    while alive := [number for number, state in enumerate(states) if game.winner(state) is None]:
        asked = [Position(states[n], rngs[n], start, (*openings[n], *games[n])) for n in alive]
        for number, action in zip(alive, choose(asked), strict=True):
            games[number].append(int(action))
            states[number] = game.play(states[number], int(action))
    return games


def against(
    name: str, player: Any, other: Callable[[Any], int], opening: Sequence[int], side: int, size: int | None = None
) -> float:
    """Return the points of a player that has one side, 0 or 1, of a game against what chooses for the other one."""
    from pipeline_src.players.player import Position

    game = load_game(name)
    start, line, rng = start_of(name, size), list(opening), np.random.default_rng(0)
    state = reduce(game.play, opening, start)
    while (winner := game.winner(state)) is None:
        if game.to_play(state) == side:
            action = int(player.choose([Position(state, rng, start, tuple(line))])[0])
        else:
            action = other(state)
        state = game.play(state, action)
        line.append(action)
    return 0.5 if winner == "draw" else float((winner == "first") == (side == 0))


def play_pairs(
    name: str,
    player: Any,
    begin: Callable[[], Callable[[Any], int]],
    openings: Iterable[Sequence[int]],
    size: int | None = None,
) -> list[tuple[float, float]]:
    """Return a player's points with either side after each opening; ``begin`` gives what chooses in a new game."""

    def points(opening: Sequence[int], side: int) -> float:
        return against(name, player, begin(), opening, side, size)

    return [(points(opening, 0), points(opening, 1)) for opening in openings]


def main() -> None:
    """Play, judge and print one line of JSON."""
    from bench.peers import PeerSearch, read_net
    from pipeline_src.arena.score import pair_score
    from pipeline_src.players.registry import make_player

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player", help="a player of connect_four, e.g. mcts:nodes=1000 or net:connect_four/net")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--peer", type=Path, help="net of alphazero-board-games as .npz, an opponent")
    parser.add_argument("--simulations", type=int, default=200, help="of the peer for each move")
    asked = parser.parse_args()
    plies = EARLIEST if asked.peer is None else PEER_PLIES
    openings = [random_opening(np.random.default_rng((asked.seed, n)), plies) for n in range(asked.games)]
    player, said = make_player("connect_four", asked.player), {"player": asked.player, "games": asked.games}
    try:
        if asked.peer is not None:
            peer = PeerSearch(read_net(asked.peer))

            def begin() -> Callable[[Any], int]:
                peer.new_game()
                return partial(peer.choose, simulations=asked.simulations)

            pairs = play_pairs("connect_four", player, begin, openings[::2])
            score = pair_score(pairs)
            print(json.dumps(said | {"peer": asked.peer.stem, **score.as_metrics(), "pairs": pairs}))
            return
        games = play(player.choose, openings, asked.seed)
        first = "abcdefg"[play(player.choose, [[]], asked.seed)[0][0]]
    finally:
        player.close()
    solver = Solver()
    found = share([judge(solver, *both) for both in zip(openings, games, strict=True)])
    said |= {
        "first_move": first,
        "share": found.kept / found.moves,
        **found._asdict(),
        "positions_searched": solver.positions,
    }
    print(json.dumps(said))


if __name__ == "__main__":
    run_main(main)

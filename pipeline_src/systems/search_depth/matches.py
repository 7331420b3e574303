"""Matches of players that choose their search depth, in colour-swapped pairs on a clock, group by group.

Finished groups are files, so a match that was killed goes on with the others, and one that is asked for again with
more pairs plays the new ones only.
"""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.games import random_openings
from pipeline_src.arena.score import Score, clustered_mean, clustered_rate
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.players.registry import make_player
from pipeline_src.systems.search_depth.games import ClockedGame, ClockedMove, play_on_clock
from pipeline_src.systems.search_depth.params import DepthGame
from pipeline_src.systems.search_depth.player import DepthPlayer


@dataclass(frozen=True)
class DepthMatch:
    """All games of a match; games 2k and 2k + 1 share an opening, and ``a`` moves first in the even ones."""

    a: str
    b: str
    """Texts of the players."""
    games: list[ClockedGame]

    def won(self) -> list[float]:
        """1 for each game that ``a`` won, else 0; none is drawn."""
        return [float((game.winner == "first") == (i % 2 == 0)) for i, game in enumerate(self.games)]

    @property
    def score(self) -> Score:
        """Win rate of ``a``, which is its unbeaten rate too."""
        return clustered_rate(self.won(), self._pairs(range(len(self.games))))

    @property
    def margin(self) -> Score:
        """Mean of the squares left to the winner, negative where ``b`` won, over the games not lost on time."""
        kept = [i for i, game in enumerate(self.games) if not game.time_out]
        won = self.won()
        return clustered_mean([self.games[i].margin * (1 if won[i] else -1) for i in kept], self._pairs(kept))

    @property
    def time_outs(self) -> tuple[int, int]:
        """Games that ``a`` and that ``b`` lost on time."""
        lost = [won for won, game in zip(self.won(), self.games, strict=True) if game.time_out]
        return lost.count(0.0), lost.count(1.0)

    def nodes(self, player: int) -> float:
        """Mean nodes of a game that ``a`` (0) or ``b`` (1) was charged."""
        return float(np.mean([game.nodes_of(self.side(i, player)) for i, game in enumerate(self.games)]))

    def choosing(self, player: int) -> float:
        """Share of those nodes that its choices of depth cost."""
        moves = [move for _, move in self.moves(player)]
        spent = sum(move.choosing for move in moves)
        return spent / max(1, spent + sum(move.nodes for move in moves))

    def mean_depth(self, player: int) -> float:
        """Mean of the depths that its searches completed."""
        return float(np.mean([move.reached for _, move in self.moves(player)]))

    def moves(self, player: int) -> list[tuple[int, ClockedMove]]:
        """(game, move) of all moves that ``a`` (0) or ``b`` (1) searched."""
        return [
            (i, move) for i, game in enumerate(self.games) for move in game.moves if move.side == self.side(i, player)
        ]

    @staticmethod
    def side(i: int, player: int) -> int:
        """Which side ``a`` (0) or ``b`` (1) has in game i."""
        return player if i % 2 == 0 else 1 - player

    def _pairs(self, games: Sequence[int]) -> list[int]:
        return [i // 2 for i in games]


def play_match(
    a: str,
    b: str,
    pairs: int,
    game: DepthGame,
    seed: Sequence[int],
    parallel: Parallel,
    folder: Path,
    group: int = 5,
) -> DepthMatch:
    """Play a match, or what is left of it.

    Args:
        a: text of a player of `systems.search_depth.player`.
        b: of the other, with the same clock.
        pairs: openings, each played twice.
        game: the clock and the openings' length.
        seed: the match depends on it, on the texts and on ``game`` alone, on a clock of nodes.
        parallel: how groups run.
        folder: where finished groups are kept; the caller sees to it that it is this code's and this clock's.
        group: pairs of a group.

    Raises:
        ZugwerkError: a text that names no player, or one that has no use for this clock.
    """
    for text in (a, b):
        checked_player(text)
    rules = amazons
    openings = random_openings(rules, rules.initial_state(10), pairs, game.opening_plies, [*seed, 0])
    digest = hashlib.sha256(json.dumps([a, b, game.model_dump(), list(seed)]).encode()).hexdigest()[:16]
    firsts = range(0, pairs, group)
    paths = [folder / f"{digest}-{first:06d}-{min(pairs, first + group):06d}.json" for first in firsts]
    tasks = [
        (a, b, openings[first : first + group], first, game, [*seed, 1], path)
        for first, path in zip(firsts, paths, strict=True)
        if not path.exists()
    ]
    run_tasks(_play_group, tasks, parallel, f"{a} against {b}")
    return DepthMatch(a, b, [_game(row) for path in paths for row in read_json(path)])


def checked_player(text: str) -> DepthPlayer:
    """The player that a text names.

    Raises:
        ZugwerkError: none, or one that does not count what it spends.
    """
    player = make_player("amazons", text)
    if not isinstance(player, DepthPlayer):
        raise ZugwerkError(f"player {text!r} counts no nodes; give it nodes_per_ms, or depth=cnn or depth=table")
    return player


def _play_group(
    a: str, b: str, openings: list[tuple[int, ...]], first: int, game: DepthGame, seed: list[int], path: Path
) -> None:
    one, other = checked_player(a), checked_player(b)
    games = []
    for pair, opening in enumerate(openings, first):
        for swapped in (0, 1):
            seats, rng = (other, one) if swapped else (one, other), np.random.default_rng([*seed, pair, swapped])
            games.append(play_on_clock(seats, opening, rng, game.clock_ms, game.nodes_per_ms))
    write_json(path, [_row(played) for played in games])


def _row(game: ClockedGame) -> dict[str, Any]:
    return {**dataclasses.asdict(game), "moves": [list(dataclasses.astuple(move)) for move in game.moves]}


def _game(row: dict[str, Any]) -> ClockedGame:
    moves = tuple(ClockedMove(*move) for move in row["moves"])
    return ClockedGame(**{**row, "actions": tuple(row["actions"]), "moves": moves})

"""Matches of players that choose their search depth, on a clock: `play_meetings` and `DepthMatch`.

The clock is one of nodes, where ``nodes_per_ms`` is above 0, so that no machine decides a game; else of wall time. A
side is charged for all it does: the search, the search that fills a net's input, the forward pass. Whose clock falls
below 0 has lost on time. Every other game is played to its end, so none is adjudicated and none is drawn.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.arena import pool
from pipeline_src.arena.clock import TimeControl
from pipeline_src.arena.game import SIDES, Fixture, PlayedGame
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.openings import random_openings
from pipeline_src.arena.result import Match
from pipeline_src.arena.runner import Board, play_matches, swapped_pair
from pipeline_src.arena.score import Score, clustered_mean
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import Row
from pipeline_src.games import amazons
from pipeline_src.games.amazons.board import COLOUR, EMPTY
from pipeline_src.parallel import Parallel
from pipeline_src.systems.search_depth.params import DepthGame
from pipeline_src.systems.search_depth.player import DepthMove, DepthPlayer

LEAST = 3
"""Moves of a number that a row of `move_rows` must have."""


class DepthMatch(Match):
    """A match with the figures of its searches, those of ``a`` (0) or of ``b`` (1)."""

    @property
    def margin(self) -> Score:
        """Mean of the squares left to the winner, negative where ``b`` won, over the games not lost on time."""
        kept = [(i, game) for i, game in enumerate(self.games) if game.ended == "board"]
        margins = [_margin(game) * (1 if game.winner == SIDES[i % 2] else -1) for i, game in kept]
        return clustered_mean(margins, [i // 2 for i, _ in kept])

    def nodes(self, player: int) -> float:
        """Mean nodes of a game that it was charged."""
        moves = self.moves(player)
        return sum(move.nodes + move.choosing for move in moves) / len(self.games)

    def choosing(self, player: int) -> float:
        """Share of those nodes that its choices of depth cost."""
        moves = self.moves(player)
        spent = sum(move.choosing for move in moves)
        return spent / max(1, spent + sum(move.nodes for move in moves))

    def mean_depth(self, player: int) -> float:
        """Mean of the depths that its searches completed."""
        return float(np.mean([move.reached for move in self.moves(player)]))

    def moves(self, player: int) -> list[DepthMove]:
        """All moves that it searched, game by game."""
        moves = [(side, DepthMove._make(note)) for game, side in self.seated(player) for note in game.notes]
        return [move for side, move in moves if move.side == side]


def _margin(game: PlayedGame) -> int:
    """Squares left to the winner at the end."""
    return squares_left(reduce(amazons.play, game.actions, amazons.initial_state()), SIDES.index(game.winner))


def squares_left(state: Any, side: int) -> int:
    """Empty squares that amazons of ``side`` could walk to by king's steps, the other side's standing still.

    What is left of the board to a winner whose opponent cannot move; a pocket that its own arrows would spoil counts
    whole, so its moves may be fewer.
    """
    board = np.pad(state.board, 1, constant_values=-1)
    reached = board == COLOUR[side]
    own = int(reached.sum())
    while True:
        near = reached.copy()
        for axis in (0, 1):
            near |= np.roll(near, 1, axis) | np.roll(near, -1, axis)
        grown = reached | (near & (board == EMPTY))
        if int(grown.sum()) == int(reached.sum()):
            return int(reached.sum()) - own
        reached = grown


class Meeting(NamedTuple):
    """A match to be played, in pairs with the sides swapped."""

    a: str
    """Text of a player of `systems.search_depth.player`."""
    b: str
    """Text of the other, with the same clock."""
    pairs: int
    """Openings, each played twice."""
    seed: Sequence[int]
    """The match depends on it, on the texts and on the game alone, on a clock of nodes."""


def play_meetings(
    meetings: Sequence[Meeting], game: DepthGame, parallel: Parallel, journal: Journal | None = None
) -> list[DepthMatch]:
    """Play matches side by side, or their remaining games. A repeated call with more pairs plays only the new ones.

    Args:
        meetings: the matches.
        game: the clock and the openings' length.
        parallel: how games run.
        journal: keeps finished games; the caller sees to it that it is this code's and this engine's.

    Raises:
        ZugwerkError: a text that names no player, or one that has no use for this clock.
    """
    for text in {text for one in meetings for text in (one.a, one.b)}:
        check_player(text)
    board = Board(amazons.NAME, 10, control=TimeControl(game.clock_ms, nodes_per_ms=game.nodes_per_ms))

    def fixtures(one: Meeting) -> list[Fixture]:
        openings = random_openings(amazons, board.start(), one.pairs, game.opening_plies, [*one.seed, 0])
        pairs = (swapped_pair(one.a, one.b, opening, (*one.seed, 1, i)) for i, opening in enumerate(openings))
        return [fixture for pair in pairs for fixture in pair]

    played = play_matches(board, [fixtures(one) for one in meetings], parallel, journal)
    return [DepthMatch.of(one.a, one.b, games) for one, games in zip(meetings, played, strict=True)]


def check_player(text: str) -> None:
    """Raise an error for a player that does not count its nodes.

    Raises:
        ZugwerkError: the player does not count its nodes, or the text names no player.
    """
    if not isinstance(pool.player(amazons.NAME, text), DepthPlayer):
        raise ZugwerkError(f"player {text!r} counts no nodes; give it nodes_per_ms, or depth=cnn or depth=table")


def move_rows(matches: Sequence[tuple[DepthMatch, str, str]]) -> dict[str, list[Row]]:
    """By player, a row for each number of its moves in a game: mean depths, share of its clock used, nodes.

    Args:
        matches: each with the names of its players, under which their moves count together.
    """
    found: dict[str, list[DepthMove]] = {}
    for match, a, b in matches:
        for player, name in enumerate((a, b)):
            found.setdefault(name, []).extend(match.moves(player))
    rows: dict[str, list[Row]] = {}
    for name, moves in found.items():
        numbers = np.array([move.ply // 2 + 1 for move in moves])
        chosen = {int(n): [moves[i] for i in np.flatnonzero(numbers == n)] for n in np.unique(numbers)}
        rows[name] = [_row(number, some) for number, some in chosen.items() if len(some) >= LEAST]
    return rows


def _row(number: int, moves: list[DepthMove]) -> Row:
    return {
        "move": number,
        "moves": len(moves),
        "depth": float(np.mean([move.reached for move in moves])),
        "asked": float(np.mean([move.asked for move in moves])),
        "used": float(np.mean([move.used for move in moves])),
        "nodes": float(np.mean([move.nodes + move.choosing for move in moves])),
    }

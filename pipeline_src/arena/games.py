"""Play games to their end, many in lock step, and forfeit those in which a player breaks the rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game
from pipeline_src.players.errors import PlayerError
from pipeline_src.players.player import Player, Position

NO_ACTION = -1
"""Legal nowhere."""
ATTEMPTS = 1_000
"""Draws of one opening before the game counts as having no more of them."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """One finished game."""

    actions: tuple[int, ...]
    """All its actions, those of the opening included."""
    winner: Literal["first", "second", "draw"]
    illegal: bool = False
    """The loser chose an illegal action, which is not among the actions, or none at all (`PlayerError`)."""


def play_games(
    game: Game,
    first: Player,
    second: Player,
    openings: Sequence[tuple[int, ...]],
    rngs: Sequence[np.random.Generator],
    start: Any,
) -> list[PlayedGame]:
    """Play one game from each opening, all in lock step, ``first`` moving first from ``start``.

    Args:
        game: the rules.
        first: plays the side that moves first.
        second: plays the other side.
        openings: legal actions from ``start`` that lead to a position that is not finished.
        rngs: one generator a game; both players draw from it.
        start: the position before the openings.

    Returns:
        The games in the order of the openings.
    """
    return play_seated(game, [(first, second)] * len(openings), openings, rngs, start)


def play_seated(
    game: Game,
    seats: Sequence[tuple[Player, Player]],
    openings: Sequence[tuple[int, ...]],
    rngs: Sequence[np.random.Generator],
    start: Any,
) -> list[PlayedGame]:
    """As `play_games`, each game with its own players: who moves first and who second. A player may sit in many."""
    actions = [list(opening) for opening in openings]
    states = [reduce(game.play, opening, start) for opening in openings]
    done: dict[int, PlayedGame] = {}
    while len(done) < len(states):
        for side in (0, 1):
            turn = [i for i in range(len(states)) if i not in done and game.to_play(states[i]) == side]
            tables: dict[int, list[int]] = {}
            for i in turn:
                tables.setdefault(id(seats[i][side]), []).append(i)
            for table in tables.values():
                positions = [Position(states[i], rngs[i], start, tuple(actions[i])) for i in table]
                chosen = _choose(seats[table[0]][side], positions)
                for i, action in zip(table, chosen, strict=True):
                    if not game.is_legal(states[i], action):
                        done[i] = PlayedGame(tuple(actions[i]), "second" if side == 0 else "first", illegal=True)
                        continue
                    actions[i].append(action)
                    states[i] = game.play(states[i], action)
                    winner = game.winner(states[i])
                    if winner is not None:
                        done[i] = PlayedGame(tuple(actions[i]), winner)
    return [done[i] for i in range(len(states))]


def _choose(player: Player, positions: list[Position]) -> list[int]:
    """The player's actions; `NO_ACTION` in those games in which it fails to give one."""
    try:
        return player.choose(positions)
    except PlayerError:
        if len(positions) == 1:
            return [NO_ACTION]
        return [action for position in positions for action in _choose(player, [position])]


def random_openings(game: Game, start: Any, count: int, plies: int, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """``count`` openings of uniformly random legal plies, no two the same and none of them ending the game.

    The i-th opening depends on ``seed`` and i alone, but for repeats, which are drawn again. With no plies at all,
    every opening is the start position.

    Raises:
        ZugwerkError: the game does not have that many openings of this length.
    """
    if plies == 0:
        return [()] * count
    openings: dict[tuple[int, ...], None] = {}
    for number in range(count):
        draws = (_random_plies(game, start, plies, [*seed, number, attempt]) for attempt in range(ATTEMPTS))
        fresh = next((opening for opening in draws if opening is not None and opening not in openings), None)
        if fresh is None:
            raise ZugwerkError(f"{ATTEMPTS} draws gave no opening of {plies} plies beside the {number} already drawn")
        openings[fresh] = None
    return list(openings)


def _random_plies(game: Game, start: Any, plies: int, seed: Sequence[int]) -> tuple[int, ...] | None:
    """An opening, or None where it would end the game."""
    rng, state = np.random.default_rng(seed), start
    opening = []
    for _ in range(plies):
        opening.append(int(rng.choice(game.legal_actions(state))))
        state = game.play(state, opening[-1])
        if game.winner(state) is not None:
            return None
    return tuple(opening)

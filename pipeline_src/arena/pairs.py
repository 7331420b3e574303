"""One pair of games, as a worker process plays it: the same opening twice, with the sides swapped."""

import contextlib
from typing import Any

import numpy as np

from pipeline_src.arena.journal import Pair
from pipeline_src.arena.openings import Opening
from pipeline_src.arena.spec import MatchSpec
from pipeline_src.arena.timed import TimedGame, play_timed
from pipeline_src.games.game import get_game
from pipeline_src.players.errors import PlayerError
from pipeline_src.players.player import Player, Position
from pipeline_src.players.registry import make_player
from pipeline_src.players.think import close, warm_up

_KEPT: dict[tuple[str, int, str], Player] = {}
"""Players that this process goes on with, by game, seat and text: those that can be told of a new game."""
_WARM: set[tuple[str, str]] = set()


def play_pair(spec: MatchSpec, number: int, opening: Opening) -> Pair:
    """Play both games of pair ``number``; they depend on nothing else, not even on who played them before."""
    return _play(spec, number, opening, swapped=False), _play(spec, number, opening, swapped=True)


def _play(spec: MatchSpec, number: int, opening: Opening, swapped: bool) -> TimedGame:
    game = get_game(spec.game)
    start = spec.start(opening.start)
    a, b = (_sit_down(spec.game, seat, text, start) for seat, text in enumerate((spec.a, spec.b)))
    rng = np.random.default_rng([spec.seed, 1, number, swapped])
    return play_timed(game, (b, a) if swapped else (a, b), opening, start, rng, spec.timing(swapped))


def _sit_down(game: str, seat: int, text: str, start: Any) -> Player:
    """A player who knows nothing of earlier games and has loaded all it needs.

    An engine that cannot begin does not end the match: its first move is tried again, and forfeits the game.
    """
    kept = _KEPT.get((game, seat, text))
    player = kept if kept is not None else make_player(game, text)
    new_game = getattr(player, "new_game", None)
    if new_game is not None:
        _KEPT[game, seat, text] = player
    with contextlib.suppress(PlayerError):
        if new_game is not None:
            new_game()
        if hasattr(player, "ready"):
            player.ready(start)
        elif (game, text) not in _WARM:
            warm_up(make_player(game, text), Position(start, np.random.default_rng(0), start))
            _WARM.add((game, text))
    return player


def leave() -> None:
    """End the engines that this process keeps."""
    while _KEPT:
        close(_KEPT.popitem()[1])

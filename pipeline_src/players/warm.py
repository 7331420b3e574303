"""Kernels compiled ahead: all that the rules of a game and its players need."""

from typing import NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit.needs import Need, distinct, ready
from pipeline_src.players import engines
from pipeline_src.players.registry import build_player, open_maker, players_of


class Warmed(NamedTuple):
    """What was there, and what was made."""

    needed: int
    """Kernels of the rules and of all players; those that several of them call count once each."""
    compiled: int
    left_out: list[str]
    """Players that cannot be made here, each with the reason."""


def texts_of(game: str) -> list[str]:
    """A text for each player of a game, or several where its options decide which kernels it calls.

    Players that are other programs are left out.
    """
    own = {name: where for name, where in players_of(game).items() if name not in engines.PLAYERS.get(game, {})}
    return [text for name, where in own.items() for text in (name, *open_maker(where)[1].VARIANTS)]


def warm(game: str) -> Warmed:
    """Compile what is not on disk yet.

    Raises:
        ZugwerkError: no such game.
    """
    start = get_game(game).initial_state()
    needs: list[Need] = rules_need(start)
    left_out = []
    for text in texts_of(game):
        try:
            needs += build_player(game, text).needs(start)
        except ZugwerkError as error:
            left_out.append(f"{text}: {error}")
    return Warmed(len(distinct(needs)), ready(needs), left_out)

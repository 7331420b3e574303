"""Compile ahead all kernels that the rules of a game and its players need."""

import time
from typing import NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit import PROGRESS, Need, distinct, ready
from pipeline_src.players import engines
from pipeline_src.players.registry import build_player, open_maker, players_of


class Warmed(NamedTuple):
    """Numbers of kernels that were needed and compiled."""

    game: str
    needed: int  # Kernels of the rules and of all players. A shared kernel counts once.
    compiled: int
    seconds: float
    left_out: list[str]  # Players that cannot be made on this machine, each with the reason


def texts_of(game: str) -> list[str]:
    """Return a text for each player of a game, or several if its options decide which kernels it calls.

    Players that are other programs are left out.
    """
    own = {name: where for name, where in players_of(game).items() if name not in engines.PLAYERS.get(game, {})}
    return [text for name, where in own.items() for text in (name, *open_maker(where)[1].VARIANTS)]


def warm(game: str) -> Warmed:
    """Compile the kernels that are not on disk yet.

    Games share hardly any kernels, and cache files are named by their sources, so each game can be compiled in a
    process of its own. The process reports progress on stderr.

    Raises:
        ZugwerkError: no game has this name.
    """
    begin = time.monotonic()
    if PROGRESS.stream is None:
        PROGRESS.speak_as(game)
    start = get_game(game).initial_state()
    needs: list[Need] = rules_need(start)
    left_out = []
    for text in texts_of(game):
        try:
            needs += build_player(game, text).needs(start)
        except ZugwerkError as error:
            left_out.append(f"{text}: {error}")
    compiled = ready(needs)
    return Warmed(game, len(distinct(needs)), compiled, time.monotonic() - begin, left_out)

"""From a player's text to the player: `make_player`."""

import importlib
import importlib.util

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import Player, PlayerText

PLAYERS: dict[str, dict[str, str]] = {
    "amazons": {
        "random": "pipeline_src.players.amazons.basic:random_player",
        "one_ply": "pipeline_src.players.amazons.basic:one_ply_player",
        "alphabeta": "pipeline_src.players.amazons.alphabeta:amazons_alphabeta",
        "uct": "pipeline_src.players.amazons.uct:amazons_uct",
        "nets": "pipeline_src.systems.amazons_net.player:nets_player",
        "puct": "pipeline_src.systems.amazons_net.puct:amazons_puct",
        "uci": "pipeline_src.players.engines.uci:uci_player",
    },
    "gomoku": {
        "random": "pipeline_src.players.gomoku.basic:random_player",
        "minimax": "pipeline_src.players.gomoku.minimax:gomoku_minimax",
        "alphabeta": "pipeline_src.players.gomoku.alphabeta:gomoku_alphabeta",
        "engine": "pipeline_src.players.gomoku.engine:gomoku_engine",
        "mcts": "pipeline_src.players.gomoku.mcts:gomoku_mcts",
        "zero": "pipeline_src.systems.gomoku_zero.player:zero_player",
        "brain": "pipeline_src.players.engines.brain:brain_player",
    },
}
"""Makers by game and name, as text: a player brings in only what it needs, and one that searches needs no torch.

Of a game that is not here, `players_of` finds them in the module ``players.<game>``."""


def players_of(game: str) -> dict[str, str]:
    """Makers of a game's players by name, as in `PLAYERS`: from there, or from ``PLAYERS`` of ``players.<game>``."""
    module = f"pipeline_src.players.{game}"
    if game in PLAYERS or importlib.util.find_spec(module) is None:
        return PLAYERS.get(game, {})
    found: dict[str, str] = importlib.import_module(module).PLAYERS
    return found


def make_player(game: str, text: str) -> Player:
    """The player that ``text`` names, e.g. ``one_ply:noise=0.5`` or ``nets:MODEL``.

    Raises:
        ZugwerkError: no such player or option for this game; lists those there are.
    """
    parsed = PlayerText.parse(text)
    known = players_of(game)
    if parsed.name not in known:
        raise ZugwerkError(f"no player {parsed.name!r} for {game}; there are: {', '.join(known)}")
    module, _, maker = known[parsed.name].partition(":")
    player: Player = getattr(importlib.import_module(module), maker)(parsed)
    return player

"""From a player's text to the player: `make_player`."""

import importlib
import importlib.util

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import Player, PlayerText

PLAYERS: dict[str, dict[str, str]] = {
    "amazons": {
        "random": "pipeline_src.players.amazons_basic:random_player",
        "one_ply": "pipeline_src.players.amazons_basic:one_ply_player",
        "alphabeta": "pipeline_src.players.alphabeta:amazons_alphabeta",
        "uct": "pipeline_src.players.uct:amazons_uct",
        "nets": "pipeline_src.players.amazons_nets:nets_player",
        "puct": "pipeline_src.players.puct:amazons_puct",
        "uci": "pipeline_src.players.uci_engine:uci_player",
    },
    "gomoku": {
        "random": "pipeline_src.players.gomoku_basic:random_player",
        "minimax": "pipeline_src.players.minimax:gomoku_minimax",
        "alphabeta": "pipeline_src.players.gomoku_alphabeta:gomoku_alphabeta",
        "mcts": "pipeline_src.players.mcts:gomoku_mcts",
        "zero": "pipeline_src.players.zero:zero_player",
        "brain": "pipeline_src.players.brain_engine:brain_player",
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

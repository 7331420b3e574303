"""Engines of other programs as players: the UCI and the Gomocup protocol, each over the pipes of a process."""

PLAYERS = {
    "amazons": {"uci": "pipeline_src.players.engines.uci:uci_player"},
    "gomoku": {"brain": "pipeline_src.players.engines.brain:brain_player"},
}

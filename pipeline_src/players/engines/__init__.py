"""Other programs as players, through the UCI or the Gomocup protocol over the pipes of a process."""

PLAYERS = {
    "amazons": {"uci": "pipeline_src.players.engines.uci:uci_player"},
    "gomoku": {"brain": "pipeline_src.players.engines.brain:brain_player"},
}

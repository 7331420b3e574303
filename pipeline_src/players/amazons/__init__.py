"""Players of the Amazons that belong to no system."""

PLAYERS = {
    "random": "pipeline_src.players.amazons.basic:random_player",
    "one_ply": "pipeline_src.players.amazons.basic:one_ply_player",
    "alphabeta": "pipeline_src.players.amazons.searches:amazons_alphabeta",
    "uct": "pipeline_src.players.amazons.searches:amazons_uct",
    "level": "pipeline_src.players.levels:amazons_level",
}

"""A convolutional net that chooses the search depth of the Amazons engine (Li and Gao, 2022)."""

PLAYERS = {
    "amazons": dict.fromkeys(
        ["alphabeta:depth=cnn", "alphabeta:depth=table", "alphabeta:nodes_per_ms"],
        "pipeline_src.systems.search_depth.player:depth_player",
    )
}  # An alpha-beta with one of these options chooses its depth

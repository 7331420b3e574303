"""Amazons-Net: Move-Net and Arrow-Net, supervised (patent CN 111330255 B); and a residual net of ours."""

PLAYERS = {
    "amazons": {
        "nets": "pipeline_src.systems.amazons_net.players:nets_player",
        "puct": "pipeline_src.systems.amazons_net.players:amazons_puct",
    }
}

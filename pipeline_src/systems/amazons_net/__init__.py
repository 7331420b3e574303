"""Amazons-Net: Move-Net and Arrow-Net, trained on recorded games (patent CN 111330255 B), and our residual net."""

PLAYERS = {
    "amazons": {
        "nets": "pipeline_src.systems.amazons_net.players:nets_player",
        "puct": "pipeline_src.systems.amazons_net.players:amazons_puct",
    }
}

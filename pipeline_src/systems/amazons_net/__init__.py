"""Amazons-Net: Move-Net and Arrow-Net, supervised (patent CN 111330255 B); and a residual net of ours."""

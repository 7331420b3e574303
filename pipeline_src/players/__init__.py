"""Where search meets net: what chooses moves, called by a short text such as ``one_ply:noise=0.5``."""

"""The cycle of self-play: a generation plays, trains, and has to beat the best player so far."""

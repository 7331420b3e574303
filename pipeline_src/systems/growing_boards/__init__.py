"""Self-play on growing boards: the net of a small board is carried over to a larger one."""

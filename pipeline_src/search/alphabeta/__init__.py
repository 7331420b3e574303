"""Alpha-beta for any game with kernels and an evaluation registered for the type of its state."""

"""Alpha-beta for any game whose kernels and evaluation are registered by the type of its state."""

"""Training with Lightning: modules that are handed their nets, data modules, optimizers, callbacks."""

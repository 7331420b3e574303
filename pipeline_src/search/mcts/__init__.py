"""Tree searches that grow where it pays: UCT with an evaluation, PUCT with the priors and values of a net."""

"""Monte Carlo tree searches: UCT with playouts or a static evaluation, PUCT and Gumbel search with a net."""

"""Gomoku for the searches: its evaluation, its pattern windows, its playouts."""

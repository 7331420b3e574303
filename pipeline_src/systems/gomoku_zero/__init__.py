"""Gomoku by Monte Carlo tree search and one residual network, from self-play (Li et al.)."""

"""Gomoku from self-play: a task for each generation, then the tables and ratings.

`python -m flows.gomoku_zero` runs it here and now, without a server.
"""

from flows.one_system import system_flow
from flows.options import run_here

gomoku_zero = system_flow(
    "gomoku-zero",
    "gomoku",
    "Bring Gomoku's generations up to date, one after another, then the tables and ratings; push and publish.",
)

if __name__ == "__main__":
    run_here(gomoku_zero)

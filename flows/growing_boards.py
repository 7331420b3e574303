"""Self-learning on growing boards: a task for each board, then the matches.

`python -m flows.growing_boards` runs it here and now, without a server.
"""

from flows.one_system import system_flow
from flows.options import run_here

growing_boards = system_flow(
    "growing-boards",
    "growing",
    "Bring the boards up to date, from the smallest to the largest, then their evaluation; push and publish.",
)

if __name__ == "__main__":
    run_here(growing_boards)

"""The joseki library: games, the library, its evaluation.

`python -m flows.joseki` runs it here and now, without a server.
"""

from flows.one_system import system_flow
from flows.options import run_here

joseki = system_flow(
    "joseki",
    "joseki",
    "Bring the games, the joseki library and its evaluation up to date; push and publish.",
)

if __name__ == "__main__":
    run_here(joseki)

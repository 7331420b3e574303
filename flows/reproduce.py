"""The whole graph: bring every target up to date, push what was made, publish metrics, plots and results.

`python -m flows.reproduce` runs it here and now, without a server.
"""

from flows.one_system import system_flow
from flows.options import run_here

reproduce = system_flow(
    "reproduce",
    None,
    "Bring the whole graph up to date, target by target; push what was made, publish metrics, plots and results.",
    crawls=True,
)

if __name__ == "__main__":
    run_here(reproduce)

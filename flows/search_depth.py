"""The net that chooses the search depth: labels, a task for each model, its evaluation, the matches.

`python -m flows.search_depth` runs it here and now, without a server.
"""

from flows.one_system import system_flow
from flows.options import run_here

search_depth = system_flow(
    "search-depth",
    "depth",
    "Bring the search depth's labels, models, evaluation and matches up to date; push and publish.",
)

if __name__ == "__main__":
    run_here(search_depth)

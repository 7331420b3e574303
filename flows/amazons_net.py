"""Amazons-Net: fetch the games that are new, train on all of them, evaluate and play the matches.

`python -m flows.amazons_net` runs it here and now, without a server.
"""

from flows.one_system import system_flow
from flows.options import run_here

amazons_net = system_flow(
    "amazons-net",
    "amazons",
    "Bring Amazons-Net up to date, from the crawl to the matches; push and publish.",
    crawls=True,
)

if __name__ == "__main__":
    run_here(amazons_net)

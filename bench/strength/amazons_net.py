"""Play the packaged residual net's tree search against alpha-beta for docs/measured/amazons_net.json.

Alpha-beta has 100 ms a move; the search has as much, then four and sixteen times as much. Killed at any moment, the
same command goes on with the pairs that are missing. Example: ``python -m bench.strength.amazons_net --games 20``
"""

import argparse
from pathlib import Path

from bench.strength.amazons_engine import about, line
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.parallel import Parallel

OUT = Path("docs/measured/amazons_net.json")
WORK = Path("work/strength/amazons_net")
COMMAND = "make measure-amazons_net"
MATCHES = {
    "puct_100": ("puct:movetime=100", "alphabeta:movetime=100", 100),
    "puct_400": ("puct:movetime=400", "alphabeta:movetime=100", 60),
    "puct_1600": ("puct:movetime=1600", "alphabeta:movetime=100", 40),
}
"""By name: whose score is told, its opponent, games."""


def main() -> None:
    """Play, and write after each match."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, help="games side by side; a core each")
    parser.add_argument("--games", type=int, help="at most so many of each match")
    options = parser.parse_args()
    found = {}
    for seed, (name, (a, b, games)) in enumerate(MATCHES.items()):
        spec = MatchSpec("amazons", a, b, min(games, options.games or games), "random:2", 10, seed=seed)
        found[name] = match = run_match(spec, WORK / f"{name}.parquet", Parallel(workers=options.workers))
        print(line(match), flush=True)
        figure = found["puct_100"].score.as_metrics() | about(COMMAND) | {"data": "engine games"}
        write_json(
            OUT, {"residual_puct_vs_alphabeta": figure, "matches": {key: one.as_json() for key, one in found.items()}}
        )


if __name__ == "__main__":
    run_main(main)

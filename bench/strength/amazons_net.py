"""Play the packaged net's tree search against alpha-beta for docs/measured/amazons_net.json, at equal CPU time.

Killed at any moment, the same command continues with the missing pairs. Example:
``python -m bench.strength.amazons_net --games 20``
"""

from pathlib import Path

from bench.measured import about, chosen, known, line, match_options
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.parallel import Parallel

OUT = Path("docs/measured/amazons_net.json")
WORK = Path("work/strength/amazons_net")
COMMAND = "make measure-amazons_net"
MATCHES = {
    "puct_100": ("puct:movetime=100", "alphabeta:movetime=100", 200, 10),
    "puct_1000": ("puct:movetime=1000", "alphabeta:movetime=1000", 100, 10),
    "puct_8x8": ("puct:movetime=100", "alphabeta:movetime=100", 200, 8),
    "puct_6x6": ("puct:movetime=100", "alphabeta:movetime=100", 200, 6),
}
"""Player A, whose score is reported, player B, games and side of the board by name. The first one is the figure."""


def main() -> None:
    """Play, and write after each match; matches that are not played this time stay."""
    options = match_options(__doc__, workers=2).parse_args()
    made, found = known(OUT), dict(known(OUT).get("matches", {}))
    for seed, (name, (a, b, games, size)) in enumerate(MATCHES.items()):
        if name in chosen(options.only, MATCHES):
            count = min(games, options.games or games)
            spec = MatchSpec("amazons", a, b, count, "level:4", size, seed=seed, cpu_time=True)
            match = run_match(spec, WORK / f"{name}.parquet", Parallel(workers=options.workers))
            print(line(match), flush=True)
            if name == next(iter(MATCHES)):
                made["puct_vs_alphabeta"] = match.score.as_metrics() | about(COMMAND, "its own games")
            found[name] = match.as_json()
            write_json(OUT, made | {"matches": found})


if __name__ == "__main__":
    run_main(main)

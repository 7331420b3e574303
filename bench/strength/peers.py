"""Play our net against those of two public repositories, by `bench.peers`, for docs/measured/peers.json.

At equal simulations, then with the CPU time a move that theirs took in the first match of the board. Times are CPU
times, so the machine may be busy. Killed at any moment, the same command continues with the missing pairs.
Example: ``python -m bench.strength.peers FOLDER``, with their nets as .npz in the folder
"""

from pathlib import Path

from bench.measured import about, chosen, known, line, match_options
from pipeline_src.arena.match import MatchSpec, run_match
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.parallel import Parallel

OUT, WORK = Path("docs/measured/peers.json"), Path("work/strength/peers")
THEIRS = {
    8: ("AlphaZero_Gomoku", "alphazero_gomoku_8_8_5.npz"),
    9: ("alphazero-board-games", "zhixiangli_gomoku_9_9.npz"),
}
"""Repository and file of the net by the board's side."""
MATCHES = {
    "simulations_8": ("zero:simulations=400", 8),
    "time_8": ("zero:movetime=150", 8),
    "simulations_9": ("zero:simulations=400", 9),
    "time_9": ("zero:movetime=430", 9),
}
"""Our player and the board's side by name."""
GAMES, MARGIN_MS = 40, 1000.0  # No move is lost by a late timer: the means say what was used


def main() -> None:
    """Play, and write after each match; matches that are not played this time stay."""
    parser = match_options(__doc__, workers=1)
    parser.add_argument("nets", type=Path, help="folder of the nets")
    options = parser.parse_args()
    for name in chosen(options.only, MATCHES):
        a, side = MATCHES[name]
        repository, file = THEIRS[side]
        b = f"brain:python -m bench.peers {options.nets / file},movetime=600000"
        spec = MatchSpec("gomoku", a, b, options.games or GAMES, "level:4", side, margin=MARGIN_MS, cpu_time=True)
        match = run_match(spec, WORK / f"{name}.parquet", Parallel(workers=options.workers))
        print(line(match), flush=True)
        row = match.as_json() | {"b": f"{repository}, 400 simulations", "board": f"{side}x{side}"}
        row |= about(
            f"python -m bench.strength.peers FOLDER --only {name}", "openings that two plies of search call level"
        )
        write_json(OUT, known(OUT) | {name: row})


if __name__ == "__main__":
    run_main(main)

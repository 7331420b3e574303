"""Stage amazons_samples: convert games to a data set, split by game, with no position in two splits.

Reads ``artifacts/records/amazons/games.parquet``; writes ``artifacts/samples/amazons/`` and the counts
``artifacts/reports/amazons/samples.json``.
"""

from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.project.params import load, load_value
from pipeline_src.systems.amazons_net.build import build_dataset, read_games
from pipeline_src.systems.amazons_net.params import AmazonsSamplesParams

GAMES = Path("artifacts/records/amazons/games.parquet")
OUT = Path("artifacts/samples/amazons")
WORK = Path("work/amazons_samples")
REPORT = Path("artifacts/reports/amazons/samples.json")


def main() -> None:
    """Load params, replay, write.

    Raises:
        ZugwerkError: bad params, or games that cannot be used.
    """
    params, seed = load(AmazonsSamplesParams, "amazons_samples"), load_value(int, "seed")
    WORK.mkdir(parents=True, exist_ok=True)
    archive = read_games(GAMES, params.size, params.variants, params.teachers, WORK)
    counts = build_dataset(
        archive, OUT, size=params.size, variants=params.variants, shares=params.split.shares, seed=seed, work=WORK
    )
    write_json(REPORT, counts)


if __name__ == "__main__":
    run_main(main)

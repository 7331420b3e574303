"""Stage amazons_parse: convert crawled pages to an archive of games and a file of rejects with reasons.

Reads ``artifacts/raw/amazons/pages/``; writes ``games.parquet`` and ``rejects.parquet`` under
``artifacts/records/amazons/`` and the counts ``artifacts/reports/amazons/parse.json``.
"""

from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from pipeline_src.errors import run_main
from pipeline_src.project.params import load
from pipeline_src.records.littlegolem.amazons import GameCounts, Kept, Usable, read_game
from pipeline_src.records.littlegolem.text import source_of
from pipeline_src.records.raw import read_raw
from pipeline_src.records.record import Reject, sort_results
from pipeline_src.systems.amazons_net.params import AmazonsParseParams

PAGES = Path("artifacts/raw/amazons/pages")
GAMES = Path("artifacts/records/amazons/games.parquet")
REJECTS = Path("artifacts/records/amazons/rejects.parquet")
REPORT = Path("artifacts/reports/amazons/parse.json")


def main() -> None:
    """Parse all that was crawled.

    Raises:
        ZugwerkError: bad params, a damaged shard, or not one usable game.
    """
    params = load(AmazonsParseParams, "amazons_parse")
    usable, counts = Usable(params.min_plies, params.variants), GameCounts()

    def results() -> Iterator[Kept | Reject]:
        for raw in tqdm(read_raw(PAGES), desc="parse", unit=" games", disable=None):
            result = read_game(raw, usable)
            counts.add(source_of(raw), result)
            yield result

    sort_results(results(), counts.report, PAGES, games=GAMES, rejects=REJECTS, report=REPORT)


if __name__ == "__main__":
    run_main(main)

"""Stage amazons_crawl: the site's unchanged answers about its Amazons games; stage amazons_parse: the games in them.

The first reads ``amazons_crawl.source``: the archive, which a replica of the site serves; what `zugwerk crawl amazons`
fetched from the site itself; or records of your own. It writes shards to ``artifacts/raw/amazons/pages/``; the journal
and the logs of fetch times are in the work folder. The second writes ``games.parquet``, and ``rejects.parquet`` with
the reasons, under ``artifacts/records/amazons/``, and the counts ``artifacts/reports/amazons/parse.json``.
"""

from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from pipeline_src.project.params import load, load_part, load_value
from pipeline_src.records.crawl_params import RequestLimits
from pipeline_src.records.littlegolem.amazons import GameCounts, Kept, Usable, read_game
from pipeline_src.records.littlegolem.text import source_of
from pipeline_src.records.raw import read_raw
from pipeline_src.records.record import Reject, sort_results
from pipeline_src.systems.amazons_net.params import AmazonsCrawlParams, AmazonsParseParams

ARCHIVE = Path("artifacts/raw/amazons/archive.parquet")
PAGES = Path("artifacts/raw/amazons/pages")
GAMES = Path("artifacts/records/amazons/games.parquet")
REJECTS = Path("artifacts/records/amazons/rejects.parquet")
REPORT = Path("artifacts/reports/amazons/parse.json")
WORK = Path("work/amazons_crawl")


def crawl() -> None:
    """Bring the games up to date with their source.

    Raises:
        ZugwerkError: bad params or source, or a crawl that failed; the stored games are then as they were.
    """
    from spiders.crawl import bring_games  # Scrapy, which the parser does without

    games, limits = load(AmazonsCrawlParams, "amazons_crawl"), load_part(RequestLimits, "crawl")
    bring_games(games, limits, seed=load_value(int, "seed"), archive=ARCHIVE, pages=PAGES, work=WORK)


def parse() -> None:
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

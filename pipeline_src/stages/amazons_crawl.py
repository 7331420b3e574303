"""Stage amazons_crawl: the site's unchanged answers about its Amazons games, in shards.

Reads ``amazons_crawl.source``: the archive, which a replica of the site serves; what `zugwerk crawl amazons` fetched
from the site itself; or records of your own. Writes ``artifacts/raw/amazons/pages/``. The journal and the logs of fetch
times are in the work folder.
"""

from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.project.params import load, load_part, load_value
from pipeline_src.records.crawl_params import RequestLimits
from pipeline_src.systems.amazons_net.params import AmazonsCrawlParams
from spiders.crawl import bring_games

ARCHIVE = Path("artifacts/raw/amazons/archive.parquet")
PAGES = Path("artifacts/raw/amazons/pages")
WORK = Path("work/amazons_crawl")


def main() -> None:
    """Bring the games up to date with their source.

    Raises:
        ZugwerkError: bad params or source, or a crawl that failed; the stored games are then as they were.
    """
    games, limits = load(AmazonsCrawlParams, "amazons_crawl"), load_part(RequestLimits, "crawl")
    bring_games(games, limits, seed=load_value(int, "seed"), archive=ARCHIVE, pages=PAGES, work=WORK)


if __name__ == "__main__":
    run_main(main)

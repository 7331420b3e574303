"""Fetch Go games from LittleGolem for ``joseki_records.source: littlegolem``; run it by hand, no other stage does.

Writes ``artifacts/raw/joseki/pages/``; another run fetches what is new. The journal and the logs of fetch times are in
the work folder.

Example: ``python -m pipeline_src.stages.joseki_crawl && dvc repro -f joseki_records``
"""

from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.project.params import load, load_value
from pipeline_src.records.crawl_params import CrawlParams, GamesParams
from pipeline_src.systems.joseki.params import JosekiCrawlParams
from spiders.crawl import crawl
from spiders.replica.quirks import NO_QUIRKS

PAGES = Path("artifacts/raw/joseki/pages")
WORK = Path("work/joseki_crawl")


def main() -> None:
    """Crawl what is new.

    Raises:
        ZugwerkError: bad params or source, or a crawl that failed; the stored games are then as they were.
    """
    games, site = load(JosekiCrawlParams, "joseki_crawl"), load(CrawlParams, "crawl")
    wanted = GamesParams(**dict(games), quirks=NO_QUIRKS)
    # The archive is what a replica would serve by default; a source that needs it is refused.
    crawl(wanted, site, seed=load_value(int, "seed"), archive=PAGES, pages=PAGES, work=WORK)


if __name__ == "__main__":
    run_main(main)

"""Fetch Go games of LittleGolem for ``joseki_records.source: littlegolem``. Run it by hand; no stage runs it.

Reads ``joseki_crawl.source``: what `zugwerk crawl joseki` fetched, or a folder of the site's records, which a replica
serves. Writes ``artifacts/raw/joseki/pages/``. The journal and the logs of fetch times are in the work folder.

Example: ``python -m pipeline_src.stage systems.joseki.crawl && dvc repro -f joseki_build joseki_evaluate``
"""

from pathlib import Path

from pipeline_src.project.params import load, load_part, load_value
from pipeline_src.records.crawl_params import GamesParams, RequestLimits
from pipeline_src.systems.joseki.params import JosekiCrawlParams
from spiders.crawl import bring_games
from spiders.replica.site import NO_QUIRKS

PAGES = Path("artifacts/raw/joseki/pages")
WORK = Path("work/joseki_crawl")


def main() -> None:
    """Bring the games up to date with their source."""
    games, limits = load(JosekiCrawlParams, "joseki_crawl"), load_part(RequestLimits, "crawl")
    wanted = GamesParams(**dict(games), quirks=NO_QUIRKS)
    # No archive has quirks: there are no Go games of our own to serve.
    bring_games(wanted, limits, seed=load_value(int, "seed"), archive=WORK, pages=PAGES, work=WORK)

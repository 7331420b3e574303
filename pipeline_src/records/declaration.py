"""Crawls declare their section of params.yaml, and the figures of a rehearsal."""

from pipeline_src.project.systems import Figure, System
from pipeline_src.records.crawl_params import CrawlParams

SYSTEM = System(
    name="crawl",
    title="Crawl rehearsal",
    summary=(
        "The replica plays the live site: 10,000 games, failures, hostile names, a restart, renamed players "
        "and growth. The crawl is ended by signals in every phase."
    ),
    page="crawl.md",
    figures={
        "games_equal": Figure("valid games stored turn by turn as they were played", "fraction"),
        "requests_per_new_game": Figure("requests a stored game", "requests"),
        "finished_games_asked_twice": Figure("finished games requested twice", "games"),
        "least_gap_s": Figure("shortest time between two requests at a delay of 1 s", "seconds"),
        "stop_s": Figure("longest time from a signal to the end of the crawl", "seconds"),
    },
    params={"crawl": CrawlParams},
)

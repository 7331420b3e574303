"""Crawl stages: bring the folder of games up to date with a source on this machine.

The source is an archive, which a replica of the site serves to the spider, or a folder of games that `spiders.live`
fetched, which are copied. No stage asks a live site.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.records.crawl_params import CrawlParams, GamesParams, RequestLimits
from pipeline_src.records.raw import RawGame, list_shards, read_raw
from spiders.journal import Journal
from spiders.littlegolem import LittleGolemSpider
from spiders.running import Interrupted, interruptible, run_spider
from spiders.settings import manners
from spiders.source import open_source
from spiders.spider import plan_of
from spiders.store import SOURCE, Identity, put, take_up
from spiders.summary import reasons, tell


def bring_games(
    games: GamesParams, limits: RequestLimits, *, seed: int, archive: Path, pages: Path, work: Path
) -> None:
    """Bring the shards in ``pages`` up to date with ``games.source``; report on stderr.

    Fetched pages are journalled in ``work``, so a crawl that is killed or fails resumes there when it is run
    again. The shards change only after the whole crawl has succeeded.

    Args:
        games: which games, from where.
        limits: time limit and retries of requests to the replica.
        seed: seed of the replica's quirks.
        archive: the archive that is served with quirks.
        pages: folder of the shards.
        work: folder for the journal and logs.

    Raises:
        ZugwerkError: bad source, damaged shards, or a crawl that failed or was interrupted.
    """
    try:
        with interruptible():
            if list_shards(games.source):
                _copy(Path(games.source), games.max_games, pages)
            else:
                _crawl(games, limits, seed, archive, pages, work)
    except Interrupted:
        raise ZugwerkError(
            "the crawl was interrupted. The stored games are as they were; what came is kept: run again to go on"
        ) from None


def _copy(source: Path, most: int, pages: Path) -> None:
    origin = read_json(source / SOURCE) if (source / SOURCE).is_file() else {}
    games = _first(most, {game.gid: game for game in read_raw(source)})
    take_up(pages, {})
    put(pages, {"source": "crawled", "origin": origin}, games.values())


def _crawl(games: GamesParams, limits: RequestLimits, seed: int, archive: Path, pages: Path, work: Path) -> None:
    with open_source(games, archive, seed, work) as source:
        known = take_up(pages, source.identity)
        replica = CrawlParams(
            base_url=source.base_url,
            api_url=source.api_url,
            contact="",
            delay_s=0.0,
            backoff_s=0.0,
            store=str(work),
            **limits.model_dump(),
        )
        plan = replace(plan_of(games, replica), in_progress=True)
        settings = manners(replica, source.base_url, source.api_url)
        with Journal(work / f"journal-{_digest(source.identity)}.jsonl") as journal:
            spider, stopped = run_spider(LittleGolemSpider, plan, known, journal, work, settings)
            if stopped:
                raise Interrupted
            if spider.crash:
                raise spider.crash
            if spider.way is None:
                why = "".join(f"By {reason}. " for reason in reasons(spider))
                raise ZugwerkError(
                    f"the crawl of {source.base_url} failed. {why}"
                    f"The stored games are as they were; what came is kept in {journal.path}: run again to go on"
                )
            put(pages, source.identity, source.mark(_first(games.max_games, spider.stored())))
            journal.clear()
    tell(spider, len(known))


def _first(most: int, games: dict[int, RawGame]) -> dict[int, RawGame]:
    """The games with the lowest numbers; all of them where ``most`` is 0."""
    return {gid: games[gid] for gid in sorted(games)[: most or None]}


def _digest(identity: Identity) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:12]

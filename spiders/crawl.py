"""Crawl stages: bring the folder of games up to date with a source on this machine.

The source is an archive, which a replica of the site serves to the spider, or a folder of games that `spiders.live`
fetched, which are copied. No stage asks a live site.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import spiders
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.code import digest
from pipeline_src.records import record
from pipeline_src.records.crawl_params import CrawlParams, GamesParams, QuirkParams, RequestLimits
from pipeline_src.records.raw import RawGame, list_shards, read_raw
from spiders.replica.archive import record_files
from spiders.replica.site import API_PREFIX, NO_QUIRKS
from spiders.running import Interrupted, interruptible, reasons, run_spider, tell
from spiders.settings import manners
from spiders.spider import LittleGolemSpider, plan_of
from spiders.store import SOURCE, Identity, Journal, put, take_up

ROOT = Path(spiders.__file__).parents[1]
CODE = ("spiders.replica.__main__", "spiders.spider")
"""Modules whose code decides, together with the archive, the pages of a replica and what is made of them."""


@dataclass(frozen=True)
class Source:
    """A running site, and facts about its games from elsewhere."""

    base_url: str
    api_url: str
    identity: Identity
    archive: Path  # Archive that the replica serves

    def mark(self, games: Mapping[int, RawGame]) -> list[RawGame]:
        """The games marked by origin: engine games, and those from a user's file (status 0)."""
        if self.archive.is_dir():
            # The replica has to call the variant something; a folder of records does not state it.
            return [replace(_from_file(game), variant="") for game in games.values()]
        table = record.read_table(self.archive)
        origin = dict(zip(table["gid"].to_pylist(), table["source"].to_pylist(), strict=True))
        marked = []
        for gid, game in games.items():
            # A gid that is not in the archive is of a quirk, a copy of an engine game.
            source = origin.get(gid, "engine")
            marked.append(_from_file(game) if source == "file" else replace(game, engine=source == "engine"))
        return marked


@contextmanager
def open_source(games: GamesParams, archive: Path, seed: int, work: Path) -> Iterator[Source]:
    """Run a replica that serves the source of the params for the block; as `bring_games`.

    Raises:
        ZugwerkError: no such archive, or a replica that does not start.
    """
    path = Path(games.source)
    own = path == archive
    if not path.exists():
        raise ZugwerkError(
            f"{path}: no such games; `dvc repro` makes the archive that a replica serves, `zugwerk crawl SYSTEM "
            "--dry-run` the folder of what was crawled from a live site; else give a folder or Parquet file of your own"
        )
    quirks = games.quirks if own else NO_QUIRKS
    identity = games.model_dump(mode="json") | {
        "source": "replica" if own else "archive",
        "quirks": quirks.model_dump(),
        "seed": seed,
        "archive": _archive_digest(path),
        "code": digest(*CODE),
    }
    with _replica(path, games.gtid, quirks, seed, work) as url:
        yield Source(url, url + API_PREFIX, identity, path)


@contextmanager
def _replica(path: Path, gtid: str, quirks: QuirkParams, seed: int, work: Path) -> Iterator[str]:
    """Base URL of a replica, which ends with the block or with this process."""
    command = [sys.executable, "-m", "spiders.replica", "--archive", str(path), "--gtid", gtid, "--seed", str(seed)]
    command += ["--port", "0", "--until-stdin-closes"]
    command += [f"--{name.replace('_', '-')}={value}" for name, value in quirks]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    log = work / "replica.log"
    work.mkdir(parents=True, exist_ok=True)
    with open(log, "w+b") as errors:
        process = subprocess.Popen(  # noqa: S603 - our own module
            command,
            stdin=subprocess.PIPE,  # closes when this process dies, and then the replica ends
            stdout=subprocess.PIPE,
            stderr=errors,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )
        try:
            yield _url(process, errors, log)
        finally:
            process.kill()
            process.communicate()


def _url(process: subprocess.Popen[bytes], errors: IO[bytes], log: Path) -> str:
    """Return the address that the replica prints once it listens."""
    assert process.stdout
    line = process.stdout.readline().decode()
    if line:
        return line.split()[0]
    process.wait()
    errors.seek(0)
    said = errors.read().decode(errors="replace").strip().splitlines()
    raise ZugwerkError(
        f"the replica did not start: {said[-1] if said else f'see {log}'}".replace("start: error: ", "start: ")
    )


def _from_file(game: RawGame) -> RawGame:
    return replace(game, engine=False, status=0 if game.status == 200 else game.status)


def _archive_digest(path: Path) -> str:
    """SHA-256 of an archive: of the file, or of the record files of a folder with their gids."""
    if path.is_file():
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256()
    for gid, body in sorted(record_files(path).items()):
        digest.update(f"{gid} {len(body)}\n".encode() + body)
    return digest.hexdigest()


def bring_games(
    games: GamesParams, limits: RequestLimits, *, seed: int, archive: Path, pages: Path, work: Path
) -> None:
    """Bring the shards in ``pages`` up to date with ``games.source``; report on stderr.

    Fetched pages are journalled in ``work``, so a crawl that is killed or fails resumes there when it is run again. The
    shards change only after the whole crawl has succeeded. ``archive`` is served with quirks, chosen by the seed.

    Raises:
        ZugwerkError: bad source, damaged shards, or a crawl that failed or was interrupted.
    """
    try:
        with interruptible():
            if list_shards(games.source):
                _copy(Path(games.source), games.max_games, pages)
            else:
                _crawl(games, limits, seed, archive, pages, work)
    except Interrupted as error:
        raise ZugwerkError(
            f"the crawl was interrupted{error.by}. The stored games are as they were; what came is kept: "
            "run again to go on"
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
        key = hashlib.sha256(json.dumps(source.identity, sort_keys=True).encode()).hexdigest()[:12]
        with Journal(work / f"journal-{key}.jsonl") as journal:
            spider, stopped = run_spider(LittleGolemSpider, plan, known, journal, work, settings)
            if stopped:
                raise Interrupted(stopped)
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

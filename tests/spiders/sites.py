"""A small archive, sites that serve it, and crawls of them in processes of their own."""

import contextlib
import functools
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from pipeline_src import yaml12
from pipeline_src.records.crawl_params import QuirkParams
from pipeline_src.records.raw import read_raw
from pipeline_src.records.record import write_records
from spiders.replica.archive import open_archive
from spiders.replica.site import API_PREFIX, NO_QUIRKS, Moods, Routes, Server
from tests.records.amazons_games import random_game, record_of
from tests.run_stage import stage_command
from tests.starts import Start

ROOT = Path(__file__).parents[2]
PAGES = Path("artifacts/raw/amazons/pages")
ARCHIVE = Path("artifacts/raw/amazons/archive.parquet")
LIVE = Path("artifacts/raw/amazons/live")
WORK = Path("work/amazons_crawl")
STAGE = stage_command("systems.amazons_net.records:crawl")
CRAWL = [sys.executable, "-m", "pipeline_src.cli", "crawl", "amazons"]
CRAWLING = (
    *("pipeline_src.cli.app", "pipeline_src.systems.amazons_net.params", "pipeline_src.systems.joseki.params"),
    *(f"spiders.{name}" for name in ("live", "crawl", "running", "settings")),
    *("tldextract", "aiohttp.web", "scrapy.pqueues", "scrapy.squeues", "scrapy.spidermiddlewares.depth"),
    *(f"scrapy.extensions.{name}" for name in ("feedexport", "throttle", "telnet")),
    *(f"scrapy.core.downloader.{name}" for name in ("contextfactory", "handlers.http11")),
    *(f"scrapy.downloadermiddlewares.{name}" for name in ("httpcache", "httpcompression", "offsite", "robotstxt")),
)
"""Imports of a crawl, except Twisted's reactor, which each process has for itself."""
RESOLVING = ("tests.rehearsal.resolved", *CRAWLING)
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
QUIRKS = QuirkParams(
    in_progress=0.1,
    missing=0.1,
    foreign=0.1,
    timeouts=0.1,
    names=0.5,
    double_json=0.5,
    failing=0.1,
    slow=0.0,
    slow_s=0.0,
)


def quirks(**changes):
    return QuirkParams(**{**vars(NO_QUIRKS), **changes})


@functools.cache
def games(count=40, seed=0):
    """Engine games among seven players, some of them resigned, one in five from the cross start."""
    records = []
    for i in range(count):
        variant = "cross" if i % 5 == 0 else "standard"
        actions, _ = random_game(1000 * seed + i, 30 + i if i % 3 else 1000, variant)
        first, second = 1 + i % 7, 1 + (i + 1 + i // 7 % 6) % 7
        records.append(
            record_of(
                actions,
                gid=9_980 + i,
                source="engine",
                variant=variant,
                winner="first" if len(actions) % 2 else "second",
                resigned=bool(i % 3),
                first_name=f"engine {first}",
                second_name=f"engine {second}",
                first_plid=100 + first,
                second_plid=100 + second,
                event="amzn.ch.3.1.1" if i % 4 == 0 else "",
            )
        )
    return tuple(records)


def site_of(records, folder, quirks=NO_QUIRKS, seed=0):
    folder.mkdir(exist_ok=True)
    write_records(records, folder / "served.parquet")
    return open_archive(folder / "served.parquet", "", quirks, seed)


@contextlib.contextmanager
def served(answer, port=0):
    """Base URL of a server in a thread, and the targets that it was asked for."""
    asked = []

    def noted(target):
        asked.append(target)
        return answer(target)

    with Server(("127.0.0.1", port), noted) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        try:
            yield server.url, asked
        finally:
            server.shutdown()


def serving(records, folder, quirks=NO_QUIRKS, broken=(), port=0):
    """A replica in a thread."""
    return served(Moods(Routes(site_of(records, folder, quirks), quirks.double_json), quirks, 0, broken), port)


def write_params(folder, url="http://127.0.0.1:9", quirks=NO_QUIRKS, crawl=None, source=ARCHIVE, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    manners = {"contact": "", "delay_s": 1.0, "timeout_s": 10.0, "retries": 1, "backoff_s": 1.0, "max_failures": 0.2}
    tree = {
        "seed": 7,
        "crawl": {
            "base_url": url,
            "api_url": url + API_PREFIX,
            "store": str(folder / "store"),
            **manners,
            **(crawl or {}),
        },
        "amazons_crawl": {
            "source": str(source),
            "gtid": "amzn",
            "variants": ["DEFAULT", "CROSS"],
            "ways": ["lists", "text", "api"],
            "max_games": 0,
            "quirks": quirks.model_dump(),
            **changes,
        },
    }
    (folder / "params.yaml").write_text(yaml12.dump(tree))


def start(command, folder, **options):
    """Begin a command in ``folder``, its imports made."""
    modules = RESOLVING if "tests.rehearsal.resolved" in command else CRAWLING
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return Start(command, modules=modules, cwd=folder, env=ENVIRONMENT, **{**pipes, **options})


def run(command, folder):
    """Exit status of a command in ``folder``, and what it said on stderr."""
    with start(command, folder, text=True) as process:
        try:
            _, said = process.communicate(timeout=240)
        finally:
            process.kill()
    return process.returncode, said


def crawl(folder, *args, **kwargs):
    """Crawl a site as if it were live."""
    write_params(folder, *args, **kwargs)
    return run(CRAWL, folder)


def stage(folder, *args, **kwargs):
    """Run the stage; by default it crawls a replica of the archive."""
    write_params(folder, *args, **kwargs)
    return run(STAGE, folder)


def crawled(folder, where=LIVE):
    return {game.gid: game for game in read_raw(folder / where)}


def shards(folder, where=LIVE):
    """Bytes of the shards by name."""
    return {path.name: path.read_bytes() for path in sorted((folder / where).glob("*.parquet"))}


def fetches(folder):
    """(status, key) of every request in the log, in order."""
    lines = (folder / WORK / "fetches.log").read_text().splitlines()
    return [(int(fields[2]), fields[4]) for fields in (line.split("\t") for line in lines)]


def gid_of(key):
    found = re.search(r"/servlet/sgf/(\d+)/", key)
    return int(found[1]) if found else None


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)

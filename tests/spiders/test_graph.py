"""What DVC and the flows make of a live crawl: a small graph with the crawl's stage as dvc.yaml has it."""

import logging
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import Future

import pytest

from flows.systems import CrawlFailedError
from pipeline_src import yaml12
from pipeline_src.records.record import write_records
from tests.rehearsal.server import Trap, serving
from tests.rehearsal.site import Site
from tests.spiders.sites import (
    CRAWL,
    ENVIRONMENT,
    LIVE,
    PAGES,
    WORK,
    crawled,
    games,
    quirks,
    run,
    wait_until,
    write_params,
)
from tests.spiders.test_stop import LIMIT_S, begin, end

pytestmark = pytest.mark.slow

DVC = [sys.executable, "-m", "dvc"]
GRAPH = """
stages:
  amazons_archive:
    cmd: mkdir -p artifacts/raw/amazons && cp played.parquet artifacts/raw/amazons/archive.parquet
    deps: [played.parquet]
    outs: [artifacts/raw/amazons/archive.parquet]
  amazons_crawl:
    cmd: python -m pipeline_src.stages.amazons_crawl
    deps: ["${amazons_crawl.source}", code.txt]
    params: [seed, crawl.timeout_s, crawl.retries, crawl.max_failures, amazons_crawl]
    outs:
      - artifacts/raw/amazons/pages: {persist: true}
  amazons_parse:
    cmd: python -m pipeline_src.stages.amazons_parse
    deps: [artifacts/raw/amazons/pages]
    params: [amazons_parse]
    outs: [artifacts/records/amazons/games.parquet, artifacts/records/amazons/rejects.parquet]
    metrics:
      - artifacts/reports/amazons/parse.json: {cache: false}
"""


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run([*DVC, "init", "--quiet", "--no-scm"], cwd=folder, check=True)
    (folder / "dvc.yaml").write_text(GRAPH)
    (folder / "code.txt").write_text("1")
    write_records(games(), folder / "played.parquet")
    return folder


def params(folder, server, **changes):
    write_params(folder, f"http://127.0.0.1:{server.port}", **changes)
    tree = yaml12.parse((folder / "params.yaml").read_text())
    tree["amazons_parse"] = {"min_plies": 20, "variants": ["standard", "cross"]}
    (folder / "params.yaml").write_text(yaml12.dump(tree))


def repro(folder, *words):
    """The stages that ran."""
    done = subprocess.run([*DVC, "repro", *words], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split("'")[1] for line in done.stdout.splitlines() if line.startswith("Running stage")]


def site(count=30):
    made = Site(5)
    made.add_players(12)
    made.add_games(count, bad=0.0, running=0.0)
    return made


def test_no_repro_asks_a_live_site_whatever_changed(checkout):
    with serving(site()) as server:
        params(checkout, server)
        assert repro(checkout) == ["amazons_archive", "amazons_crawl", "amazons_parse"]
        assert server.asked == []
        params(checkout, server, source=LIVE)
        done = subprocess.run([*DVC, "repro"], cwd=checkout, env=ENVIRONMENT, capture_output=True, text=True)
        assert done.returncode != 0
        assert str(LIVE) in done.stderr
        assert server.asked == []

        assert run(CRAWL, checkout)[0] == 0
        asked = len(server.asked)
        assert repro(checkout, "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        kept = crawled(checkout, PAGES)
        assert kept.keys() == server.site.games.keys()
        assert repro(checkout) == []

        (checkout / "played.parquet").write_bytes(b"other games for the replica, as another profile has them")
        assert repro(checkout, "amazons_parse") == []
        (checkout / "code.txt").write_text("2")
        assert repro(checkout, "amazons_parse") == ["amazons_crawl"]
        params(checkout, server, source=LIVE, max_games=10)
        assert repro(checkout, "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        params(checkout, server, source=LIVE, crawl={"contact": "somebody", "delay_s": 3.0, "backoff_s": 9.0})
        shutil.rmtree(checkout / PAGES)
        assert repro(checkout, "-f", "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        assert crawled(checkout, PAGES) == kept
        assert len(server.asked) == asked

        server.site.add_games(5, bad=0.0, running=0.0)
        assert repro(checkout, "amazons_parse") == []
        assert run(CRAWL, checkout)[0] == 0
        assert repro(checkout, "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        assert len(crawled(checkout, PAGES)) == 35
        records = [one.target for one in server.asked if one.kind == "record"]
        assert len(records) == len(set(records)) == 35


class Direct:
    """A task of Prefect's that runs at once, where it is submitted."""

    def __init__(self, step):
        self.step = step

    def submit(self, *arguments, return_state=False, wait_for=()):
        future = Future()
        try:
            for before in wait_for:
                before.result()
            future.set_result(self.step.fn(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


def test_flow_crawls_the_site_on_request(checkout, monkeypatch):
    from flows import systems

    log = logging.getLogger("flow")
    monkeypatch.setattr(systems, "get_run_logger", lambda: log)
    monkeypatch.setattr(systems, "tried_again", lambda step, _retries: Direct(step))

    def bring(refresh_crawl):
        options = {"jobs": 1, "limit_s": 120.0, "retries": 0}
        found = systems.bring_up_to_date(["amazons_crawl"], None, checkout, refresh_crawl=refresh_crawl, **options)
        return {outcome.target: outcome.state for outcome in found}["amazons_crawl"]

    with serving(site()) as server:
        params(checkout, server, source=LIVE)
        for key, value in ENVIRONMENT.items():
            monkeypatch.setenv(key, value)
        assert bring(refresh_crawl=True) == "ran"
        asked = len(server.asked)
        assert asked > 30
        assert bring(refresh_crawl=False) == "up to date"
        assert len(server.asked) == asked
        params(checkout, server, source=LIVE, gtid="hex")
        (checkout / LIVE).rename(checkout / "moved")
        with pytest.raises(CrawlFailedError, match=r"`zugwerk crawl amazons` failed with status 1(.|\n)*no player"):
            bring(refresh_crawl=True)


def test_crawl_of_a_flow_ends_with_it_and_keeps_results(checkout):
    call = "import pathlib, flows.systems; from pipeline_src.project.dvc_run import Children\n"
    call += "with Children() as c: flows.systems.crawl('amazons', pathlib.Path(), print, c, limit_s=600)"
    with serving(site()) as server:
        params(checkout, server)
        trap = server.trap = Trap("record", 0.5, after=5)
        process = begin([sys.executable, "-c", call], checkout)
        assert trap.sprung.wait(60)
        seconds, status, _ = end(process)
        trap.release.set()
        assert (seconds < LIMIT_S, status != 0) == (True, True)
        assert run(CRAWL, checkout)[0] == 0
        whole = [one.target for one in server.asked if one.status == 200 and one.kind == "record"]
        assert len(whole) == len(set(whole)) == 30


@pytest.mark.parametrize(("how", "group"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_a_signal_ends_dvc_with_its_stage_and_replica(checkout, how, group):
    """Ctrl-C reaches all that a terminal runs; DVC leaves it to the stage, and so ignores a SIGINT of its own."""
    with serving(site()) as server:
        params(checkout, server, quirks=quirks(slow=1.0, slow_s=100.0))
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*DVC, "repro"], cwd=checkout, env=ENVIRONMENT, start_new_session=True, **pipes)
    log = checkout / WORK / "scrapy.log"
    wait_until(lambda: log.exists() and "Spider opened" in log.read_text(), 60)
    seconds, status, _ = end(process, how, group=group)
    assert (seconds < LIMIT_S, status != 0) == (True, True)
    wait_until(lambda: not in_group(process.pid))
    params(checkout, server)
    assert repro(checkout, "amazons_crawl")[-1:] == ["amazons_crawl"]
    assert crawled(checkout, PAGES).keys() == {game.gid for game in games()}


def in_group(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True

"""One signal in each phase of a crawl: it ends within seconds, and what came is not asked for again.

The site is the rehearsal's: its server stops in the middle of an answer and says so; no test waits by the clock.
"""

import dataclasses
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from functools import cache
from pathlib import Path

import pytest

from flows.systems import CrawlFailedError
from pipeline_src import yaml12
from pipeline_src.records.raw import RawGame, Seat, write_raw
from pipeline_src.records.record import write_records
from pipeline_src.reference.stage_code import record
from spiders.replica.site import rating
from spiders.store import Store
from tests.rehearsal.rehearse import time_to_end
from tests.rehearsal.server import Game, Site, Trap, play, serving
from tests.spiders import sites

pytestmark = pytest.mark.slow
LIMIT_S = 5.0
RESOLVED = [sys.executable, "-m", "tests.rehearsal.resolved", *sites.CRAWL[2:]]
MANY = 5_000  # Games of one player; no more than a few thousand were seen


@cache
def small():
    site = Site(3)
    site.add_players(9)
    site.add_games(60, bad=0.0, running=0.0)
    return site


@cache
def large():
    """A site whose first player has a list of 2 MB and a page of records of 2 MB."""
    site = Site(4)
    site.add_players(300)
    plids = sorted(site.names, key=rating, reverse=True)
    turns, _ = play(1, 60)
    for number in range(MANY):
        players = (plids[0], plids[1 + number % 299])[:: 1 if number % 2 else -1]
        names = tuple(site.names[plid] for plid in players)
        gid = 1_000 + number
        site.games[gid] = Game(gid, "Size 10", players, names, turns[: 20 + number // 299 % 40], "resign")
    return site


def end(process, number=signal.SIGINT, group=False):
    """Send one signal; seconds until the process has ended, its status, and the last line that it said.

    Seconds for which it or its children waited for a processor do not count: they depend on other programs.
    """
    if group:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    seconds, queued = time_to_end(process)
    _, said = process.communicate()
    return seconds - queued, process.returncode, said.strip().rpartition("\n")[2]


BEGUN = []


def begin(command, folder, **options):
    BEGUN.append(sites.start(command, folder, stdout=subprocess.DEVNULL, text=True, **options))
    return BEGUN[-1]


@pytest.fixture(autouse=True)
def no_crawl_is_left():
    """Where a test has failed."""
    yield
    while BEGUN:
        with BEGUN.pop() as process:
            process.kill()


PHASES = {
    "robots.txt is awaited": Trap("robots.txt", -1),
    "the player list is awaited": Trap("player list", -1),
    "a list begins to come": Trap("list of games", 0.3),
    "a list is read": Trap("list of games", 1.0, after=2),
    "a page of records begins to come": Trap("page of records", 0.5),
    "a page of records is read": Trap("page of records", 1.0, after=1),
    "a record is awaited": Trap("record", -1, after=3),
    "a record begins to come": Trap("record", 0.5, after=2),
    "a record came": Trap("record", 1.0, after=4),
}


def fresh(trap):
    return Trap(trap.kind, trap.part, trap.after)


OTHERS = [signal.SIGTERM, *[signal.SIGHUP] * (signal.getsignal(signal.SIGHUP) is signal.SIG_DFL)]  # not under nohup


@pytest.mark.parametrize(
    ("phase", "how"),
    [*((phase, signal.SIGINT) for phase in PHASES), *(("a record begins to come", how) for how in OTHERS)],
)
def test_a_signal_ends_a_crawl_in_every_phase(tmp_path, phase, how):
    """Other signals than Ctrl-C are named."""
    ways = ["text"] if "page of records" in phase else ["lists"]
    with serving(small()) as server:
        trap = server.trap = fresh(PHASES[phase])
        sites.write_params(tmp_path, f"http://127.0.0.1:{server.port}", ways=ways)
        process = begin(sites.CRAWL, tmp_path)
        assert trap.sprung.wait(60)
        seconds, status, said = end(process, how)
        trap.release.set()
        assert seconds < LIMIT_S
        assert status == 1
        by = "" if how == signal.SIGINT else f" by {how.name}"
        assert said == f"error: the crawl was interrupted{by}; what came is kept, and the same command goes on"
        assert sites.run(sites.CRAWL, tmp_path)[0] == 0
        whole = [asked.target for asked in server.asked if asked.status == 200 and asked.kind != "robots.txt"]
        assert len(whole) == len(set(whole))
    assert sites.crawled(tmp_path).keys() == small().games.keys()


@pytest.mark.parametrize("ways", [["text"], ["lists"]])
def test_games_left_unstored_by_a_stop_are_taken_from_page(tmp_path, ways):
    """Time to store what came is short after a signal; here some games of a page of records have no shard yet."""
    with serving(small()) as server:
        trap = server.trap = Trap("page of records", 1.0, after=2)
        url = f"http://127.0.0.1:{server.port}"
        sites.write_params(tmp_path, url, ways=["text"])
        process = begin(sites.CRAWL, tmp_path)
        assert trap.sprung.wait(60)
        end(process)
        of_pages = [gid for gid, game in sites.crawled(tmp_path).items() if "list_txt" in game.path]
        assert len(of_pages) > 9
        kept = [game for gid, game in sites.crawled(tmp_path).items() if gid not in of_pages[:3]]
        for folder in (tmp_path / sites.LIVE, next((tmp_path / "store").glob("*/amzn"))):
            write_raw(folder, kept)
        sites.write_params(tmp_path, url, ways=ways)
        assert sites.run(sites.CRAWL, tmp_path)[0] == 0
    assert not set(of_pages) & {sites.gid_of(asked.target) for asked in server.asked}
    assert sites.crawled(tmp_path).keys() == small().games.keys()


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "part"), [("list of games", 1.0), ("page of records", 0.99), ("page of records", 1.0)]
)
def test_signal_ends_a_crawl_during_its_largest_page(tmp_path, kind, part):
    with serving(large()) as server:
        trap = server.trap = Trap(kind, part)
        sites.write_params(tmp_path, f"http://127.0.0.1:{server.port}", ways=["text"])
        process = begin(sites.CRAWL, tmp_path)
        assert trap.sprung.wait(60)
        seconds, status, said = end(process)
        trap.release.set()
        assert seconds < LIMIT_S
        assert (status, "was interrupted" in said) == (1, True)
        sites.write_params(tmp_path, f"http://127.0.0.1:{server.port}", ways=["text"], max_games=1)
        assert sites.run(sites.CRAWL, tmp_path)[0] == 0
        of_first = [asked for asked in server.asked if asked.kind == kind and asked.status == 200]
        assert len({asked.target for asked in of_first}) == len(of_first)


def test_a_signal_ends_the_pause_that_a_site_asks_for(tmp_path):
    with serving(small(), failing=1e-9) as server:
        paused = threading.Event()
        server.mood = lambda target, kind: paused.set() or "503" if sites.gid_of(target) else ""
        sites.write_params(tmp_path, f"http://127.0.0.1:{server.port}", crawl={"backoff_s": 300.0, "retries": 9})
        process = begin(sites.CRAWL, tmp_path)
        assert paused.wait(60)
        seconds, status, _ = end(process)
    assert (seconds < LIMIT_S, status) == (True, 1)


def test_signal_ends_pause_between_requests_and_sends_none(tmp_path):
    with serving(small()) as server:
        came = threading.Event()
        server.watched = lambda asked: came.set() if asked.kind == "list of games" else None
        url = f"http://games.example:{server.port}"
        sites.write_params(tmp_path, url, crawl={"api_url": url, "contact": "me@a.example", "delay_s": 1.0})
        process = begin(RESOLVED, tmp_path)
        assert came.wait(60)
        seconds, status, said = end(process)
        assert (seconds < LIMIT_S, status, "was interrupted" in said) == (True, 1, True)
        assert len(server.asked) == 3


def test_a_signal_ends_a_crawl_that_looks_up_a_host(tmp_path):
    url = "http://nowhere.example:1"
    sites.write_params(tmp_path, url, crawl={"api_url": url, "contact": "me@a.example"})
    process = begin(RESOLVED, tmp_path)
    for line in process.stderr:
        if line == "looking up\n":
            break
    seconds, status, said = end(process)
    assert (seconds < LIMIT_S, status, "was interrupted" in said) == (True, 1, True)


def test_second_signal_does_not_wait_for_pending_answer(tmp_path):
    patient = "import spiders.running; spiders.running.LAST_ANSWER_S = 600.0; "
    program = f"{patient}import sys; sys.argv[1:] = ['crawl', 'amazons']; from pipeline_src.cli import main; main()"
    with serving(small()) as server:
        trap = server.trap = Trap("record", 0.5)
        sites.write_params(tmp_path, f"http://127.0.0.1:{server.port}")
        process = begin([sys.executable, "-c", program], tmp_path)
        assert trap.sprung.wait(60)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.0)
        seconds, status, _ = end(process)
        trap.release.set()
    assert (seconds < LIMIT_S, status) == (True, 1)


def test_a_signal_while_a_large_store_is_read_and_written(tmp_path):
    """Before the site is asked: at a moment that the lock's file shows, and at some after it."""
    seats = (Seat(1, "a", "won"), Seat(2, "b", "lost"))
    body = small().games[min(small().games)].record()[1]
    one = RawGame(0, "/servlet/sgf/0/game0.txt", 200, body, "Size 10", False, seats)
    many = [dataclasses.replace(one, gid=gid) for gid in range(25_000)]
    with Store(str(tmp_path / "store"), "http://127.0.0.1:9", "amzn") as store:
        store.keep(many, {}, complete=False)
        lock = store.folder / "lock"
    lock.unlink()
    sites.write_params(tmp_path)
    for later in (0.0, 0.3, 0.6):
        process = begin(sites.CRAWL, tmp_path)
        while not lock.exists():
            time.sleep(0.005)
        time.sleep(later)
        seconds, status, said = end(process)
        assert (seconds < LIMIT_S, status) == (True, 1), said
        lock.unlink()
    with Store(str(tmp_path / "store"), "http://127.0.0.1:9", "amzn") as store:
        assert len(store.games) == len(many)


@pytest.mark.parametrize(("how", "group"), [(signal.SIGINT, False), *((how, True) for how in (signal.SIGINT, *OTHERS))])
def test_a_signal_ends_the_stage_and_its_replica(tmp_path, how, group):
    """To the stage alone, and to its group, as a terminal sends it."""
    write_records(sites.games(), tmp_path / sites.ARCHIVE)
    sites.write_params(tmp_path, quirks=sites.quirks(slow=1.0, slow_s=100.0))
    process = begin(sites.STAGE, tmp_path, start_new_session=True)
    log = tmp_path / sites.WORK / "scrapy.log"
    sites.wait_until(lambda: log.exists() and "Spider opened" in log.read_text(), 60)
    seconds, status, said = end(process, how, group=group)
    assert (seconds < LIMIT_S, status) == (True, 1)
    assert f"was interrupted{'' if how == signal.SIGINT else f' by {how.name}'}. The stored" in said
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


# What DVC and the flows make of a live crawl: a small graph with the crawl's stage as dvc.yaml has it.

DVC = [sys.executable, "-m", "dvc"]
GRAPH = """
stages:
  amazons_crawl:
    cmd: python -m pipeline_src.stage systems.amazons_net.records:crawl
    deps: ["${amazons_crawl.source}", code.txt]
    params: [seed, crawl.timeout_s, crawl.retries, crawl.max_failures, amazons_crawl]
    outs:
      - artifacts/raw/amazons/pages: {persist: true}
  amazons_parse:
    cmd: python -m pipeline_src.stage systems.amazons_net.records:parse
    deps: [artifacts/raw/amazons/pages]
    params: [amazons_parse]
    outs: [artifacts/records/amazons/games.parquet, artifacts/records/amazons/rejects.parquet]
    metrics:
      - artifacts/reports/amazons/parse.json: {cache: false}
"""


PARAMS = Path(__file__).parents[2] / "params.yaml"


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run([*DVC, "init", "--quiet", "--no-scm"], cwd=folder, check=True)
    (folder / "dvc.yaml").write_text(GRAPH)
    (folder / "code.txt").write_text("1")
    (folder / sites.ARCHIVE).parent.mkdir(parents=True)
    write_records(sites.games(), folder / sites.ARCHIVE)
    return folder


def params(folder, server, **changes):
    sites.write_params(folder, f"http://127.0.0.1:{server.port}", **changes)
    file = folder / "params.yaml"
    tree = yaml12.parse(PARAMS.read_text()) | yaml12.parse(file.read_text())
    tree["amazons_parse"] = {"min_plies": 20, "variants": ["standard", "cross"]}
    file.write_text(yaml12.dump(tree))
    record(folder)


def repro(folder, *words):
    """The stages that ran."""
    done = subprocess.run([*DVC, "repro", *words], cwd=folder, env=sites.ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split("'")[1] for line in done.stdout.splitlines() if line.startswith("Running stage")]


def site(count=30):
    made = Site(5)
    made.add_players(12)
    made.add_games(count, bad=0.0, running=0.0)
    return made


@pytest.mark.timeout(900)  # ten runs of DVC
def test_no_repro_asks_a_live_site_whatever_changed(checkout):
    with serving(site()) as server:
        params(checkout, server)
        assert repro(checkout) == ["amazons_crawl", "amazons_parse"]
        assert server.asked == []
        params(checkout, server, source=sites.LIVE)
        done = subprocess.run([*DVC, "repro"], cwd=checkout, env=sites.ENVIRONMENT, capture_output=True, text=True)
        assert done.returncode != 0
        assert str(sites.LIVE) in done.stderr
        assert server.asked == []

        assert sites.run(sites.CRAWL, checkout)[0] == 0
        asked = len(server.asked)
        assert repro(checkout, "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        kept = sites.crawled(checkout, sites.PAGES)
        assert kept.keys() == server.site.games.keys()
        assert repro(checkout) == []

        (checkout / sites.ARCHIVE).write_bytes(b"other games for the replica, as another profile has them")
        assert repro(checkout, "amazons_parse") == []
        (checkout / "code.txt").write_text("2")
        assert repro(checkout, "amazons_parse") == ["amazons_crawl"]
        params(checkout, server, source=sites.LIVE, max_games=10)
        assert repro(checkout, "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        params(checkout, server, source=sites.LIVE, crawl={"contact": "somebody", "delay_s": 3.0, "backoff_s": 9.0})
        shutil.rmtree(checkout / sites.PAGES)
        assert repro(checkout, "-f", "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        assert sites.crawled(checkout, sites.PAGES) == kept
        assert len(server.asked) == asked

        server.site.add_games(5, bad=0.0, running=0.0)
        assert repro(checkout, "amazons_parse") == []
        assert sites.run(sites.CRAWL, checkout)[0] == 0
        assert repro(checkout, "amazons_parse") == ["amazons_crawl", "amazons_parse"]
        assert len(sites.crawled(checkout, sites.PAGES)) == 35
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
        params(checkout, server, source=sites.LIVE)
        for key, value in sites.ENVIRONMENT.items():
            monkeypatch.setenv(key, value)
        assert bring(refresh_crawl=True) == "ran"
        asked = len(server.asked)
        assert asked > 30
        assert bring(refresh_crawl=False) == "up to date"
        assert len(server.asked) == asked
        params(checkout, server, source=sites.LIVE, gtid="hex")
        (checkout / sites.LIVE).rename(checkout / "moved")
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
        assert sites.run(sites.CRAWL, checkout)[0] == 0
        whole = [one.target for one in server.asked if one.status == 200 and one.kind == "record"]
        assert len(whole) == len(set(whole)) == 30


@pytest.mark.parametrize(("how", "group"), [(signal.SIGINT, True), (signal.SIGTERM, False)])
def test_a_signal_ends_dvc_with_its_stage_and_replica(checkout, how, group):
    """Ctrl-C reaches all that a terminal runs; DVC leaves it to the stage, and so ignores a SIGINT of its own."""
    with serving(site()) as server:
        params(checkout, server, quirks=sites.quirks(slow=1.0, slow_s=100.0))
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*DVC, "repro"], cwd=checkout, env=sites.ENVIRONMENT, start_new_session=True, **pipes)
    log = checkout / sites.WORK / "scrapy.log"
    sites.wait_until(lambda: log.exists() and "Spider opened" in log.read_text(), 60)
    seconds, status, _ = end(process, how, group=group)
    assert (seconds < LIMIT_S, status != 0) == (True, True)
    sites.wait_until(lambda: not in_group(process.pid))
    params(checkout, server)
    assert repro(checkout, "amazons_crawl")[-1:] == ["amazons_crawl"]
    assert sites.crawled(checkout, sites.PAGES).keys() == {game.gid for game in sites.games()}


def in_group(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True

"""A whole rehearsal: crawls of a site as if it were live, with all that may happen to them, and what came of it.

The crawler runs in processes of its own, as a user starts it; hosts of .example are this machine, so that delays,
robots.txt and the contact hold. First a portion with the real delay; then the rest with a short one, ended by signals
and by kill -9 in several phases, and the site is restarted amid it; then the site grows, and a crawl fetches what is
new.
"""

import argparse
import contextlib
import datetime
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import psutil

from pipeline_src import yaml12
from pipeline_src.files import write_json
from pipeline_src.report.figures import hardware
from spiders.replica.site import API_PREFIX
from tests.rehearsal.server import AMBIGUOUS, Site, Trap, action, serving

ROOT = Path(__file__).parents[2]
OUT = Path("docs/measured/crawl.json")
HOST = "games.example"
PYTHON = [sys.executable, "-m"]
CRAWL = [*PYTHON, "tests.rehearsal.resolved", "pipeline_src.cli", "crawl", "amazons"]
REAL_DELAY_S = 1.0
FAILING = 0.02
STOPS = (
    (Trap("list of games", -1, after=3), signal.SIGINT),
    (Trap("page of records", 0.5, after=2), signal.SIGINT),
    (Trap("page of records", 1.0, after=2), signal.SIGTERM),
    (Trap("page of records", 0.9, after=4), signal.SIGKILL),
    (Trap("player list", -1), signal.SIGINT),
    (Trap("record", 0.5, after=20), signal.SIGTERM),
    (Trap("record", 1.0, after=20), signal.SIGINT),
    (Trap("record", 0.5, after=10), signal.SIGKILL),
)
"""Where crawls are ended, and how."""
PATIENCE_S = 60.0
REQUESTS = 20  # That a crawl makes before the site is restarted, and as many after it
AWAY_S = 1.0  # How long it is away


class Rehearsal:
    """One rehearsal in a folder of its own."""

    def __init__(self, folder, games, players, delay_s, slowly=25, seed=1, tell=print, begin=subprocess.Popen):
        """``slowly`` is the number of games to fetch with the real delay."""
        self.folder, self.delay_s, self.slowly = Path(folder), delay_s, slowly
        self.tell, self.begin = tell, begin
        self.site = Site(seed)
        self.site.add_players(players)
        self.site.names[list(self.site.names)[-9]] = AMBIGUOUS
        self.site.add_games(games)
        self.asked = []  # Every request, of both servers where the site was restarted
        self.first = 0  # How many of them were made with the real delay
        self.stops = []  # Seconds from a signal to the end of the crawl
        self.stops_alone = []  # The same without the seconds for which it waited for a processor
        self.said = []
        self.port = 0

    def run(self):
        """Everything, in its order."""
        with serving(self.site, failing=FAILING) as server:
            self.port = server.port
            self._note(server)
            self._params(delay_s=REAL_DELAY_S, ways=["lists", "text", "api"], max_games=self.slowly)
            self._crawl("--dry-run")
            self._crawl()
            self.first = len(self.asked)
            self._params(max_games=0)
            for trap, number in STOPS[:4]:
                self._stop(server, trap, number)
            running = self._start(*CRAWL)
            self._go_on(running)
            server.drop()
            time.sleep(AWAY_S)
        with serving(self.site, port=self.port, failing=FAILING) as server:
            self._note(server)
            self._go_on(running)
            self._end(running, signal.SIGINT, "restarted site")
            for trap, number in STOPS[4:]:
                self._stop(server, trap, number)
            self._crawl()
            self.site.finish(60)
            self.site.rename(9)
            self.site.add_players(7)
            self.site.add_games(len(self.site.games) // 30)
            self._crawl("--dry-run")
            self._crawl()
        self._make("crawl")
        self._make("parse")

    def _note(self, server):
        server.asked = self.asked

    def _params(self, delay_s=None, ways=("text", "lists", "api"), max_games=0):
        url = f"http://{HOST}:{self.port}"
        tree = yaml12.parse((ROOT / "params.yaml").read_text())
        tree["crawl"] |= {
            "base_url": url,
            "api_url": f"http://api.{HOST}:{self.port}{API_PREFIX}",
            "contact": "rehearsal@a.example",
            "delay_s": self.delay_s if delay_s is None else delay_s,
            "backoff_s": 0.2,
            "store": str(self.folder / "store"),
        }
        games = {"source": "artifacts/raw/amazons/live", "ways": list(ways), "max_games": max_games}
        tree["amazons_crawl"] |= games
        tree["amazons_parse"] |= {"variants": ["standard", "cross"]}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "params.yaml").write_text(yaml12.dump(tree))

    def _start(self, *words):
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return self.begin([*words], cwd=self.folder, env=environment, stderr=subprocess.PIPE, text=True)

    def _crawl(self, *words):
        """A crawl that is to end well."""
        process = self._start(*CRAWL, *words)
        _, said = process.communicate()
        self.said.append(said)
        self.tell(said.strip())
        if process.returncode:
            raise AssertionError(f"the crawl failed: {said}")

    def _go_on(self, process):
        """Let a crawl make some requests."""
        before = len(self.asked)
        while len(self.asked) < before + REQUESTS:
            if process.poll() is not None:
                raise AssertionError(f"it ended: {process.communicate()[1]}")
            time.sleep(0.01)

    def _stop(self, server, trap, number):
        """Begin a crawl and end it where the trap is."""
        server.trap = trap = Trap(trap.kind, trap.part, trap.after)
        process = self._start(*CRAWL)
        while not trap.sprung.wait(0.2):
            if process.poll() is not None:
                raise AssertionError(f"no {trap.kind} was asked for: {process.communicate()[1]}")
        self._end(process, number, trap.kind)
        trap.release.set()

    def _end(self, process, number, where):
        process.send_signal(number)
        seconds, queued = time_to_end(process)
        process.communicate()
        if number != signal.SIGKILL:
            self.stops.append(seconds)
            self.stops_alone.append(seconds - queued)
        name = signal.Signals(number).name
        self.tell(f"{name} amid a {where}: ended after {seconds:.2f} s, {len(self.asked):,} requests so far")

    def _make(self, stage):
        done = subprocess.run(
            [*PYTHON, "pipeline_src.stage", f"systems.amazons_net.records:{stage}"],
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            check=True,
            capture_output=True,
            text=True,
        )
        self.said.append(done.stderr)


def time_to_end(process):
    """Seconds until a process has ended, and for how many of them it or its children waited for a processor.

    The second number is 0 where the system does not report it.
    """
    begun, before = time.monotonic(), queued(process.pid)
    after = dict(before)
    while process.poll() is None:
        if time.monotonic() - begun > PATIENCE_S:
            process.send_signal(signal.SIGABRT)  # `tests.starts` has the stacks of all threads written then
            raise AssertionError(f"it did not end: {process.communicate(timeout=PATIENCE_S)[1]}")
        after |= queued(process.pid)
        time.sleep(0.01)
    return time.monotonic() - begun, sum(after.values()) - sum(before.values())


def queued(pid):
    """For how many seconds a process and each of its descendants were ready to run and did not, by their ids."""
    waited = {}
    with contextlib.suppress(psutil.Error):
        for one in (pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))):
            with contextlib.suppress(OSError, IndexError):
                waited[one] = int(Path(f"/proc/{one}/schedstat").read_text().split()[1]) / 1e9
    return waited


def gaps(asked):
    """Seconds between requests that follow each other."""
    return [after.at - before.at for before, after in pairwise(asked)]


def failure(one):
    """What came in place of a page, in words."""
    if one.status != 200:
        return f"status {one.status}" if one.status else "no whole answer"
    return "status 200 without a record"


def asked_twice(asked, stored):
    """Games that were over and were asked for again after their record had been sent whole.

    Singly, after it had come singly or was taken from a page of records; or by such a page that was asked for again and
    brought no game that was new.
    """
    singly, twice, sent = Counter(), set(), set()
    for one in asked:
        gids = {game.gid for game in one.games}
        if one.kind == "record":
            singly.update(gids)
        elif one.target in sent and gids <= sent:
            twice |= gids
        sent |= gids | {one.target}
    from_page = {gid for gid, path in stored.items() if "game_list_txt" in path}
    return twice | {gid for gid, times in singly.items() if times + (gid in from_page) > 1}


def results(rehearsal):
    """The figures, and the rows of the table."""
    from pipeline_src.records.raw import read_raw
    from pipeline_src.records.record import read_records

    folder, site, asked = rehearsal.folder, rehearsal.site, rehearsal.asked
    raw = {game.gid: game for game in read_raw(folder / "artifacts/raw/amazons/pages")}
    kept = {record.gid: record for record in read_records(folder / "artifacts/records/amazons/games.parquet")}
    rejects = read_rejects(folder / "artifacts/records/amazons/rejects.parquet")
    good, bad = site.good(), site.rejects()
    variants = {"Size 10": "standard", "Cross": "cross"}
    equal = [
        gid
        for gid, (turns, winner, variant) in good.items()
        if gid in kept
        and kept[gid].actions == tuple(map(action, turns))
        and kept[gid].winner == ("first", "second")[winner]
        and kept[gid].variant == variants[variant]
    ]
    with_record = [game for game in raw.values() if game.status == 200 and game.body.strip() and game.body[:1] != b"<"]
    twice = asked_twice(asked, {gid: game.path for gid, game in raw.items()})
    slow, quick = gaps(asked[: rehearsal.first]), gaps(asked[rehearsal.first :])
    figures = {
        "games_equal": (len(equal) / len(good), len(good)),
        "requests_per_new_game": (len(asked) / len(with_record), len(with_record)),
        "finished_games_asked_twice": (len(twice), len(with_record)),
        "least_gap_s": (min(slow), len(slow)),
        "stop_s": (max(rehearsal.stops), len(rehearsal.stops)),
    }
    kinds = Counter(one.kind for one in asked)
    again = Counter(failure(before) for before, after in pairwise(asked) if before.target == after.target)
    right = sum(rejects.get(gid) == reason for gid, reason in bad.items())
    rows = [
        ("games on the site, over", f"{sum(game.over for game in site.games.values()):,}"),
        ("games stored, with a record", f"{len(with_record):,}"),
        ("valid games equal, turn by turn and in winner", f"{len(equal):,} of {len(good):,}"),
        ("bad games rejected for the right reason", f"{right} of {len(bad)}"),
        ("rejects by reason", listed(Counter(rejects.values()))),
        ("requests", f"{len(asked):,}: {listed(kinds)}"),
        ("bytes sent", f"{sum(one.sent for one in asked):,}"),
        ("requests for a game stored", f"{len(asked) / len(with_record):.3f}"),
        ("retries, by what came before", f"{again.total():,}: {listed(again)}"),
        ("finished games asked for twice", f"{len(twice)}"),
        (f"gap at a delay of {REAL_DELAY_S} s: least, median", f"{min(slow):.3f}, {statistics.median(slow):.3f} s"),
        (
            f"gap at a delay of {rehearsal.delay_s} s: least, median",
            f"{min(quick):.3f}, {statistics.median(quick):.3f} s",
        ),
        ("crawls ended by a signal: longest time", f"{max(rehearsal.stops):.2f} s of {len(rehearsal.stops)}"),
    ]
    return figures, rows


def listed(counts):
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def read_rejects(path):
    """Reason by gid."""
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return dict(zip(table["gid"].to_pylist(), table["reason"].to_pylist(), strict=True))


def main():
    """Rehearse at full size (`make rehearse`), print the table, and write docs/measured/crawl.json."""
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsal.rehearse", description=main.__doc__)
    parser.add_argument("--games", type=int, default=10_000)
    parser.add_argument("--players", type=int, default=400)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds; the first portion has 1")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        rehearsal = Rehearsal(folder, options.games, options.players, options.delay)
        rehearsal.run()
        figures, rows = results(rehearsal)
    print()
    for name, value in rows:
        print(f"| {name} | {value} |")
    about = {
        "low": None,
        "high": None,
        "profile": "committed measurement",
        "data": f"a site of our own with {options.games:,} games of {options.players} players, of random turns",
        "hardware": hardware(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": "make rehearse",
    }
    measured = {name: {"value": value, "n": n} | about for name, (value, n) in figures.items()}
    write_json(options.out, measured | {"table": dict(rows)})


if __name__ == "__main__":
    main()

"""The stage: whole crawls of replicas, each in a process of its own, and copies of what was crawled."""

import json
import signal
from pathlib import Path

import pytest

from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.record import write_records
from tests.spiders import sites


def with_archive(folder, records):
    write_records(records, folder / sites.ARCHIVE)
    return folder


def records_asked_for(folder, since=0):
    return [gid for _, key in sites.fetches(folder)[since:] if (gid := sites.gid_of(key))]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A crawl of a replica without quirks."""
    folder = with_archive(tmp_path_factory.mktemp("plain"), sites.games())
    status, said = sites.stage(folder)
    assert status == 0, said
    return folder


def test_every_game_comes_once_as_it_was_sent(plain):
    stored = sites.crawled(plain, sites.PAGES)
    assert stored.keys() == {game.gid for game in sites.games()}
    for game in sites.games():
        raw = stored[game.gid]
        assert (raw.body, raw.status, raw.engine) == (write_record(game), 200, True)
        assert raw.path == f"/servlet/sgf/{game.gid}/game{game.gid}.txt"
        assert raw.variant == {"standard": "Size 10", "cross": "Cross"}[game.variant]
        results = {
            game.first_plid: "won" if game.winner == "first" else "lost",
            game.second_plid: "won" if game.winner == "second" else "lost",
        }
        assert not raw.order_known
        assert [seat.plid for seat in raw.seats] == sorted(results)
        assert {seat.plid: seat.result for seat in raw.seats} == results
        assert {seat.name for seat in raw.seats} == {game.first_name, game.second_name}
    assert len(sites.shards(plain, sites.PAGES)) == 2
    assert not list((plain / sites.WORK).glob("journal*"))


def test_a_second_crawl_fetches_no_record_and_touches_nothing(plain):
    before = {path.name: path.stat().st_mtime_ns for path in (plain / sites.PAGES).iterdir()}
    asked = len(sites.fetches(plain))
    status, said = sites.stage(plain)
    assert (status, "0 new" in said) == (0, True)
    assert {path.name: path.stat().st_mtime_ns for path in (plain / sites.PAGES).iterdir()} == before
    assert records_asked_for(plain, asked) == []
    assert len(sites.fetches(plain)) > asked


@pytest.mark.slow
def test_all_quirks_at_once(tmp_path):
    with_archive(tmp_path, sites.games())
    status, said = sites.stage(tmp_path, quirks=sites.QUIRKS)
    assert status == 0, said
    assert "4 without a record (1 status 500, 1 an empty answer, 1 status 404, 1 an HTML page in" in said
    assert "1 an empty answer, 1 an HTML page in the record's place)\n" in said  # asked for again
    stored = sites.crawled(tmp_path, sites.PAGES)
    added = sorted(gid for gid in stored if gid >= 100_000)
    assert stored.keys() - set(added) == {game.gid for game in sites.games()}
    assert [stored[gid].finished for gid in added] == [False] * 4 + [True] * 8
    assert [stored[gid].status for gid in added[4:8]] == [500, 200, 404, 200]
    assert all(game.engine for game in stored.values())
    assert {seat.name.split("engine")[0] for game in stored.values() for seat in game.seats} >= {"", "lazy\\"}
    asked = len(sites.fetches(tmp_path))
    status, said = sites.stage(tmp_path, quirks=sites.QUIRKS)
    assert status == 0, said
    again = set(records_asked_for(tmp_path, asked))
    assert again == set(added[:8])  # in progress last time, and without a record


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_killed_crawl_resumes_to_the_same_bytes(plain, tmp_path, how):
    with_archive(tmp_path, sites.games())
    slow = sites.quirks(slow=1.0, slow_s=0.03)
    sites.write_params(tmp_path, quirks=slow)
    process = sites.start(sites.STAGE, tmp_path)
    sites.wait_until(lambda: (tmp_path / sites.WORK / "fetches.log").exists() and len(records_asked_for(tmp_path)) > 12)
    children = [path for path in Path("/proc").glob("[0-9]*") if state_of(path)[1:2] == [str(process.pid)]]
    assert len(children) == 1
    process.send_signal(how)
    _, said = process.communicate(timeout=120)
    assert process.returncode not in (0, None)
    if how == signal.SIGTERM:
        assert "interrupted" in said.decode()
    sites.wait_until(lambda: all(state_of(child)[:1] in ([], ["Z"]) for child in children))
    assert not (tmp_path / sites.PAGES).exists()
    (journal,) = (tmp_path / sites.WORK).glob("journal*")
    kept = [json.loads(line)["key"] for line in journal.read_bytes().splitlines()]
    with open(journal, "ab") as file:
        file.write(b'{"key": "/servlet/sgf/99')
    asked = len(sites.fetches(tmp_path))
    status, said = sites.stage(tmp_path, quirks=slow)
    assert status == 0, said
    assert sites.shards(tmp_path, sites.PAGES) == sites.shards(plain, sites.PAGES)
    afterwards = [key for _, key in sites.fetches(tmp_path)[asked:]]
    assert not set(kept) & set(afterwards)
    assert len(kept) > 12 < len(afterwards)
    assert sorted(kept + afterwards) == sorted({key for _, key in sites.fetches(plain)} & set(kept + afterwards))
    assert not journal.exists()


def state_of(process):
    """State and parent of a process, as in ``/proc/PID/stat``; nothing where it is gone."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


@pytest.mark.slow
def test_an_own_folder(tmp_path):
    own = tmp_path / "mine"
    own.mkdir()
    for game in sites.games()[:4]:
        (own / f"game{game.gid}.txt").write_bytes(write_record(game))
    status, said = sites.stage(tmp_path, source="mine", ways=["api", "lists"])
    assert status == 0, said
    stored = sites.crawled(tmp_path, sites.PAGES)
    assert {gid: raw.body for gid, raw in stored.items()} == {g.gid: write_record(g) for g in sites.games()[:4]}
    assert all((raw.status, raw.engine, raw.variant, raw.finished) == (0, False, "", False) for raw in stored.values())
    (own / f"game{sites.games()[0].gid}.txt").write_bytes(b"(;EV[null]PB[a]PW[b]SO[x];W[d1-d7/g7])")
    status, said = sites.stage(tmp_path, source="mine")
    assert status == 0, said
    assert sites.crawled(tmp_path, sites.PAGES)[sites.games()[0].gid].body.endswith(b"[d1-d7/g7])")
    status, said = sites.stage(tmp_path, source="nowhere")
    assert status == 1
    assert "nowhere: no such games" in said


@pytest.mark.slow
def test_crawled_games_are_copied_without_requests(tmp_path):
    with sites.serving(sites.games()[:9], tmp_path) as (url, _):
        assert sites.crawl(tmp_path, url)[0] == 0
    assert sites.stage(tmp_path, source=sites.LIVE) == (0, "")
    assert sites.crawled(tmp_path, sites.PAGES) == sites.crawled(tmp_path)
    assert sites.stage(tmp_path, source=sites.LIVE, max_games=4) == (0, "")
    assert list(sites.crawled(tmp_path, sites.PAGES)) == [game.gid for game in sites.games()[:4]]
    with_archive(tmp_path, sites.games()[20:25])
    assert sites.stage(tmp_path)[0] == 0
    assert list(sites.crawled(tmp_path, sites.PAGES)) == [game.gid for game in sites.games()[20:25]]
    assert sites.stage(tmp_path, source=sites.LIVE) == (0, "")
    assert sites.crawled(tmp_path, sites.PAGES) == sites.crawled(tmp_path)

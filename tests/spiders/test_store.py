import subprocess
import sys

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.raw import RawGame, read_raw, write_raw
from spiders.store import SOURCE, Journal, Store, put, take_up

GAMES = {gid: RawGame(gid, f"/{gid}", 200, b"(;)") for gid in (3, 20_000)}
ARCHIVE = {"source": "replica", "archive": "ab12", "variants": ["DEFAULT"]}
LIVE = {"source": "live", "base_url": "https://a.example", "gtid": "amzn"}


def contents(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_same_source_is_continued(tmp_path):
    folder = tmp_path / "pages"
    assert take_up(folder, ARCHIVE) == {}
    put(folder, ARCHIVE, GAMES.values())
    assert take_up(folder, ARCHIVE) == GAMES
    before = contents(folder)
    put(folder, ARCHIVE, GAMES.values())
    assert contents(folder) == before


def test_changed_archive_starts_over(tmp_path):
    folder = tmp_path / "pages"
    put(folder, ARCHIVE, GAMES.values())
    other = ARCHIVE | {"archive": "cd34"}
    assert take_up(folder, other) == {}
    assert take_up(folder, ARCHIVE) == GAMES  # until the new crawl has succeeded
    put(folder, other, [GAMES[3]])
    assert take_up(folder, other) == {3: GAMES[3]}
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("other", [ARCHIVE, LIVE | {"gtid": "hex"}, {"source": "crawled", "origin": LIVE}])
def test_games_crawled_into_a_folder_are_kept(tmp_path, other):
    folder = tmp_path / "pages"
    put(folder, LIVE, GAMES.values())
    with pytest.raises(ZugwerkError, match=r"amzn games crawled from https://a\.example"):
        take_up(folder, other)


def test_games_of_unknown_origin_are_kept(tmp_path):
    write_raw(tmp_path, GAMES.values())
    with pytest.raises(ZugwerkError, match=SOURCE):
        take_up(tmp_path, ARCHIVE)


@pytest.mark.parametrize("root", ["~no-such-user/crawled", "/dev/null/crawled"])
def test_store_that_cannot_be_made_names_its_key(root):
    with pytest.raises(ZugwerkError, match=rf"params\.yaml: crawl\.store is {root}: "):
        Store(root, "https://a.example", "amzn")


def test_damaged_shard_is_not_extended(tmp_path):
    put(tmp_path / "pages", LIVE, GAMES.values())
    next((tmp_path / "pages").glob("games-*")).write_bytes(b"")
    with pytest.raises(ZugwerkError, match="damaged shard"):
        take_up(tmp_path / "pages", LIVE)


def test_leftovers_of_a_killed_run_are_removed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    left = tmp_path / f".pages.{process.pid}-7.part"
    left.mkdir()
    (left / "games-000000000.parquet").write_bytes(b"half")
    put(tmp_path / "pages", LIVE, GAMES.values())
    assert [path.name for path in tmp_path.iterdir()] == ["pages"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.littlegolem.net", "littlegolem.net"),
        ("http://littlegolem.net", "littlegolem.net"),
        ("http://127.0.0.1:8080", "127.0.0.1_8080"),
        ("https://me@A.example/games", "a.example_games"),
    ],
)
def test_a_site_has_one_store_whatever_its_address_looks_like(tmp_path, url, name):
    with Store(str(tmp_path), url, "amzn") as store:
        assert store.folder == tmp_path / name / "amzn"


def test_stored_games_are_read_back_and_never_lost(tmp_path):
    with Store(str(tmp_path), "https://a.example", "amzn") as store:
        assert (store.games, store.state) == ({}, {})
        store.journal["/list"] = b"page"
        store.keep([GAMES[3]], {"players": 7}, complete=False)
    with Store(str(tmp_path), "https://a.example", "amzn") as store:
        assert (store.games, store.state) == ({3: GAMES[3]}, {"players": 7})
        assert store.journal.get("/list") == b"page"
        store.keep([GAMES[20_000]], {"players": 8}, complete=True)
        assert store.journal.get("/list") is None
    with Store(str(tmp_path), "https://a.example", "amzn") as store:
        assert store.games == GAMES
    with Store(str(tmp_path), "https://a.example", "hex") as store:
        assert store.games == {}


def test_a_view_is_a_copy_of_the_store(tmp_path):
    with Store(str(tmp_path / "store"), "https://a.example", "amzn") as store:
        store.show(tmp_path / "view")
        assert not (tmp_path / "view").exists()
        store.keep(GAMES.values(), {}, complete=True)
        store.show(tmp_path / "view")
        assert {game.gid: game for game in read_raw(tmp_path / "view")} == GAMES
        before = contents(tmp_path / "view")
        store.show(tmp_path / "view")
        assert contents(tmp_path / "view") == before
        assert len(before) == 3


def test_a_view_of_the_same_site_is_taken_in(tmp_path):
    with Store(str(tmp_path / "store"), "https://www.a.example", "amzn") as store:
        store.keep(GAMES.values(), {}, complete=True)
        store.show(tmp_path / "view")
    with Store(str(tmp_path / "colleague"), "http://a.example", "amzn") as store:
        mine = RawGame(3, "/mine", 200, b"(;)")
        store.keep([mine], {"players": 1}, complete=False)
        store.take_in(tmp_path / "view")
        store.take_in(tmp_path / "nothing")
    with Store(str(tmp_path / "colleague"), "http://a.example", "amzn") as store:
        assert (store.games, store.state) == (GAMES | {3: mine}, {"players": 1})


@pytest.mark.parametrize(
    ("url", "gtid", "ours"),
    [
        ("https://b.example", "amzn", "amzn games of b.example"),
        ("https://a.example", "hex", "hex games of a.example"),
        ("https://a.example:8080", "amzn", "amzn games of a.example:8080"),
        ("https://a.example/b", "amzn", "amzn games of a.example/b"),
    ],
)
def test_view_of_a_different_site_is_neither_imported_nor_extended(tmp_path, url, gtid, ours):
    view = tmp_path / "view"
    with Store(str(tmp_path / "store"), "https://www.a.example", "amzn") as store:
        store.keep(GAMES.values(), {}, complete=True)
        store.show(view)
    before = contents(view)
    with Store(str(tmp_path / "store"), url, gtid) as store:
        with pytest.raises(ZugwerkError, match=f"view: holds amzn games of a.example; {ours} are not mixed with them"):
            store.take_in(view)
        store.keep([GAMES[3]], {}, complete=True)
        with pytest.raises(ZugwerkError, match=r"are not mixed with them\. Move the folder away"):
            store.show(view)
        assert store.games == {3: GAMES[3]}
    assert contents(view) == before


@pytest.mark.parametrize("origin", [None, "", "[]", "{}", '{"source": "replica", "gtid": "amzn"}', '{"base_url": 1}'])
def test_view_of_unknown_site_is_not_extended(tmp_path, origin):
    write_raw(tmp_path / "view", [GAMES[20_000]])
    if origin is not None:
        (tmp_path / "view" / SOURCE).write_text(origin)
    with (
        Store(str(tmp_path / "store"), "https://a.example", "amzn") as store,
        pytest.raises(ZugwerkError, match=f"holds games, and no {SOURCE} that says of which site; amzn games of a.ex"),
    ):
        store.take_in(tmp_path / "view")


def test_two_sites_never_share_a_store(tmp_path):
    """Not even where the names of their folders are the same."""
    with Store(str(tmp_path), "https://a.example:8080", "amzn") as store:
        store.keep(GAMES.values(), {}, complete=True)
    with pytest.raises(ZugwerkError, match=r"holds amzn games of a.example:8080; amzn games of a.example/8080 are not"):
        Store(str(tmp_path), "https://a.example/8080", "amzn")
    with Store(str(tmp_path), "http://www.A.example:8080", "amzn") as store:
        assert store.games == GAMES


def test_damaged_view_shard_missing_in_store_is_an_error(tmp_path):
    with Store(str(tmp_path / "store"), "https://a.example", "amzn") as store:
        store.keep(GAMES.values(), {}, complete=True)
        store.show(tmp_path / "view")
    shards = sorted((tmp_path / "view").glob("games-*"))
    shards[1].write_bytes(b"half")
    with Store(str(tmp_path / "other"), "https://a.example", "amzn") as store:
        with pytest.raises(ZugwerkError, match=f"{shards[1].name}: damaged shard"):
            store.take_in(tmp_path / "view")
        assert store.games == {}


def test_damaged_view_is_rewritten(tmp_path):
    with Store(str(tmp_path / "store"), "https://a.example", "amzn") as store:
        store.keep(GAMES.values(), {}, complete=True)
        store.show(tmp_path / "view")
        next((tmp_path / "view").glob("games-*")).write_bytes(b"half")
        store.take_in(tmp_path / "view")
        store.show(tmp_path / "view")
        assert {game.gid: game for game in read_raw(tmp_path / "view")} == store.games == GAMES


def test_a_store_is_one_crawl_s_at_a_time(tmp_path):
    with (
        Store(str(tmp_path), "https://a.example", "amzn"),
        pytest.raises(ZugwerkError, match=r"another crawl of .* is under way"),
    ):
        Store(str(tmp_path), "https://a.example", "amzn")


ANSWERS = {"/a": b"(;\xff\x00\xe9\n)", "/b?x=1": b"", "/c": "Jürgen ★".encode()}


@pytest.fixture
def path(tmp_path):
    with Journal(tmp_path / "work" / "journal.jsonl") as journal:
        for key, body in ANSWERS.items():
            journal[key] = body
    return tmp_path / "work" / "journal.jsonl"


def test_added_entries_are_read_back(path):
    with Journal(path) as journal:
        assert {key: journal.get(key) for key in ANSWERS} == ANSWERS
        assert journal.get("/d") is None
        assert [key in journal for key in (*ANSWERS, "/d")] == [True, True, True, False]
        assert len(journal) == 3


def test_torn_last_line_is_dropped_and_writing_continues(path):
    whole = path.read_bytes()
    first_two = sum(len(line) + 1 for line in whole.split(b"\n")[:2])
    for cut in range(first_two, len(whole)):
        path.write_bytes(whole[:cut])
        with Journal(path) as journal:
            assert len(journal) == 2
            journal["/d"] = b"more"
        with Journal(path) as journal:
            assert (len(journal), journal.get("/d"), journal.get("/c")) == (3, b"more", None)


@pytest.mark.parametrize("line", [b"3\n", b"{}\n", b'{"key": "/x", "body": "\\u2605"}\n', b"\xff\n"])
def test_journal_ends_at_first_bad_line(path, line):
    path.write_bytes(line + path.read_bytes())
    with Journal(path) as journal:
        assert len(journal) == 0


def test_cleared(path):
    with Journal(path) as journal:
        journal.clear()
        assert journal.get("/a") is None
        journal["/d"] = b"more"
    with Journal(path) as journal:
        assert (len(journal), journal.get("/d")) == (1, b"more")
        journal.clear()
    assert not path.exists()

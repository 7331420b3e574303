import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.raw import RawGame, read_raw, write_raw
from spiders.store import SOURCE, Store, put, take_up

GAMES = {gid: RawGame(gid, f"/{gid}", 200, b"(;)") for gid in (3, 20_000)}
ARCHIVE = {"source": "replica", "archive": "ab12", "variants": ["DEFAULT"]}
LIVE = {"source": "live", "base_url": "https://a.example", "gtid": "amzn"}


def contents(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_the_same_source_goes_on(tmp_path):
    folder = tmp_path / "pages"
    assert take_up(folder, ARCHIVE) == {}
    put(folder, ARCHIVE, GAMES.values())
    assert take_up(folder, ARCHIVE) == GAMES
    before = contents(folder)
    put(folder, ARCHIVE, GAMES.values())
    assert contents(folder) == before


def test_another_archive_begins_anew(tmp_path):
    folder = tmp_path / "pages"
    put(folder, ARCHIVE, GAMES.values())
    other = ARCHIVE | {"archive": "cd34"}
    assert take_up(folder, other) == {}
    assert take_up(folder, ARCHIVE) == GAMES  # until the new crawl has succeeded
    put(folder, other, [GAMES[3]])
    assert take_up(folder, other) == {3: GAMES[3]}
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("other", [ARCHIVE, LIVE | {"gtid": "hex"}, {"source": "crawled", "origin": LIVE}])
def test_games_that_were_crawled_into_a_folder_are_not_given_up(tmp_path, other):
    folder = tmp_path / "pages"
    put(folder, LIVE, GAMES.values())
    with pytest.raises(ZugwerkError, match=r"amzn games crawled from https://a\.example"):
        take_up(folder, other)


def test_nor_are_games_of_unknown_origin(tmp_path):
    write_raw(tmp_path, GAMES.values())
    with pytest.raises(ZugwerkError, match=SOURCE):
        take_up(tmp_path, ARCHIVE)


def test_a_damaged_shard_is_not_begun_with(tmp_path):
    put(tmp_path / "pages", LIVE, GAMES.values())
    next((tmp_path / "pages").glob("games-*")).write_bytes(b"")
    with pytest.raises(ZugwerkError, match="damaged shard"):
        take_up(tmp_path / "pages", LIVE)


def test_what_a_killed_run_left_is_removed(tmp_path):
    left = tmp_path / ".pages.part"
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


def test_what_is_kept_is_there_again_and_never_less(tmp_path):
    with Store(str(tmp_path), "https://a.example", "amzn") as store:
        assert (store.games, store.state) == ({}, {})
        store.journal.add("/list", b"page")
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
    for url, gtid in (("https://b.example", "amzn"), ("https://a.example", "hex")):
        with Store(str(tmp_path / "other"), url, gtid) as store:
            store.take_in(tmp_path / "view")
            assert store.games == {}


def test_a_damaged_view_is_written_anew(tmp_path):
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

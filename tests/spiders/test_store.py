import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.raw import RawGame, write_raw
from spiders.store import SOURCE, put, take_up

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


@pytest.mark.parametrize("other", [ARCHIVE, LIVE | {"gtid": "hex"}, LIVE | {"base_url": "https://b.example"}])
def test_games_of_a_live_site_are_not_given_up(tmp_path, other):
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

import pytest

from pipeline_src.errors import ZugwerkError
from spiders.replica.archive import open_archive, record_files
from spiders.replica.site import NO_QUIRKS
from tests.records.amazons_games import DATA, needs_data

RECORD = b"(;EV[amzn.ch.1.1.1]PB[lazy\\player]PW[J\xfcrgen;]]SO[x];W[d1-d7/g7];B[resign])"


def folder(tmp_path, **files):
    for name, body in files.items():
        (tmp_path / name.replace("__", ".")).write_bytes(body)
    return tmp_path


def test_gids_come_from_names_and_others_are_numbered_around_them(tmp_path):
    other = RECORD.replace(b"d1-d7", b"d1-d6")
    files = {"game77__txt": RECORD, "2__sgf": other, "best__hsgf": RECORD, "another__TXT": b"\xef\xbb\xbf \r\n" + other}
    found = record_files(folder(tmp_path, **files))
    assert found == {77: RECORD, 2: other, 1: files["another__TXT"], 3: RECORD}


def test_all_records_of_a_bulk_file_are_games(tmp_path):
    records = [RECORD.replace(b"d1-d7", b"d1-d%d" % rank) for rank in range(2, 8)]
    pages = b"\r\n\r\n".join([*records[:3], b"(;)"])
    files = {"player_game_list_txt__txt": pages, "5__txt": b"".join(records[3:])}
    assert record_files(folder(tmp_path, **files)) == dict(enumerate(records[3:] + records[:3], 1))
    site = open_archive(tmp_path, "", NO_QUIRKS, 0)
    assert [len(game.nodes) for game in site.games.values()] == [2] * 6


def test_non_records_are_left_out(tmp_path):
    files = {"game5__txt": RECORD, "README__txt": b"my games", "game6__md": RECORD, "game7__txt": b""}
    assert list(record_files(folder(tmp_path, **files))) == [5]


def test_two_files_of_one_gid(tmp_path):
    with pytest.raises(ZugwerkError, match="game 5 twice"):
        record_files(folder(tmp_path, game5__txt=RECORD, game5__sgf=RECORD))


def test_nothing_to_serve(tmp_path):
    with pytest.raises(ZugwerkError, match="no records there"):
        open_archive(folder(tmp_path, a__txt=b"text"), "", NO_QUIRKS, 0)


def test_a_folder_as_a_site(tmp_path):
    site = open_archive(folder(tmp_path, game77__txt=RECORD, game78__txt=b"(;damaged"), "go19", NO_QUIRKS, 0)
    assert (site.gtid, site.title) == ("go19", "Go")
    game = site.games[77]
    assert game.record.body == RECORD
    assert [site.names[plid] for plid in game.players] == ["lazy\\player", "Jürgen;]"]
    assert (game.points, game.running) == (None, False)
    assert site.games[78].record.body == b"(;damaged"
    assert len(set(site.games[78].players)) == 2


def test_a_player_against_his_namesake_has_two_numbers(tmp_path):
    body = RECORD.replace(b"J\xfcrgen;]", b"lazy\\player")
    site = open_archive(folder(tmp_path, game1__txt=body), "", NO_QUIRKS, 0)
    assert len(set(site.games[1].players)) == 2
    assert set(site.names.values()) == {"lazy\\player"}


@needs_data
def test_the_collected_real_records(tmp_path):
    site = open_archive(DATA / "littlegolem_amazons", "", NO_QUIRKS, 0)
    assert set(site.games) == {1, 2328640}
    assert len(site.games[2328640].nodes) == 73

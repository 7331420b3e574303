"""The index of Go games: growth, repeats, refusals."""

import os
import tarfile
from pathlib import Path

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records import go_index
from pipeline_src.records.go_index import default_path, load, update
from pipeline_src.records.record import GameRecord, open_rejects, write_records

GAMES = {
    "a.sgf": "(;SZ[9]PB[ann]PW[bob]RE[B+R];B[cc];W[gg])",
    "sub/b.sgf": "(;SZ[9]PB[cid];B[cc];W[gc])(;SZ[19]RE[W+2.5];B[dd])",
    "c.sgf": "(;SZ[9];B[ee];W[])",
}


def write(folder, names=tuple(GAMES)):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GAMES[name])
        os.utime(path, ns=(10**18, 10**18))  # equal folders have equal times


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "games")
    return tmp_path / "games"


def reads(monkeypatch):
    """The names of the files that are read, from now on."""
    names, read = [], go_index.parse_sgf

    def parse(data, gid, *, name, size):
        names.append(Path(name).name)
        return read(data, gid, name=name, size=size)

    monkeypatch.setattr(go_index, "parse_sgf", parse)
    return names


def rows(index):
    return [(one.path.name, one.number, one.first_name, one.winner, one.plies)
            for one in map(index.where, range(len(index.games)))]  # fmt: skip


def test_games_of_folder_and_subfolders_in_name_order(folder, tmp_path):
    index = update(tmp_path / "index", folder)
    assert rows(index) == [
        ("a.sgf", 1, "ann", 1, 2),
        ("c.sgf", 1, "", 0, 2),
        ("b.sgf", 1, "cid", 0, 2),
        ("b.sgf", 2, "", 2, 1),
    ]
    assert index.of_size(9).tolist() == [0, 1, 2]
    assert index.of_size(19).tolist() == [3]
    assert index.events[index.starts[0] : index.starts[1]].tolist() == [163, 20, 81 + 60]
    assert index.events[index.starts[1] : index.starts[2]].tolist() == [163, 40, 162]


def test_growing_reads_new_files_alone_and_gives_the_same_bytes(tmp_path, monkeypatch):
    path, whole, root = tmp_path / "index", tmp_path / "whole", tmp_path / "games"
    write(root, ["c.sgf"])
    told = []
    update(path, root)
    names = reads(monkeypatch)
    write(root)
    update(path, root, told.append)
    assert names == ["a.sgf", "b.sgf"]
    assert [(one.done, one.files, one.games, one.gone) for one in told] == [(1, 2, 1, 0), (2, 2, 3, 0)]
    update(path, root)
    assert names == ["a.sgf", "b.sgf"], "nothing is new"
    update(whole, root)
    assert path.read_bytes() == whole.read_bytes()


def test_changed_files_are_reread_and_deleted_ones_leave(folder, tmp_path, monkeypatch):
    path, told = tmp_path / "index", []
    update(path, folder)
    (folder / "c.sgf").unlink()
    (folder / "a.sgf").write_text("(;SZ[9]PB[eve];B[cc])")
    names = reads(monkeypatch)
    index = update(path, folder, told.append)
    assert names == ["a.sgf"]
    assert told[-1].gone == 1
    assert [one[:3] for one in rows(index)] == [("a.sgf", 1, "eve"), ("b.sgf", 1, "cid"), ("b.sgf", 2, "")]
    (folder / "a.sgf").unlink()
    assert len(update(path, folder, told.append).games) == 2
    assert told[-1] == (0, 0, 0, 1), "files that are gone are told without new ones, too"


def test_interrupted_indexing_keeps_written_parts(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(go_index, "SAVED_EVERY", 1)

    def interrupted(growth):
        if growth.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        update(tmp_path / "index", folder, interrupted)
    names = reads(monkeypatch)
    assert len(update(tmp_path / "index", folder).games) == 4
    assert names == ["b.sgf"]


def test_a_game_that_is_there_twice_is_searched_once(folder, tmp_path):
    (folder / "again.sgf").write_text(GAMES["a.sgf"].replace("ann", "Ann"))
    index = update(tmp_path / "index", folder)
    assert index.games["repeat"].to_pylist() == [False, True, False, False, False]
    assert index.of_size(9).tolist() == [0, 2, 3]
    (folder / "a.sgf").unlink()
    assert not any(update(tmp_path / "index", folder).games["repeat"].to_pylist())


def test_a_tar_and_an_archive_name_the_game(tmp_path):
    write(tmp_path / "games")
    tar = tmp_path / "games.tar.gz"
    with tarfile.open(tar, "w:gz") as file:
        file.add(tmp_path / "games/sub/b.sgf", "deep/b.sgf")
    one = update(tmp_path / "of_tar", tar).where(1)
    assert (one.path, one.member, one.number) == (tar, "deep/b.sgf", 2)
    archive = tmp_path / "games.parquet"
    other = GameRecord("gomoku", 7, "file", "freestyle", 15, 15, (112,), None)
    write_records([other, GameRecord("go", 9, "file", "standard", 9, 9, (20,), "draw", first_name="dan")], archive)
    index = update(tmp_path / "of_archive", archive)
    assert rows(index) == [("games.parquet", 9, "dan", 3, 1)]
    assert index.problems() == []


def test_bad_file_is_reported_and_not_read_again(folder, tmp_path, monkeypatch):
    (folder / "bad.sgf").write_text("(;SZ[9];B[cc];W[cc])")
    (folder / "gomoku.sgf").write_text("(;GM[4]SZ[15];B[hh])")
    (folder / "numbers.parquet").write_bytes(b"PAR1 torn")
    with open_rejects(folder / "rejects.parquet"):
        pass
    index = update(tmp_path / "index", folder)
    bad, torn = index.problems()
    assert "bad.sgf: White's move C7 is occupied" in bad
    assert "numbers.parquet: damaged, or not a Parquet file" in torn
    names = reads(monkeypatch)
    assert update(tmp_path / "index", folder).problems() == [bad, torn]
    assert names == []


def test_folder_without_games_is_reported(tmp_path):
    with pytest.raises(ZugwerkError, match=r"no \.sgf file and no \.parquet archive there"):
        update(tmp_path / "index", tmp_path)
    with pytest.raises(ZugwerkError, match="nowhere: no such folder, tar or archive"):
        update(tmp_path / "index", tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("at", [3, 40, 63, 64, 500, -1])
def test_a_changed_byte_is_noticed(folder, tmp_path, at):
    path = tmp_path / "index"
    update(path, folder)
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(ZugwerkError, match="not an index of Go games" if at == 3 else "damaged.*remove it"):
        update(path, folder)
    assert path.read_bytes() == data


def test_truncated_or_outdated_index_is_refused_with_advice(folder, tmp_path):
    path = tmp_path / "index"
    update(path, folder)
    data = path.read_bytes()
    path.write_bytes(data[:100])
    with pytest.raises(ZugwerkError, match="damaged, its checksum does not fit; remove it"):
        load(path, folder)
    path.write_bytes(data.replace(b"index 1\n", b"index 0\n", 1))
    with pytest.raises(ZugwerkError, match="an index of version '0', this program reads 1; remove it"):
        load(path, folder)
    path.write_bytes(b"")
    with pytest.raises(ZugwerkError, match="not an index of Go games"):
        load(path, folder)


def test_index_of_a_different_folder_is_kept(folder, tmp_path):
    path = tmp_path / "index"
    update(path, folder)
    data = path.read_bytes()
    write(tmp_path / "others", ["c.sgf"])
    with pytest.raises(ZugwerkError, match=r"an index of .*games, not of .*others; name another file"):
        update(path, tmp_path / "others")
    assert path.read_bytes() == data


def test_every_folder_has_its_own_index(tmp_path, monkeypatch):
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path))
    one, other = default_path(tmp_path / "a"), default_path(tmp_path / "b")
    assert one != other
    assert one.parent == other.parent == tmp_path / "go"
    assert default_path(tmp_path / "b/../a") == one

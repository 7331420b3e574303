import io
import tarfile

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.records import sgf
from pipeline_src.records.sgf import read_files

GAME = b"(;SZ[19];B[pd])"


def write_tar(path, names, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(GAME)
            tar.addfile(member, io.BytesIO(GAME))
        link = tarfile.TarInfo("link.sgf")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return path


def test_a_folder_is_read_by_name_and_below(tmp_path):
    for name in ("b.sgf", "sub/a.SGF", "readme.txt", "c.sgf/d.sgf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(GAME)
    assert list(read_files(tmp_path)) == [(name, GAME) for name in ("b.sgf", "c.sgf/d.sgf", "sub/a.SGF")]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_is_read_in_order_without_unpacking(tmp_path, monkeypatch, mode):
    names = ["z.sgf", "../../evil.sgf", "/abs/a.sgf", "notes.txt", "z.sgf"]
    path = write_tar(tmp_path / "games.tar", names, mode)
    monkeypatch.chdir(tmp_path)
    assert [name for name, data in read_files(path) if data == GAME] == [n for n in names if n != "notes.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["games.tar"]


def test_long_files_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(sgf, "MAX_BYTES", 4)
    (tmp_path / "a.sgf").write_bytes(GAME)
    assert list(read_files(tmp_path)) == [("a.sgf", GAME[:4])]


def test_file_that_is_no_archive_is_named(tmp_path):
    with pytest.raises(ZugwerkError, match="nowhere: no such folder or tar"):
        list(read_files(tmp_path / "nowhere"))
    with pytest.raises(ZugwerkError, match=r"no \.sgf file there"):
        list(read_files(tmp_path))
    path = tmp_path / "text.tar"
    path.write_text("hello")
    with pytest.raises(ZugwerkError, match=r"text\.tar: not a tar"):
        list(read_files(path))


@pytest.mark.parametrize(
    ("mode", "left"),
    [
        ("w", 0.3),
        ("w", 0.6),
        ("w:gz", 0.3),
        ("w:gz", 0.95),
        ("w:bz2", 0.3),
        ("w:bz2", 0.95),
        ("w:xz", 0.3),
        ("w:xz", 0.95),
    ],
)
def test_a_tar_that_is_cut_off_is_named(tmp_path, mode, left):
    path = write_tar(tmp_path / "games.tar", [f"{n}.sgf" for n in range(40)], mode)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * left)])
    with pytest.raises(ZugwerkError, match=r"games\.tar: .*damaged"):
        list(read_files(path))


def test_a_tar_cut_off_between_two_members_is_named(tmp_path):
    path = write_tar(tmp_path / "games.tar", [f"{n}.sgf" for n in range(10)], "w")
    path.write_bytes(path.read_bytes()[: 4 * 1024])
    with pytest.raises(ZugwerkError, match="its end is missing"):
        list(read_files(path))


def test_experiment_in_own_folder_explains_missing_untracked_records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ZugwerkError, match=r"^mine: no such folder or tar of SGF files$"):
        list(read_files("mine"))
    temporary = tmp_path / ".dvc/tmp/exps/standalone/tmpx"
    temporary.mkdir(parents=True)
    monkeypatch.chdir(temporary)
    with pytest.raises(ZugwerkError, match=r"by its absolute path, or run `dvc add mine` and commit mine\.dvc$"):
        list(read_files("mine"))
    with pytest.raises(ZugwerkError, match=r"^/no/such: no such folder or tar of SGF files$"):
        list(read_files("/no/such"))

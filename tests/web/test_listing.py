"""The list of files is that of a walk, reads a folder again only where it was changed, and folders may come and go."""

import contextlib
import os
import time

from pipeline_src.web import listing

OLD_NS = time.time_ns() - 10 * listing.RECENT_NS


def age(folder):
    """As if nothing in it was changed lately."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            os.utime(path, ns=(OLD_NS, OLD_NS))


def test_added_and_removed_files_are_seen(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("c.txt", "b/a.txt", "b/d.pt"):
        (tmp_path / name).touch()
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    age(tmp_path)
    names = ["c.txt", "b/a.txt", "b/d.pt"]
    for _ in range(2):
        assert [path.relative_to(tmp_path).as_posix() for path in listing.files(tmp_path)] == names
    (tmp_path / "b/e.txt").touch()
    assert tmp_path / "b/e.txt" in set(listing.files(tmp_path))
    (tmp_path / "b/a.txt").unlink()
    assert tmp_path / "b/a.txt" not in set(listing.files(tmp_path))
    assert list(listing.files(tmp_path / "none")) == []


def test_a_folder_that_stays_as_it_is_is_read_once(tmp_path, monkeypatch):
    (tmp_path / "a").touch()
    ahead = time.time() + 60  # as if it was changed just now, however long this takes
    os.utime(tmp_path, (ahead, ahead))
    read, own = [], listing._entries
    monkeypatch.setattr(listing, "_entries", lambda folder: read.append(folder) or own(folder))
    list(listing.files(tmp_path))
    list(listing.files(tmp_path))  # what was changed just now may change again within the clock's tick
    assert len(read) == 2
    age(tmp_path)
    for _ in range(3):
        assert list(listing.files(tmp_path)) == [tmp_path / "a"]
    assert len(read) == 3


def test_files_are_found_while_another_process_renames_a_folder(tmp_path, monkeypatch):
    kept, unfinished = tmp_path / "depth/loss.tsv", tmp_path / "gomoku/01-key/.window.part"
    kept.parent.mkdir(parents=True)
    kept.touch()
    unfinished.mkdir(parents=True)
    scan = os.scandir

    def scanned(folder="."):
        with scan(folder) as entries:
            found = list(entries)
        if str(folder) == str(unfinished.parent) and unfinished.exists():
            unfinished.rename(unfinished.with_name("window"))
        return contextlib.nullcontext(iter(found))

    monkeypatch.setattr(os, "scandir", scanned)
    assert list(listing.files(tmp_path)) == [kept]

import pytest

from spiders.store import Journal

ANSWERS = {"/a": b"(;\xff\x00\xe9\n)", "/b?x=1": b"", "/c": "Jürgen ★".encode()}


@pytest.fixture
def path(tmp_path):
    with Journal(tmp_path / "work" / "journal.jsonl") as journal:
        for key, body in ANSWERS.items():
            journal.add(key, body)
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
            journal.add("/d", b"more")
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
        journal.add("/d", b"more")
    with Journal(path) as journal:
        assert (len(journal), journal.get("/d")) == (1, b"more")
        journal.clear()
    assert not path.exists()

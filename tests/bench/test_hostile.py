import random

import pytest

from bench.hostile import READERS, Attack, attack, tars
from pipeline_src.records.raw import RawGame


def test_no_hostile_text_makes_a_crash_or_a_stray_file(tmp_path):
    attacked = attack(tmp_path, 400, seed=3, large=False)
    assert not attacked.crashes
    assert not attacked.strays()
    assert sum(attacked.outcomes.values()) >= 400


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_readers_accept_their_valid_texts(tmp_path, reader):
    """Else nothing behind the first check would ever be attacked."""
    attacked = Attack(tmp_path)
    attacked.feed("good", reader.read, reader.good.encode())
    assert attacked.outcomes == {"good: read": 1}


def test_crashes_and_stray_files_are_counted(tmp_path):
    attacked = Attack(tmp_path)

    def stray(_data):
        (tmp_path / "stray").touch()
        return []

    def crash(_data):
        raise KeyError("x")

    attacked.feed("a", crash, b"")
    attacked.feed("a", stray, b"")
    attacked.feed("a", lambda _data: [RawGame(1, "\ud800", 200, b"")], b"")
    assert len(attacked.crashes) == 2
    assert attacked.strays() == [str(tmp_path / "stray")]


def test_archives_differ():
    made = [data for what, data in tars(random.Random(1)) if "bomb" not in what]
    assert len(set(made)) > 60

import os

import pytest

from pipeline_src.arena import pool
from pipeline_src.players.amazons import PLAYERS
from pipeline_src.players.options import Options
from pipeline_src.players.player import Player

MADE = []


class Made(Player):
    """Remembers that it was made, and closed."""

    closed = 0

    def close(self):
        self.closed += 1


class MadeOptions(Options):
    VALUE = "path"

    path: str = ""
    model: str = ""
    k: float = 0.0


def made_player(options: MadeOptions):
    MADE.append(options.path)
    return Made()


@pytest.fixture(autouse=True)
def made(monkeypatch, tmp_path):
    monkeypatch.setitem(PLAYERS, "made", "tests.arena.test_pool:made_player")
    monkeypatch.chdir(tmp_path)
    pool.dismiss()
    MADE.clear()
    yield MADE
    pool.dismiss()


def test_a_player_is_made_once_for_each_seat(made):
    one = pool.player("amazons", "made:a")
    assert pool.player("amazons", "made:a") is one
    other = pool.player("amazons", "made:a", seat=1)
    assert other is not one
    pool.rest()
    assert (one.closed, other.closed) == (1, 1)
    assert pool.player("amazons", "made:a") is one
    assert made == ["a", "a"]


def test_a_changed_file_or_params_make_a_new_one(made, tmp_path):
    model = tmp_path / "model.pt"
    model.write_text("old")
    one = pool.player("amazons", f"made:{model}")
    model.write_text("new")
    os.utime(model, (1, 1))
    two = pool.player("amazons", f"made:{model}")
    assert two is not one
    (tmp_path / "params.yaml").write_text("seed: 1")
    three = pool.player("amazons", f"made:{model}")
    assert three not in (one, two)
    assert pool.player("amazons", f"made:{model}") is three


def test_files_are_those_that_a_text_names(tmp_path):
    model = tmp_path / "model.pt"
    model.write_text("")
    assert pool.files_of(f"made:{model},model={model},k=1") == [model, model]
    assert pool.files_of("made:" + 5000 * "x") == []
    assert pool.files_of("made:no/such,net=none") == []


def test_the_longest_unused_are_let_go(made, monkeypatch):
    monkeypatch.setattr(pool, "MOST", 2)
    a, b = pool.player("amazons", "made:a"), pool.player("amazons", "made:b")
    assert pool.player("amazons", "made:a") is a
    pool.player("amazons", "made:c")
    assert (a.closed, b.closed) == (0, 1)
    assert pool.player("amazons", "made:a") is a
    assert pool.player("amazons", "made:b") is not b

import os

import pytest

from pipeline_src.arena import runner
from pipeline_src.players import AMAZONS as PLAYERS
from pipeline_src.players.player import Options, Player

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
    runner.dismiss()
    MADE.clear()
    yield MADE
    runner.dismiss()


def test_a_player_is_made_once_for_each_seat(made):
    one = runner.player("amazons", "made:a")
    assert runner.player("amazons", "made:a") is one
    other = runner.player("amazons", "made:a", seat=1)
    assert other is not one
    runner.rest()
    assert (one.closed, other.closed) == (1, 1)
    assert runner.player("amazons", "made:a") is one
    assert made == ["a", "a"]


def test_a_changed_file_or_params_make_a_new_one(made, tmp_path):
    model = tmp_path / "model.pt"
    model.write_text("old")
    one = runner.player("amazons", f"made:{model}")
    model.write_text("new")
    os.utime(model, (1, 1))
    two = runner.player("amazons", f"made:{model}")
    assert two is not one
    (tmp_path / "params.yaml").write_text("seed: 1")
    three = runner.player("amazons", f"made:{model}")
    assert three not in (one, two)
    assert runner.player("amazons", f"made:{model}") is three


def test_files_are_those_that_a_text_names(tmp_path):
    model = tmp_path / "model.pt"
    model.write_text("")
    assert runner.files_of(f"made:{model},model={model},k=1") == [model, model]
    assert runner.files_of("made:" + 5000 * "x") == []
    assert runner.files_of("made:no/such,net=none") == []


def test_the_longest_unused_are_let_go(made, monkeypatch):
    monkeypatch.setattr(runner, "MOST", 2)
    a, b = runner.player("amazons", "made:a"), runner.player("amazons", "made:b")
    assert runner.player("amazons", "made:a") is a
    runner.player("amazons", "made:c")
    assert (a.closed, b.closed) == (0, 1)
    assert runner.player("amazons", "made:a") is a
    assert runner.player("amazons", "made:b") is not b

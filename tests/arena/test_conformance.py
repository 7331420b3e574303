import json
import re
import sys

import pytest
from typer.testing import CliRunner

from pipeline_src.arena.conformance import BrainExaminer, examine
from pipeline_src.cli.app import app
from tests.players.engines.test_brain import SCRIPT


def findings(mode, monkeypatch, start_ms=5000.0):
    monkeypatch.setattr(BrainExaminer, "boards", ((15, "freestyle"), (5, "exact")))
    examiner = BrainExaminer(f"'{sys.executable}' -S '{SCRIPT}' {mode}", [100.0], start_ms)
    return {one.check: one for one in examine(examiner)}


def test_a_good_program_passes_every_check(monkeypatch):
    found = findings("good", monkeypatch)
    assert {one.verdict for one in found.values()} == {"good"}, found
    assert [*found][:4] == ["starts", "names itself", "moves of 100 ms", "15x15 freestyle"]
    assert found["names itself"].detail == 'name="scripted"'
    assert len(found) == 9


@pytest.mark.parametrize(
    ("mode", "broken", "said"),
    [
        ("late=400", "moves of 100 ms", r"at most 4\d\d ms"),
        ("refuses", "15x15 freestyle", "ERROR too big"),
        ("crash", "a game to its end", r"crashed \(status 3\)"),
    ],
)
def test_what_is_broken_is_named(monkeypatch, mode, broken, said):
    found = findings(mode, monkeypatch)
    assert found[broken].verdict == "broken"
    assert re.search(said, found[broken].detail)


OWN = {
    "gomoku": ["gomoku", "brain", "--player", "alphabeta:depth=2"],
    "amazons": ["amazons", "uci", "--player", "alphabeta"],
}


@pytest.mark.slow
@pytest.mark.parametrize("game", ["gomoku", "amazons"])
def test_our_own_engines_break_nothing(game):
    command = " ".join([f"'{sys.executable}' -m pipeline_src.cli", *OWN[game]])
    done = CliRunner().invoke(app, ["engines", "check", command, "--game", game, "--limits", "50", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["broken"] == 0
    assert {one["verdict"] for one in found["checks"]} == {"good"}


def test_a_broken_engine_ends_with_status_1():
    done = CliRunner().invoke(app, ["engines", "check", "/no/such", "--limits", "50"])
    assert done.exit_code == 1
    assert "engine '/no/such' cannot be started" in done.stdout
    assert "11 checks, 11 broken" in done.stdout

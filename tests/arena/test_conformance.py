import json
import re
import sys

import pytest
from typer.testing import CliRunner

from pipeline_src.arena import conformance as shared
from pipeline_src.arena.conformance import GO, BrainExaminer, UciExaminer, examine
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from tests.players.test_programs import SCRIPT, command


def findings(mode, monkeypatch, only="", start_ms=60_000.0):
    """Outcomes by check, of all or of one; only `late` has limits on time, since the machine may be busy."""
    if "late" not in mode:
        monkeypatch.setattr(shared, "MARGIN_MS", 60_000.0)
    if "stays" not in mode:
        monkeypatch.setattr(shared, "LEAVE_S", 60.0)
    monkeypatch.setattr(BrainExaminer, "boards", ((15, "freestyle"), (5, "exact")))
    examiner = BrainExaminer(f"'{sys.executable}' -S '{SCRIPT}' {mode}", [100.0], start_ms)
    chosen = [check for check in examiner.checks() if only in ("", check[0])]
    monkeypatch.setattr(examiner, "checks", lambda: chosen)
    return {one.check: one for one in examine(examiner)}


def test_a_good_program_passes_every_check(monkeypatch):
    found = findings("good", monkeypatch)
    assert {one.verdict for one in found.values()} == {"good"}, found
    assert [*found][:4] == ["starts", "commands at once", "names itself", "moves of 100 ms"]
    assert found["names itself"].detail == 'name="scripted"'
    assert len(found) == 9


@pytest.mark.slow
def test_messages_before_an_answer_are_passed_over_skipped_sizes_noted(monkeypatch):
    found = findings("chatty", monkeypatch)
    assert {one.verdict for one in found.values()} == {"good"}, found
    found = findings("fifteen", monkeypatch)["5x5 exact"]
    assert found.verdict == "note"
    assert "ERROR too big" in found.detail


@pytest.mark.slow
def test_engine_refusing_immediate_commands_has_this_fault_only(monkeypatch):
    """All other checks make a pause that is long enough, and find nothing."""
    found = findings("race=15", monkeypatch)
    assert [name for name, one in found.items() if one.verdict != "good"] == ["commands at once"], found
    said = found["commands at once"].detail
    assert found["commands at once"].verdict == "broken"
    assert re.match(
        r"refuses a command right after its answer and takes it after (20|50|100) ms: ERROR Unknown command: ", said
    )
    assert re.search(r"; the pause of 10 ms in matches is too short: add pause=(40|100|200) to its text$", said)
    patient = findings("race=15,pause=300", monkeypatch, only="commands at once")["commands at once"]
    assert "the pause of 300 ms in matches is enough" in patient.detail
    hangs = findings("hang", monkeypatch, only="commands at once")["commands at once"]
    assert hangs.verdict == "broken"
    assert re.match(r"also after 100 ms: engine .* does not answer 'BEGIN' within 3 s", hangs.detail)


def test_any_line_about_itself_is_an_answer(monkeypatch):
    for mode, outcome in (
        ("plain", ("note", "Scripted 1.0 by nobody")),
        ("unknown", ("broken", "answers 'UNKNOWN command' to ABOUT")),
    ):
        assert findings(mode, monkeypatch, only="names itself")["names itself"][1:] == outcome


def test_options_reach_the_engine_in_every_check(monkeypatch, tmp_path):
    monkeypatch.setattr(shared, "MARGIN_MS", 60_000.0)
    assert UciExaminer(command("variant,option.UCI_Variant=amazons"), start_ms=60_000.0).moves(100)[0] == "good"
    with pytest.raises(ZugwerkError, match="a move that cannot be read: not a turn: 'e2e4'"):
        UciExaminer(command("variant"), start_ms=60_000.0).moves(100)
    sent = tmp_path / "sent"
    UciExaminer(command("good", f"{sent},option.A B=c d")).leaves("quit")
    assert sent.read_text().splitlines()[:3] == ["uci", "setoption name A B value c d", "isready"]
    log = tmp_path / "log"
    brain_text = f"'{sys.executable}' -S '{SCRIPT}' good '{log}',info.max_memory=1000"
    assert BrainExaminer(brain_text, [100.0]).names_itself() == ("good", 'name="scripted"')
    assert log.read_text().splitlines() == ["START 15", "INFO max_memory 1000", "ABOUT", "END"]
    with pytest.raises(ZugwerkError, match=r"player 'uci' has no option 'info\.x'"):
        UciExaminer("./engine,info.x=3")


@pytest.mark.parametrize(
    ("mode", "broken", "said"),
    [
        pytest.param("late=400", "moves of 100 ms", r"at most [4-9]\d\d ms|at most \d{4,} ms", marks=pytest.mark.slow),
        ("refuses", "15x15 freestyle", "ERROR too big"),
        ("crash", "a game to its end", r"crashed \(status 3\)"),
        ("outside", "moves of 100 ms", "no cell 77,3 on a board of 15x15"),
        pytest.param("stays", "leaves after END", "not within 2 s", marks=pytest.mark.slow),
    ],
)
def test_faults_are_named(monkeypatch, mode, broken, said):
    found = findings(mode, monkeypatch, only=broken)
    assert found[broken].verdict == "broken"
    assert re.search(said, found[broken].detail)


def going(mode, monkeypatch, margin_ms=60_000.0):
    """Verdicts and details of the rows of `GO`, by what is sent."""
    monkeypatch.setattr(shared, "MARGIN_MS", margin_ms)
    examiner = UciExaminer(command(mode), start_ms=60_000.0)
    return {row.name: examiner.goes(row) for row in GO}


@pytest.mark.parametrize("mode", ["good", "pairs"])
def test_engine_that_heeds_every_go_passes(monkeypatch, mode):
    found = going(mode, monkeypatch)
    assert {verdict for verdict, _ in found.values()} == {"good"}, found
    assert re.fullmatch(r"\S+ \d+ ms after ponderhit", found["go ponder wtime 2000 btime 2000, ponderhit"][1])


def test_go_that_is_not_heeded_is_broken_or_a_note(monkeypatch):
    found = {name: one for name, one in going("eager", monkeypatch).items() if one[0] != "good"}
    ponder = "go ponder wtime 2000 btime 2000, "
    assert found.pop("go infinite, stop") == ("broken", "moves before stop")
    assert found.pop(ponder + "ponderhit") == ("note", "moves before ponderhit")
    assert found.pop(ponder + "stop") == ("note", "moves before stop")
    assert {*found} == {"go movetime 200 searchmoves MOVES", "go searchmoves MOVES movetime 200"}
    for verdict, said in found.values():
        assert verdict == "note"
        assert re.fullmatch(r"plays a4a3a2, which is not one of \w+ \w+", said)


@pytest.mark.slow
def test_late_move_is_broken_where_it_loses_on_time(monkeypatch):
    found = going("late=2200", monkeypatch, margin_ms=0)
    assert {name for name, (verdict, _) in found.items() if verdict == "broken"} == {row.name for row in GO[:4]}


OWN = {
    "gomoku": ["gomoku", "brain", "--player", "alphabeta:depth=2"],
    "amazons": ["amazons", "uci", "--player", "alphabeta"],
}


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("game", ["gomoku", "amazons"])
def test_our_own_engines_break_nothing(monkeypatch, game):
    """Except for being late, which is other programs' fault on a busy machine; tests of the clocks look at that."""
    monkeypatch.setattr(shared, "MARGIN_MS", 60_000.0)
    monkeypatch.setattr(shared, "LEAVE_S", 60.0)
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


@pytest.mark.parametrize("limits", ["", "fast", "50,-5", "0", "nan", "inf"])
def test_limits_are_times(limits):
    done = CliRunner().invoke(app, ["engines", "check", "/no/such", "--limits", limits])
    assert done.exit_code == 1
    assert "expected milliseconds above 0" in str(done.exception)

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.amazons import STANDARD
from pipeline_src.project.profile import profile_names

OVER = "q*8/**8/10/10/10/10/10/10/10/10 b"


def run(*words):
    return CliRunner().invoke(app, words)


def test_perft_prints_the_count_last():
    assert run("amazons", "perft", "2").stdout.splitlines()[-1] == "4307152"
    lines = run("amazons", "perft", "1", "--divide", "--fen", STANDARD).stdout.splitlines()
    assert lines[-1] == "2176"
    assert len(lines) == 2177
    assert all(re.fullmatch(r"[a-j]\d+-[a-j]\d+/[a-j]\d+: 1", line) for line in lines[:-1])


def test_features_are_unrounded_json():
    found = json.loads(run("amazons", "features", "--fen", STANDARD).stdout)
    assert found["amazons"] == ["d1", "g1", "a4", "j4"]
    assert [len(found["features"]), len(found["features"][0]), len(found["features"][0][0])] == [4, 10, 10]
    assert found["features"][0][9][3] == 300
    assert found["features"][0][9][2] == 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["amazons", "perft", "2", "--fen", "nonsense"], "bad FEN 'nonsense'"),
        (["amazons", "perft", "99"], "perft depth must be 0 to 12"),
        (["amazons", "features", "--fen", OVER], "has 1 amazons"),
        (["amazons", "move", "--model", "no/nets.pt"], r"no/nets.pt: no such model$"),
        (["amazons", "move", "--fen", "3"], "bad FEN '3'"),
        (
            ["profile", "desktop"],
            "no profile 'desktop'; there are: as_printed, laptop, overnight, paper, published_run, smoke$",
        ),
    ],
)
def test_errors_are_one_line_and_a_status(words, message):
    done = run(*words)
    assert done.exit_code == 1
    assert isinstance(done.exception, ZugwerkError)
    assert re.search(message, str(done.exception))
    assert "\n" not in str(done.exception)


def test_command_errors_are_one_line_of_stderr():
    program = Path(sys.executable).with_name("zugwerk")
    done = subprocess.run([program, "amazons", "perft", "2", "--fen", "nonsense"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"error: bad FEN 'nonsense'.*\n", done.stderr)


def test_profiles_in_the_help_are_those_of_the_project():
    told = " ".join(run("profile", "-h").stdout.replace("│", " ").split())
    assert "Profile: as_printed, laptop, overnight, paper, published_run, smoke." in told
    assert {path.stem for path in Path("profiles").glob("*.yaml")} == {*profile_names()}


def test_packaged_nets_play_outside_a_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["amazons", "move", "--json"])
    found = json.loads(done.stdout)
    assert amazons.is_legal(amazons.initial_state(), amazons.parse_move(found["move"]))
    assert 0 < found["win_rate"] < 1
    small = CliRunner().invoke(app, ["amazons", "move", "--fen", amazons.to_fen(amazons.initial_state(6))])
    assert "no net for 6x6 standard comes with the package" in str(small.exception)
    both = CliRunner().invoke(app, ["amazons", "move", "--model", "x.pt", "--player", "puct"])
    assert str(both.exception).endswith("name it in the player: puct:x.pt")
    profile = CliRunner().invoke(app, ["profile", "smoke"])
    assert "no dvc.yaml here; run this in a checkout: `zugwerk new FOLDER` writes one" in str(profile.exception)


@pytest.mark.parametrize(
    "words",
    [
        *("", "amazons", "amazons perft", "amazons move", "profile", "report", "gomoku", "gomoku perft", "gomoku move"),
        *("gomoku show", "gomoku solve", "gomoku openings"),
    ],
)
def test_help_shows_an_example(words):
    told = re.sub(r"\s+", " ", run(*words.split(), "--help").stdout.replace("│", " "))
    assert f"Example: zugwerk {words.partition(' ')[0]}" in told


def report(columns):
    return CliRunner().invoke(app, ["report"], env={"COLUMNS": str(columns)}).stdout


@pytest.fixture(scope="module")
def wide():
    return report(300)


def test_report_prints_verdict_then_figures_with_profiles(wide):
    told = re.sub(r"\s+", " ", wide)
    assert told.index("system published this run best measurement verdict") < told.index("not reached: ")
    assert told.index("not reached: ") < told.index("figure published ours 95 % CI n profile")
    assert "Search depth chosen by a net" in told
    assert "measured" in told


@pytest.mark.parametrize("columns", [30, 40, 60, 80, 100])
def test_report_cuts_nothing_in_a_narrow_window(columns, wide):
    narrow = report(columns)
    assert max(map(len, narrow.splitlines())) <= columns
    numbers = [re.findall(r"\d[\d,.]*\d", text.replace("95 % CI", "")) for text in (wide, " ".join(narrow.split()))]
    assert sorted(numbers[0]) == sorted(numbers[1])
    assert "…" not in narrow
    if columns < 80:  # each figure is a line of its own
        found = (re.match(r" ?(\w.*?)  ", line) for line in wide.splitlines())
        names = {one[1] for one in found if one} - {"figure", "system"}
        flat = " ".join(narrow.split())
        assert len(names) > 20
        assert [name for name in names if name not in flat] == []


def test_report_is_json_on_request():
    assert "amazons_net" in json.loads(run("report", "--json").stdout)

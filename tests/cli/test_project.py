"""Commands on a checkout, exports, kernels compiled ahead, and what commands import before they do anything."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from pipeline_src.cli.project import Lines, LiveLines
from pipeline_src.games import amazons, game
from pipeline_src.players import registry as module
from pipeline_src.project.params import MOST_WORKERS
from pipeline_src.project.profile import profile_names
from pipeline_src.project.schedule import Schedule
from pipeline_src.search.amazons.rays import read_table
from pipeline_src.systems.amazons_net.nets import save_nets
from pipeline_src.systems.amazons_net.rays import RaysConfig, RaysNet
from pipeline_src.systems.gomoku_zero.evaluator import open_backend
from pipeline_src.systems.gomoku_zero.models import save_model
from tests.cli.conftest import invoke, output, refusal
from tests.systems.gomoku_zero.small import SMALL, fresh, some_planes


def test_profiles_in_the_help_are_those_of_the_project():
    told = " ".join(invoke("profile", "-h").stdout.replace("│", " ").split())
    assert "Profile: as_printed, laptop, overnight, paper, published_run, smoke." in told
    assert {path.stem for path in Path("profiles").glob("*.yaml")} == {*profile_names()}


def test_packaged_nets_play_outside_a_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke("amazons", "move", "--json")
    found = json.loads(done.stdout)
    assert amazons.is_legal(amazons.initial_state(), amazons.parse_move(found["move"]))
    assert 0 < found["win_rate"] < 1
    small = amazons.initial_state(6)
    found = json.loads(invoke("amazons", "move", "--json", "--fen", amazons.to_fen(small)).stdout)
    assert amazons.is_legal(small, amazons.parse_move(found["move"], 6, 6))
    assert "no dvc.yaml here; run this in a checkout: `zugwerk new FOLDER` writes one" in refusal("profile", "smoke")


def report(columns):
    return invoke("report", env={"COLUMNS": str(columns)}).stdout


@pytest.fixture(scope="module")
def wide():
    return report(300)


def test_report_prints_verdict_then_figures_with_profiles(wide):
    told = re.sub(r"\s+", " ", wide)
    assert told.index("system published this run best measurement verdict") < told.index("reproduced: ")
    assert told.index("reproduced: ") < told.index("figure published ours 95 % CI n profile")
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
    assert "amazons_net" in json.loads(invoke("report", "--json").stdout)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save_model(tmp_path / "best.pt", fresh(SMALL["residual"]), variant="exact")
    return tmp_path / "best.pt"


def test_the_exported_file_plays_without_the_model(model: Path) -> None:
    expected = open_backend(model, "onnx").run(some_planes(SMALL["residual"]).numpy())
    said = output("export", model)
    assert "best.onnx: gomoku 6x6 exact, residual net, 2 positions of history" in said
    model.unlink()
    backend = open_backend(model.with_suffix(".onnx"))
    for mine, theirs in zip(backend.run(some_planes(SMALL["residual"]).numpy()), expected, strict=True):
        assert (mine == theirs).all()


def test_a_name_of_one_s_own_and_8_bits(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "there" / "small.onnx"
    output("export", model, "--out", out, "--int8")
    info = open_backend(out).info
    assert (info.kind, info.variant, info.height) == ("residual", "exact", 6)
    assert b"QLinearConv" in out.read_bytes()
    assert not model.with_suffix(".onnx").exists()


def test_file_that_is_no_model_is_refused_without_output(model: Path, tmp_path: Path) -> None:
    assert "none.pt: no such model" in refusal("export", tmp_path / "none.pt")
    (tmp_path / "bad.pt").write_bytes(b"no model")
    assert "bad.pt: damaged" in refusal("export", tmp_path / "bad.pt")
    shutil.copy(model, tmp_path / "model.onnx")
    assert "an ONNX model already" in refusal("export", tmp_path / "model.onnx")
    assert not (tmp_path / "bad.onnx").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--package", "joseki"], "no nets of 'joseki' come with the package; there are: amazons_net, gomoku_zero"),
        (["--package", "amazons_net"], "best.pt: damaged, or not a model of these nets"),
        (["--package", "gomoku_zero", "--int8"], "remove --out and --int8"),
        (["--hours", "2"], "add --package SYSTEM, or remove it"),
    ],
)
def test_unexportable_combinations_are_refused(model: Path, words: list[str], complaint: str) -> None:
    assert complaint in refusal("export", model, *words)


def test_a_model_with_half_the_bits(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "half.pt"
    assert "half.pt: " in output("export", model, "--out", out)
    assert out.stat().st_size < model.stat().st_size
    assert open_backend(out, "onnx").info == open_backend(model, "onnx").info
    assert "--int8 makes ONNX models alone" in refusal("export", model, "--out", out, "--int8")


def test_a_net_of_rays_is_exported_as_its_table(tmp_path):
    save_nets(tmp_path / "nets.pt", RaysNet(RaysConfig(6, units=4)))
    assert "a.rays: table of a net of rays" in output("export", tmp_path / "nets.pt", "--out", tmp_path / "a.rays")
    assert read_table(tmp_path / "a.rays")[1] == 6


BEFORE = {"data": set(), "train": {"data"}, "page": {"train"}, "old": set()}


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=100, highlight=False, markup=False, soft_wrap=True)


def told(console):
    """What was printed so far, times left out."""
    return re.sub(r"\d+\.\d s|\d+:\d\d", "TIME", console.file.getvalue()).splitlines()


@pytest.fixture
def schedule():
    return Schedule(BEFORE, 2, changed={"data"}, seconds={"data": 3.0, "train": 187.0})


def test_lines_for_begin_and_end_of_targets(console, schedule):
    lines = Lines(schedule, console)
    schedule.begin()
    lines.began("data")
    lines.ended("data", schedule.end("data", "ran"))
    schedule.begin()
    lines.began("train")
    schedule.end("train", None)
    lines.ended("train", None)
    assert told(console) == [
        "data: begins, about TIME",
        "data: ran, TIME; 2 of 4 done, about TIME left",
        "train: begins, about TIME",
        "train: FAILED; those that run are waited for; 2 of 4 done, about TIME left",
    ]


def test_terminal_shows_running_targets_and_remaining_time(console, schedule):
    lines = LiveLines(schedule, console)
    schedule.begin()
    lines.began("data")
    console.print(lines.table())
    schedule.end("data", "restored")
    schedule.begin()
    schedule.since["train"] -= 65.0
    console.print(lines.table())
    assert told(console)[0].split() == ["data", "TIME", "of", "about", "TIME"]
    assert re.search(r"train +1:05 +of about 3:07 *\n2 of 4 done, about 3:37 left", console.file.getvalue())


def test_run_without_history_shows_no_estimates(console):
    schedule = Schedule(BEFORE, 2, changed=set(BEFORE))
    lines = Lines(schedule, console)
    schedule.begin()
    lines.began("data")
    lines.ended("data", schedule.end("data", "ran"))
    assert told(console) == ["data: begins", "data: ran, TIME; 1 of 4 done"]


def test_the_number_of_jobs_is_checked_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for jobs in ("0", "-1", "many"):
        result = invoke("repro", "--jobs", jobs)
        assert (result.exit_code, "--jobs" in result.output) == (2, True)


def test_a_game_is_warmed_once(monkeypatch):
    monkeypatch.setattr(module, "texts_of", lambda _: ["random", "mcts:playouts=1"])
    assert invoke("warm", "gomoku").exit_code == 0
    assert "all of them there" in invoke("warm", "gomoku").stdout


def test_all_games_without_one(monkeypatch):
    monkeypatch.setattr(module, "texts_of", lambda _: [])
    monkeypatch.setenv(MOST_WORKERS, "1")
    assert [line.split(":")[0] for line in invoke("warm").stdout.splitlines()] == ["amazons", "go", "gomoku"]


def test_each_has_a_process_where_there_are_cores(monkeypatch):
    monkeypatch.setattr(game, "GAMES", ("go", "go"))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.setattr(module, "texts_of", None)  # of this process alone, where none is warmed
    assert [line.split(" kernels")[0] for line in invoke("warm").stdout.splitlines()] == ["go: 5"] * 2


def test_player_that_fails_is_named_and_others_are_warmed(monkeypatch):
    monkeypatch.setattr(module, "texts_of", lambda _: ["zero:no/such/model.pt", "random"])
    done = invoke("warm", "gomoku")
    assert done.exit_code == 0
    assert "gomoku: left out zero:no/such/model.pt: " in done.stderr
    assert "kernels" in done.stdout
    assert "no game called 'chess'" in refusal("warm", "chess")


def imported(program):
    """Names of top-level packages that a program imports."""
    code = f"import sys\n{program}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_needs_neither_numpy_nor_models():
    assert not imported("from pipeline_src.cli import app") & {"numpy", "numba", "pydantic", "torch", "onnxruntime"}


@pytest.mark.parametrize(
    ("game", "text"),
    [
        ("gomoku", "zero"),
        ("amazons", "nets"),
        pytest.param("amazons", "puct", marks=pytest.mark.slow),
        pytest.param("gomoku", "zero:solver=20", marks=pytest.mark.slow),
    ],
)
def test_packaged_nets_play_without_training_dependencies(game, text):
    program = (
        "from pipeline_src.errors import REPRODUCE\n"
        "for name in REPRODUCE: sys.modules[name] = None\n"  # importing one is an error now
        "from pipeline_src.games.game import get_game\n"
        "from pipeline_src.players.registry import build_player\n"
        f"rules, player = get_game({game!r}), build_player({game!r}, {text!r})\n"
        "for size in {'gomoku': (9, 15), 'amazons': (10,)}[rules.NAME]: player.player_for(rules.initial_state(size))\n"
        "for name in REPRODUCE: del sys.modules[name]"
    )
    assert not imported(program) & {"torch", "lightning", "onnx", "scipy", "dvc"}


def test_missing_package_is_named_with_its_install_command():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pipeline_src.errors import run_main\n"
        "from pipeline_src.cli.project import export\n"
        "from pathlib import Path\n"
        "run_main(lambda: export(Path('a.pt'), None, False, None, None, None, False))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "error: the package torch is missing; reproducing needs more than playing: pip install 'zugwerk[reproduce]'\n"
    )

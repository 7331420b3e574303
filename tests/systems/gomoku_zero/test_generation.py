"""Whole generations: files, kills, damage, and the params."""

import hashlib
import os
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
import torch

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load
from pipeline_src.records.record import read_records
from pipeline_src.selfplay import generation, window
from pipeline_src.selfplay.params import TrainParams
from pipeline_src.systems.gomoku_zero import self_play as stages
from pipeline_src.systems.gomoku_zero.models import export_table, load_model, load_start
from pipeline_src.systems.gomoku_zero.nets import from_table, tabulate
from pipeline_src.systems.gomoku_zero.params import GenerationFiles, StartModel, read_setting
from pipeline_src.systems.gomoku_zero.self_play import Gomoku
from tests.run_stage import check_kill, split_at_random, stage_command
from tests.systems.gomoku_zero.small import SECTION, change, params, write_params

ROOT = Path(__file__).parents[3]
run_generation = partial(generation.run_generation, Gomoku())
ONE, TWO = Parallel(workers=1), Parallel(workers=2)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def setting(project):
    return read_setting(write_params(project))


def open_window(path):
    return window.open_window(path, gomoku)


def contents(folder):
    """Digests of all files but timings, by name."""
    files = [p for p in sorted(Path(folder).rglob("*")) if p.is_file() and not p.name.endswith(".timings.json")]
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Two generations made in one go."""
    folder = tmp_path_factory.mktemp("undisturbed")
    before = Path.cwd()
    os.chdir(folder)
    try:
        own = read_setting(write_params(folder))
        for number in (1, 2):
            assert run_generation(number, own, ONE, Path("artifacts"))
        assert not list(Path("work/gomoku").iterdir())
    finally:
        os.chdir(before)
    return folder / "artifacts"


@pytest.fixture
def first(undisturbed, setting):
    """The first generation is made."""
    shutil.copytree(undisturbed, "artifacts", ignore=shutil.ignore_patterns("02*"))


def test_a_generation_leaves_games_window_models_and_report(undisturbed):
    for number in (1, 2):
        files = GenerationFiles(number, undisturbed)
        records = read_records(files.games)
        assert len(records) == 10
        for record in records:
            state = gomoku.initial_state(record.height, record.variant)
            for action in record.actions:
                state = gomoku.play(state, action)
            assert gomoku.winner(state) == record.winner
        report = read_json(files.report)
        assert report["self_play"]["games"] == 10
        assert len(read_records(files.gate_games)) == 4 == sum(report["gate"][k] for k in ("wins", "draws", "losses"))
        assert load_model(files.model).variant == "freestyle-4"
        seconds = read_json(files.timings)["seconds"]
        assert set(seconds) == {"self_play", "train", "gate"}
        assert files.curves.read_text().startswith("step,")
    first, second = (open_window(GenerationFiles(number, undisturbed).window) for number in (1, 2))
    assert set(first.generation) == {1}
    assert set(second.generation) == {1, 2}
    assert len(second.policy) <= 300
    assert (first.policy.sum(axis=1) > 0.99).all()


def test_new_player_is_best_only_if_it_scored_more(undisturbed):
    for number in (1, 2):
        files = GenerationFiles(number, undisturbed)
        gate = read_json(files.report)["gate"]
        assert gate["accepted"] == int(gate["wins"] > gate["losses"])
        same = files.best.read_bytes() == files.model.read_bytes()
        assert same == bool(gate["accepted"])
    if not read_json(GenerationFiles(1, undisturbed).report)["gate"]["accepted"]:
        assert load_model(GenerationFiles(1, undisturbed).best).config.kind == "uniform"


def test_always_takes_the_new_player(setting, project):
    run_generation(1, change(setting, "gate", always=True), ONE, Path("artifacts"))
    files = GenerationFiles(1)
    assert files.best.read_bytes() == files.model.read_bytes()


@pytest.mark.slow
def test_the_number_of_workers_changes_no_byte(undisturbed, setting, project):
    for number in (1, 2):
        run_generation(number, setting, TWO, Path("artifacts"))
    assert contents("artifacts") == contents(undisturbed)


@pytest.mark.parametrize("phase", ["play_round", "learn", "play_gate", "_publish"])
def test_work_before_a_failure_is_kept(undisturbed, first, setting, monkeypatch, phase):
    whole = getattr(generation, phase)

    def torn(*args):
        if phase != "_publish":
            whole(*args)  # done, but not yet marked so
        raise KeyboardInterrupt

    monkeypatch.setattr(generation, phase, torn)
    with pytest.raises(KeyboardInterrupt):
        run_generation(2, setting, ONE, Path("artifacts"))
    assert not GenerationFiles(2).timings.exists()
    (journal,) = Path("work/gomoku").glob("02-*/round_001/games.journal.jsonl")
    games = journal.read_bytes()
    assert games.count(b"\n") == 1 + 10

    monkeypatch.setattr(generation, phase, whole)
    publish = generation._publish

    def look(*args):
        assert journal.read_bytes() == games  # no game was played again
        publish(*args)

    monkeypatch.setattr(generation, "_publish", look)
    run_generation(2, setting, ONE, Path("artifacts"))
    assert contents("artifacts") == contents(undisturbed)


@pytest.mark.parametrize("lines", [2, 3, 6])
def test_a_kill_while_games_are_written_changes_no_byte(undisturbed, first, setting, monkeypatch, lines):
    """The net's evaluations for all games of a lock step lie with one of them."""
    whole = generation.play_round

    def torn(own):
        whole(own)
        journal = own.folder / "games.journal.jsonl"
        journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:lines]))
        raise KeyboardInterrupt

    monkeypatch.setattr(generation, "play_round", torn)
    with pytest.raises(KeyboardInterrupt):
        run_generation(2, setting, ONE, Path("artifacts"))
    monkeypatch.setattr(generation, "play_round", whole)
    run_generation(2, setting, ONE, Path("artifacts"))
    assert contents("artifacts") == contents(undisturbed)


@pytest.mark.parametrize("backend", ["onnx", "torch"])
def test_game_is_independent_of_its_batch(project, backend, monkeypatch):
    """In self-play and in the gate, with a net whose batches are shared by the games in lock step."""
    setting = change(read_setting(write_params(project)), "self_play", backend=backend)
    for folder, seed in (("whole", None), ("split", 3)):
        if seed is not None:
            split_at_random(monkeypatch, seed)
        for number in (1, 2):
            run_generation(number, setting, ONE, Path(folder))
    assert contents("split") == contents("whole")


def test_generation_killed_at_nine_tenths_plays_missing_games(project, monkeypatch):
    setting = read_setting(write_params(project, gomoku_self_play={"games": 20}))

    def run():
        run_generation(1, setting, ONE, Path("artifacts"))
        return contents("artifacts")

    check_kill(monkeypatch, run)


def test_a_whole_generation_is_made_again_only_if_something_changed(setting, project):
    assert run_generation(1, setting, ONE, Path("artifacts"), again=False)
    assert not run_generation(1, setting, ONE, Path("artifacts"), again=False)
    assert run_generation(1, change(setting, "train", learning_rate=0.02), ONE, Path("artifacts"), again=False)


@pytest.mark.parametrize("name", ["best", "model", "learner"])
def test_a_damaged_generation_before_is_named(first, setting, name):
    path = getattr(GenerationFiles(1), name)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ZugwerkError, match=str(path)):
        run_generation(2, setting, ONE, Path("artifacts"))
    assert not GenerationFiles(2).timings.exists()
    path.unlink()
    with pytest.raises(ZugwerkError, match=f"{path}.*`dvc repro` makes the one before it"):
        run_generation(2, setting, ONE, Path("artifacts"))


def test_model_for_other_board_is_refused(first, setting):
    with pytest.raises(ZugwerkError, match="5x5"):
        run_generation(2, change(setting, "game", size=6), ONE, Path("artifacts"))
    assert not GenerationFiles(2).report.exists()


LINES = {
    "gomoku_game": {"size": 7, "smaller": {"size": 5, "generations": 1}},
    "gomoku_net": {"kind": "lines", "lines": {"units": 8}},
    "gomoku_self_play": {
        "games": 12,
        "rounds": 3,
        "search": "gumbel",
        "simulations": 8,
        "considered": 4,
        "fours": 6,
        "opening_area": 4,
        "opening_bound": 0.5,
        "backend": "auto",
    },
    "gomoku_gate": {"always": True},
}


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """Two generations of a line net in three rounds each, the second on a larger board."""
    folder = tmp_path_factory.mktemp("grown")
    own = read_setting(write_params(folder, **LINES))
    for number in (1, 2):
        run_generation(number, own, ONE, folder / "artifacts", scratch=folder / "work")
    return folder / "artifacts"


def test_a_generation_of_rounds_reports_all_of_them(grown):
    for number, size in ((1, 5), (2, 7)):
        files = GenerationFiles(number, grown)
        report, window = read_json(files.report), open_window(files.window)
        assert {record.height for record in read_records(files.games)} == {window.size} == {size}
        assert report["self_play"]["games"] == len(read_records(files.games)) == 12
        assert set(window.generation) == set(range(3 * number - 2, 3 * number + 1))  # no other board's games
        assert report["train"]["new_positions"] == report["self_play"]["positions"] == len(window.policy)
        steps = [float(row["step"]) for row in read_table(files.curves)]
        assert steps == sorted(set(steps))
        assert steps[-1] == report["train"]["steps"]
        assert load_model(files.model).config.height == size
    assert read_json(GenerationFiles(2, grown).report)["self_play"]["evaluations"] > 12 * 8


@pytest.mark.parametrize("parallel", [ONE, pytest.param(TWO, marks=pytest.mark.slow)])
def test_workers_units_and_stops_between_rounds_change_no_byte(grown, project, monkeypatch, parallel):
    setting = read_setting(write_params(project, **LINES))
    run_generation(1, setting, parallel, Path("artifacts"))
    split_at_random(monkeypatch)
    calls, whole = [], generation.learn

    def torn(work):
        whole(work)
        calls.append(work.index)
        if calls == [0, 1]:
            raise KeyboardInterrupt

    monkeypatch.setattr(generation, "learn", torn)
    with pytest.raises(KeyboardInterrupt):
        run_generation(2, setting, ONE, Path("artifacts"))
    run_generation(2, setting, ONE, Path("artifacts"))
    assert calls == [0, 1, 1, 2]  # what was not yet marked as done, and what followed
    assert contents("artifacts") == contents(grown)


def test_a_run_begins_with_a_model_of_another_rule(grown, project):
    source = GenerationFiles(2, grown).best
    given = {"file": str(source), "sha256": hashlib.sha256(source.read_bytes()).hexdigest()}
    own = LINES | {"gomoku_game": {"size": 6, "variant": "exact-4", "start": given}, "gomoku_gate": {"always": False}}
    setting = read_setting(write_params(project, **own))
    run_generation(1, setting, ONE, Path("artifacts"))
    files = GenerationFiles(1)
    assert read_json(files.report)["self_play"]["evaluations"] > 12 * 8
    best, begun = load_model(files.best), load_model(source)
    assert (best.variant, best.config.height) == ("exact-4", 6)
    if not read_json(files.report)["gate"]["accepted"]:
        assert torch.equal(best.net.first.weight, begun.net.first.weight)
    moved = (load_model(files.model).net.first.weight - begun.net.first.weight).abs().max()
    assert 0 < moved < 0.2  # trained on
    table = Path("begun.lines")
    export_table(begun, table)
    same = {"file": str(table), "sha256": hashlib.sha256(table.read_bytes()).hexdigest()}
    run_generation(1, change(setting, "game", start=StartModel(**same)), ONE, Path("from_table"))
    after = GenerationFiles(1, Path("from_table"))
    assert torch.equal(load_model(after.model).net.given, from_table(tabulate(begun.net), begun.config).given)
    assert read_json(after.report)["self_play"]["evaluations"] > 12 * 8  # a net plays the first round
    one, same_seed, other = (load_start(StartModel(**same), setting.net, 6, seed) for seed in (1, 1, 2))
    assert torch.equal(one.first.weight, same_seed.first.weight)  # what a table does not have follows from the seed
    assert not torch.equal(one.first.weight, other.first.weight)
    with pytest.raises(ZugwerkError, match=r"begun.lines: the table of a line net, but gomoku_net.kind is plain"):
        load_start(StartModel(**same), setting.net.model_copy(update={"kind": "plain"}), 6, 1)
    for wrong, message in (
        ({"sha256": "0" * 64}, f"best.pt: its SHA-256 is {given['sha256']}, not that of gomoku_game.start.sha256"),
        ({"file": "none.pt"}, "none.pt: No such file or directory; gomoku_game.start.file names it"),
    ):
        with pytest.raises(ZugwerkError, match=message):
            run_generation(1, change(setting, "game", start=StartModel(**given | wrong)), ONE, Path("artifacts"))
    wide = change(setting, "net", lines=setting.net.lines.model_copy(update={"units": 9}))
    with pytest.raises(ZugwerkError, match=r"a net of .*units=8.*, but gomoku_net and gomoku_game describe .*units=9"):
        run_generation(1, wide, ONE, Path("artifacts"))


def command(project):
    words = stage_command("systems.gomoku_zero.self_play:cycle")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=project, env=os.environ | {"PYTHONPATH": str(ROOT)}, **pipes)


@pytest.mark.slow
def test_cycle_killed_halfway_resumes_to_the_same_bytes(undisturbed, project, monkeypatch, capsys):
    write_params(project)
    with command(project) as killed:
        try:
            deadline = time.monotonic() + 240
            while time.monotonic() < deadline and not any(
                path.read_bytes().count(b"\n") > 1
                for path in project.glob("work/gomoku/02-*/round_001/games.journal.jsonl")
            ):
                assert killed.poll() is None, killed.communicate()
                time.sleep(0.01)
        finally:
            killed.kill()
        killed.communicate()
    assert not (project / "artifacts/reports/gomoku/generations/02.timings.json").exists()
    stages.cycle()
    assert "generation 01 (there already)" in capsys.readouterr().out
    assert contents(project / "artifacts") == contents(undisturbed)
    assert not list(project.glob("work/gomoku/*"))


@pytest.mark.slow
def test_full_disk_leaves_no_partial_generation(project):
    write_params(project)
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "from pipeline_src.errors import run_main; from pipeline_src.stage import main_of;"
        "run_main(main_of('systems.gomoku_zero.self_play:cycle'))"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=project, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((project / "artifacts").rglob("*.*"))


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"window": 15}, "window 15 is smaller than batch 16"),
        ({"optimizer": "sgd", "weight_decay": 0.1}, "weight_decay is for adamw only"),
        ({"schedule": {"soon": 0.5}}, "schedule: soon"),
        ({"schedule": {"02": 0.5}}, "schedule: write generation 2 without leading zeros, not 02"),
        ({"schedule": {3: 0.0}}, "schedule.3 must be above 0"),
    ],
)
def test_params_that_make_no_sense_are_refused(tmp_path, changed, why):
    path = tmp_path / "params.yaml"
    path.write_text(yaml12.dump({"gomoku_train": {**SECTION, **changed}}))
    with pytest.raises(ZugwerkError, match=f"gomoku_train.*{why}"):
        load(TrainParams, "gomoku_train", path)


def test_the_schedule_is_read_by_generation(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text(yaml12.dump({"gomoku_train": {**SECTION, "schedule": {10: 0.5, 9: 0.25}}}))
    found = load(TrainParams, "gomoku_train", path)
    assert [found.rate(n) / 5e-3 for n in (1, 8, 9, 10, 28)] == [1, 1, 0.25, 0.5, 0.5]


def test_steps_count_the_new_positions():
    assert params(passes=4.0, batch=256).steps(6400) == 100
    assert params(passes=0.5, batch=100).steps(1000) == 5
    assert params().steps(0) == 1


START = {"file": "model.pt", "sha256": "0" * 64}


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"gomoku_game": {"smaller": {"size": 4, "generations": 1}}}, "smaller needs net.kind: lines; a plain net"),
        ({"gomoku_game": {"size": 9, "variant": "freestyle-6"}, "gomoku_net": {"kind": "lines"}}, "that takes 11"),
        (
            {"gomoku_game": {"smaller": {"size": 4, "generations": 1}}, "gomoku_net": {"kind": "lines"}},
            "smaller needs gate.always",
        ),
        ({"gomoku_game": {"start": START | {"sha256": "0"}}}, "gomoku_game.start.sha256"),
        ({"gomoku_self_play": {"rounds": 3}}, "rounds must divide games, 10"),
        ({"gomoku_self_play": {"simulatoins": 8}}, "gomoku_self_play.simulatoins: unknown key"),
        ({"gomoku_game": {"size": 4, "variant": "freestyle"}}, "gomoku_game: a line of 5 .* does not fit"),
        ({"gomoku_game": {"size": 2}}, "gomoku_game: size must be 3 to 25"),
        ({"gomoku_train": {"window": 8}}, "gomoku_train: window 8 is smaller than batch 16"),
        ({"gomoku_gate": {"games": 5}}, "gomoku_gate: games must be even"),
        (
            {"gomoku_game": {"variant": "freestyle-6", "size": 9}, "gomoku_self_play": {"fours": 40}},
            "self_play.fours: the search by fours knows lines of 3 to 5, not of 6",
        ),
    ],
)
def test_sections_that_contradict_each_other_are_refused(tmp_path, sections, message):
    with pytest.raises(ZugwerkError, match=message):
        read_setting(write_params(tmp_path, **sections))

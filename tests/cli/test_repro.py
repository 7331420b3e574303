import io
import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.cli.project import Lines, LiveLines
from pipeline_src.project.schedule import Schedule

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


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_the_number_of_jobs_is_checked_before_anything_runs(jobs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["repro", "--jobs", jobs])
    assert result.exit_code == 2
    assert "--jobs" in result.output

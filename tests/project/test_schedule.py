"""Order and share of the cores: the schedule alone, the targets of the graph, and both with DVC on a small graph."""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project import dvc_run
from pipeline_src.project import schedule as module
from pipeline_src.project import schedule as scheduler
from pipeline_src.project.dvc_run import Children
from pipeline_src.project.graph import reached, read_graph
from pipeline_src.project.schedule import (
    SECONDS,
    Places,
    Schedule,
    TargetsFailedError,
    log_file,
    read_places,
    read_targets,
    repro,
    select,
)
from tests.layout.imports import ROOT, profile_tree
from tests.toy_checkout import add_stage, holds_lock, is_gone, is_up, wait_for

FORK = {"data": set(), "train@a": {"data"}, "train@b": {"data"}, "page": {"train@a", "train@b"}, "other": set()}
ALL = frozenset(FORK)


def states_of(schedule):
    return {target: outcome.state for target, outcome in schedule.outcomes.items()}


def test_ready_targets_start_and_successors_wait():
    schedule = Schedule(FORK, 9, changed=ALL)
    assert schedule.begin() == {"data": 1, "other": 1}
    assert schedule.begin() == {}
    schedule.end("data", "ran")
    assert schedule.begin() == {"train@a": 1, "train@b": 1}
    schedule.end("train@a", "ran")
    assert schedule.begin() == {}
    schedule.end("train@b", "restored")
    assert schedule.begin() == {"page": 1}
    assert schedule.left() == ["page", "other"]


def test_targets_fill_the_places_longest_path_first():
    assert list(Schedule(FORK, 1, changed=ALL).begin()) == ["data"]
    seconds = {"data": 1.0, "train@a": 2.0, "train@b": 5.0, "page": 1.0, "other": 20.0}
    schedule = Schedule(FORK, 1, changed=ALL, seconds=seconds)
    order = []
    while begun := schedule.begin():
        order += begun
        schedule.end(*begun, "ran")
    assert order == ["other", "data", "train@b", "train@a", "page"]


def test_unchanged_targets_run_only_after_a_changed_one():
    schedule = Schedule(FORK, 2, changed=set())
    assert states_of(schedule) == dict.fromkeys(FORK, "up to date")
    schedule = Schedule(FORK, 2, changed={"data"})
    assert states_of(schedule) == {"other": "up to date"}
    assert schedule.begin() == {"data": 1}
    schedule.end("data", "ran")
    assert schedule.doubtful == {"train@a", "train@b"}
    schedule.answer({"train@b"})
    assert states_of(schedule) == {"other": "up to date", "data": "ran", "train@a": "up to date"}
    assert schedule.begin() == {"train@b": 1}
    schedule.end("train@b", "ran")
    assert schedule.doubtful == {"page"}
    assert schedule.begin() == {"page": 1}
    schedule.end("page", "up to date")
    assert schedule.left() == []


@pytest.mark.parametrize("changed", [{"data"}, {"first"}])
def test_successors_are_checked_if_another_process_made_target(changed):
    """DVC reported it changed, at the start or later, and then that it did not change."""
    schedule = Schedule({"first": set(), **FORK, "data": {"first"}}, 2, changed=changed)
    if changed == {"first"}:
        schedule.begin()
        schedule.end("first", "ran")
        schedule.answer({"data"})
    assert "data" in schedule.begin()
    schedule.end("data", "up to date")
    assert schedule.doubtful == {"train@a", "train@b"}
    schedule.answer({"train@b"})
    assert schedule.begin() == {"train@b": 1}


def test_threads_are_required_and_workers_get_free_places():
    places = {"data": Places(most=4), "other": Places(most=3)}
    assert Schedule(FORK, 2, changed=ALL, places=places).begin() == {"data": 1, "other": 1}
    assert Schedule(FORK, 6, changed=ALL, places=places).begin() == {"data": 4, "other": 2}
    assert Schedule(FORK, 9, changed=ALL, places=places).begin() == {"data": 4, "other": 3}
    places = {"train": Places(least=2), "other": Places(most=2)}
    schedule = Schedule(FORK, 2, changed=ALL, places=places)
    assert schedule.begin() == {"data": 1, "other": 1}
    schedule.end("data", "ran")
    assert schedule.begin() == {}
    schedule.end("other", "ran")
    assert schedule.begin() == {"train@a": 2}


def test_no_target_overtakes_one_that_waits_for_places():
    before = {"first": set(), "wide": set(), "small": set()}
    seconds = {"first": 9.0, "wide": 5.0, "small": 1.0}
    schedule = Schedule(before, 2, changed=set(before), places={"wide": Places(least=2)}, seconds=seconds)
    assert list(schedule.begin()) == ["first"]
    schedule.end("first", "ran")
    assert list(schedule.begin()) == ["wide"]


def test_a_forced_target_and_a_too_wide_one_run():
    assert Schedule({"wide": set()}, 2, changed={"wide"}, places={"wide": Places(8, 8)}).begin() == {"wide": 2}
    assert list(Schedule(FORK, 2, changed=set(), forced={"other"}).begin()) == ["other"]


def test_a_failed_doubtful_target_is_not_unchanged_and_frees_places():
    before = {"data": set(), "train": {"data"}, "other": set()}
    schedule = Schedule(before, 2, changed={"data", "other"})
    schedule.begin()
    schedule.end("data", "ran")
    assert schedule.begin() == {"train": 1}
    assert not schedule.doubtful
    assert schedule.end("train", None) is None
    assert [*schedule.taken] == ["other"]
    schedule.end("other", "ran")
    assert schedule.left() == ["train"]


def test_estimates_come_from_the_target_its_group_or_all():
    schedule = Schedule(FORK, 2, changed=ALL, seconds={"train@a": 8.0, "data": 2.0, "other": 4.0, "gone": 99.0})
    assert [schedule.estimate(name) for name in ("train@a", "train@b", "page")] == [8, 8, 4]
    assert schedule.seconds_left() == pytest.approx(2 + 8 + 4)  # the longest way; all of it on two cores is 13
    assert Schedule(FORK, 1, changed=ALL, seconds=schedule.known).seconds_left() == pytest.approx(2 + 8 + 8 + 4 + 4)
    assert Schedule(FORK, 2, changed=ALL).seconds_left() is None
    assert Schedule(FORK, 2, changed=set(), seconds=schedule.known).seconds_left() == 0


@pytest.mark.parametrize("seed", range(40))
def test_any_graph_finishes_in_order(seed):
    draw = random.Random(seed)
    names = [f"stage{n}" for n in range(draw.randint(1, 12))]
    before: Mapping[str, set[str]] = {
        name: {one for one in names[:n] if draw.random() < 0.3} for n, name in enumerate(names)
    }
    places = {name: Places(draw.randint(1, 3), draw.randint(1, 4)) for name in names}
    jobs = draw.randint(1, 5)
    changed = {name for name in names if draw.random() < 0.5}
    schedule = Schedule(before, jobs, changed=changed, places=places)
    running: dict[str, int] = {}
    ran = []
    while True:
        if not running and len(schedule.doubtful) > 1:
            schedule.answer({name for name in names if draw.random() < 0.5})
        begun = schedule.begin()
        assert not begun.keys() & {*running, *ran}
        assert all(before[name] <= schedule.outcomes.keys() for name in begun)
        running |= begun
        assert sum(running.values()) <= jobs
        if not running:
            break
        target = draw.choice(list(running))
        del running[target]
        ran.append(target)
        schedule.end(target, draw.choice(["ran", "restored", "up to date"]))
    assert schedule.outcomes.keys() == set(names)
    assert changed <= set(ran)


GRAPH = {"code": set(), "a_train@x": {"code"}, "a_train@y": {"code"}, "b_page": {"a_train@x"}, "b_last": {"b_page"}}


@pytest.fixture
def children():
    with Children() as some:
        yield some


def test_reads_dependencies_and_changes(checkout, children):
    before, changed = read_targets(checkout, children)
    assert before == {
        "toy_crawl": set(),
        "toy_count": {"toy_crawl"},
        "toy_train@a": {"toy_count"},
        "toy_train@b": {"toy_count"},
    }
    assert changed == {"toy_crawl", "toy_count", "toy_train@a", "toy_train@b"}
    assert read_targets(checkout, children, ["toy_train@a"]) == (before, {"toy_train@a"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "dvc.yaml: no stage$"),
        ("stages: [", r"dvc_graph --wait-for-lock graph` failed(.|\n)*dvc.yaml"),
        ("stages: {a: {foreach: '${a}', do: {cmd: ls}}}", r"failed to parse 'stages.a.foreach' in 'dvc.yaml'"),
    ],
)
def test_errors_in_dvc_yaml_are_named(checkout, children, text, message):
    (checkout / "dvc.yaml").write_text(text)
    with pytest.raises(ZugwerkError, match=message):
        read_targets(checkout, children)


@pytest.mark.slow
def test_targets_of_the_graph_match_dvc_yaml(children):
    (targets, _), graph = read_targets(ROOT, children), read_graph(ROOT / "dvc.yaml")
    assert {name.partition("@")[0] for name in targets} == graph.keys()
    some = ["gomoku_first", "gomoku_generation@02", "gomoku_generation@03", "gomoku_evaluate", "report_page"]
    assert [name for name in targets if name in some] == some
    for name, before in targets.items():
        for earlier in before:
            assert name.partition("@")[0] in reached(graph, [earlier.partition("@")[0]])
    assert targets["gomoku_generation@03"] == {"gomoku_generation@02"}
    assert targets["amazons_evaluate@residual"] == {"amazons_samples", "amazons_train@residual"}


def test_targets_are_selected_with_their_dependencies_in_order():
    assert list(select(GRAPH, ["b_page"])) == ["code", "a_train@x", "b_page"]
    assert list(select(GRAPH, ["a_train"])) == ["code", "a_train@x", "a_train@y"]
    assert list(select(GRAPH, ["a_train@y", "code"])) == ["code", "a_train@y"]
    assert list(select(GRAPH, [])) == list(GRAPH)
    assert list(select(GRAPH, [], "a")) == ["code", "a_train@x", "a_train@y"]


def test_an_unknown_target_is_reported_with_the_known_ones():
    message = "dvc.yaml: no target 'a_train@z'; there are: code, a_train@{x,y}, b_page, b_last"
    with pytest.raises(ZugwerkError, match=f"^{re.escape(message)}$"):
        select(GRAPH, ["code", "a_train@z"])
    with pytest.raises(ZugwerkError, match="no stage whose name starts with 'c_'"):
        select(GRAPH, [], "c")


def places(tmp_path, meta, params):
    (tmp_path / "dvc.yaml").write_text(
        f"stages: {{one: {{cmd: ls, meta: {meta}}}, some: {{foreach: [x], do: {{cmd: ls, meta: {meta}}}}}}}"
    )
    return read_places(tmp_path, params)


def test_a_stage_declares_its_places(tmp_path):
    params = {"threads": 2, "parallel": {"workers": 4}}
    assert places(tmp_path, "{}", params) == dict.fromkeys(("one", "some"), Places(1, 1))
    assert places(tmp_path, "{threads: threads}", params)["one"] == Places(2, 1)
    assert places(tmp_path, "{threads: threads, workers: parallel.workers}", params)["some"] == Places(2, 4)
    for wrong in (0, "2", None, [2]):
        with pytest.raises(ZugwerkError, match=r"dvc.yaml: one: meta.threads: .*no whole number above 0 at threads"):
            places(tmp_path, "{threads: threads}", {"threads": wrong})
    with pytest.raises(ZugwerkError, match=r"params.yaml has no whole number above 0 at parallel.workers.all"):
        places(tmp_path, "{workers: parallel.workers.all}", params)


@pytest.mark.parametrize("profile", sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml")))
def test_every_profile_has_the_numbers_of_places(profile):
    params = profile_tree(profile)
    found = read_places(ROOT, params)
    assert found["depth_match"].most == params["parallel"]["workers"]
    assert found["amazons_train"].least == params["torch_threads"]


def test_stages_that_run_tasks_declare_workers():
    """Else it would take more cores than it is given places for."""
    definitions = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    for name, stage in read_graph(ROOT / "dvc.yaml").items():
        meta = definitions[name].get("do", definitions[name]).get("meta", {})
        source = (ROOT / f"{stage.module.replace('.', '/')}.py").read_text()
        assert bool(re.search("Parallel|all_generations", source)) == ("workers" in meta), name


# The scheduler with DVC itself, on a small graph; faults and ends as a user meets them, by `zugwerk repro`.


RENDEZVOUS = "touch {own} && until test -e {other}; do sleep 0.1; done"
pytestmark = [pytest.mark.timeout(90), pytest.mark.usefixtures("forked_dvc")]  # A scheduler gone wrong may run for ever
CLI = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background of a shell ignores it
from pipeline_src.cli.app import main
main()
"""


class Seen:
    """A watch that records its calls; `add_failing`'s stage continues once it hears of a failure."""

    def __init__(self, checkout=None):
        self.began_, self.ended_, self.checkout = [], [], checkout

    def began(self, target):
        assert all(state for _, state in self.ended_), f"{target} began after a failure"  # it would for ever
        self.began_.append(target)

    def ended(self, target, outcome):
        self.ended_.append((target, outcome and outcome.state))
        if outcome is None and self.checkout:
            (self.checkout / "told").touch()

    def show(self, _):
        return contextlib.nullcontext(self)


def states(checkout, jobs=2, seen=None, **options):
    return {one.target: one.state for one in repro(checkout, jobs, (seen or Seen()).show, **options)}


@pytest.fixture
def processes(monkeypatch):
    """What DVC was started for from now on."""
    found: list[str] = []
    run = dvc_run.run_dvc

    def counted(arguments, *others, **options):
        found.append(arguments[-1] if arguments[0] == "repro" else arguments[0])
        return run(arguments, *others, **options)

    monkeypatch.setattr(dvc_run, "run_dvc", counted)
    monkeypatch.setattr("pipeline_src.project.schedule.run_dvc", counted)
    return found


def test_brings_the_graph_up_to_date_once(checkout, processes):
    all_of_it, seen = ["toy_crawl", "toy_count", "toy_train@a", "toy_train@b"], Seen()
    ran = states(checkout, 1, seen)
    assert [target for target, _ in seen.ended_] == seen.began_ == all_of_it
    assert ran == dict.fromkeys(all_of_it, "ran")
    assert (checkout / "models/b.txt").exists()
    assert sorted(processes) == sorted(["graph", *all_of_it])
    assert "crawled" in (checkout / log_file("toy_crawl")).read_text().splitlines()
    assert json.loads((checkout / SECONDS).read_text())["toy"].keys() == set(all_of_it)
    lock = (checkout / "dvc.lock").read_text()
    processes.clear()
    assert states(checkout) == dict.fromkeys(all_of_it, "up to date")
    assert processes == ["graph"]
    assert states(checkout, targets=["toy_count"], force=True) == dict.fromkeys(all_of_it[:2], "ran")
    assert (checkout / "dvc.lock").read_text() != lock  # a page more
    assert (checkout / "pages.txt").read_text() == "page\n" * 2


@pytest.mark.slow
def test_dvc_is_asked_once_for_unaffected_targets(checkout, processes):
    """Of the output of `code` each other stage reads a key, and few keys change at a time."""
    text = "stages:\n  code: {cmd: cp source code.json, deps: [source], outs: [code.json: {cache: false}]}\n"
    for name in "abcd":
        text += f"  {name}: {{cmd: touch {name}, params: [code.json: [{name}]], outs: [{name}: {{cache: false}}]}}\n"
    (checkout / "dvc.yaml").write_text(text)
    (checkout / "source").write_text('{"a": 1, "b": 1, "c": 1, "d": 1}')
    states(checkout)
    processes.clear()
    (checkout / "source").write_text('{"a": 1, "b": 1, "c": 2, "d": 1, "e": "a comment"}')
    assert states(checkout) == {"code": "ran", "c": "ran"} | dict.fromkeys("abd", "up to date")
    assert sorted(processes) == ["c", "code", "graph", "graph"]


def test_independent_targets_run_at_the_same_time(checkout):
    add_stage(checkout, "toy_one", RENDEZVOUS.format(own="one", other="two"))
    add_stage(checkout, "toy_two", RENDEZVOUS.format(own="two", other="one"))
    assert states(checkout, targets=["toy_one", "toy_two"]) == {"toy_one": "ran", "toy_two": "ran"}


def test_free_places_become_workers(checkout):
    add_stage(checkout, "toy_play", 'echo "workers $ZUGWERK_WORKERS"\n    meta: {workers: workers}')
    (checkout / "params.yaml").write_text("workers: 3\n")
    states(checkout, 2, targets=["toy_play"])
    assert "workers 2" in (checkout / log_file("toy_play")).read_text()


@pytest.mark.parametrize("text", [None, "[", "3", '{"toy": [1]}', '{"toy": {"toy_crawl": "long"}}'])
def test_missing_or_damaged_durations_are_ignored(tmp_path, text):
    if text:
        (tmp_path / "seconds.json").write_text(text)
    assert scheduler._read_seconds(tmp_path / "seconds.json") == {}


def add_failing(checkout, command):
    """A stage that fails once another runs, that other, which then ends, and a third that waits for a place."""
    add_stage(checkout, "toy_fails", f"until test -e begun; do sleep 0.02; done; {command}")
    add_stage(checkout, "toy_beside", "touch begun && until test -e told; do sleep 0.02; done; touch ended")
    add_stage(checkout, "toy_third", "touch third")


FAILING = ["toy_fails", "toy_beside", "toy_third"]


def test_after_a_failure_running_targets_finish_and_no_other_starts(checkout):
    add_failing(checkout, "echo no such game; exit 3")
    seen = Seen(checkout)
    with pytest.raises(TargetsFailedError) as failure:
        repro(checkout, 2, seen.show, targets=FAILING)
    assert seen.ended_ == [("toy_fails", None), ("toy_beside", "ran")]
    for words in (
        "toy_fails: `dvc --wait-for-lock repro --single-item toy_fails` failed",
        "\n  no such game\n",
        "log: work/repro/toy_fails.log",
        "toy_beside, which ran at the same time, has finished\n  log: work/repro/toy_beside.log",
    ):
        assert words in str(failure.value)
    assert (checkout / "ended").exists()
    assert not (checkout / "third").exists()


@pytest.mark.slow
def test_two_failures_are_both_reported(checkout):
    add_failing(checkout, "exit 1")
    text = (checkout / "dvc.yaml").read_text()
    (checkout / "dvc.yaml").write_text(text.replace("touch ended", "exit 2"))
    told = r"(?s)toy_fails: .*toy_fails.log\ntoy_beside: .*toy_beside.log\nno o"
    with pytest.raises(TargetsFailedError, match=told):
        repro(checkout, 2, Seen(checkout).show, targets=FAILING)


FULL = """
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
def main():
    with open("/dev/full", "w") as file:
        file.write("more")
run_main(main)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_reported_and_the_next_run_resumes(checkout):
    (checkout / "full.py").write_text(FULL)
    add_failing(checkout, "python full.py")
    (checkout / log_file("toy_beside")).parent.mkdir(parents=True)
    (checkout / log_file("toy_beside")).symlink_to("/dev/full")  # the log of the other is lost, and nothing else
    full = "error: the disk is full; free some of it"
    with pytest.raises(TargetsFailedError, match=full):
        repro(checkout, 2, Seen(checkout).show, targets=FAILING)
    assert (checkout / "ended").exists()
    (checkout / "full.py").write_text("")
    assert set(states(checkout, targets=FAILING).values()) == {"ran"}


def test_a_log_that_cannot_be_written_is_reported(checkout):
    (checkout / log_file("toy_crawl")).mkdir(parents=True)
    with pytest.raises(TargetsFailedError, match=r"toy_crawl: .*toy_crawl.log: Is a directory"):
        repro(checkout, 2, Seen().show, targets=["toy_crawl"])


@contextlib.contextmanager
def running(checkout, *words):
    """`zugwerk repro` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([sys.executable, "-c", CLI, "repro", *words], cwd=checkout, env=environment, **pipes) as one:
        try:
            yield one
        finally:
            one.kill()  # where the test has failed: it would wait for ever


@pytest.mark.slow
def test_the_command_prints_progress_and_fails_with_status_1(checkout):
    with running(checkout, "toy_count") as one:
        told = one.communicate(timeout=240)[0].splitlines()
        assert one.returncode == 0
    assert told[0] == "toy_crawl: begins"
    assert told[1].startswith("toy_crawl: ran, ")
    assert told[-1].startswith("2 targets: 2 ran; ")
    add_failing(checkout, "exit 3")
    with running(checkout, *FAILING, "--jobs", "2") as one:
        told = []
        for line in one.stdout:
            assert not (line.endswith(": begins\n") and (checkout / "told").exists()), f"after a failure {line}"
            told.append(line)
            if line.startswith("toy_fails: FAILED; those that run are waited for"):
                (checkout / "told").touch()
        assert one.wait(timeout=240) == 1
    assert (checkout / "ended").exists()
    assert any(line.startswith("error: toy_fails: ") for line in told)


@pytest.mark.slow
def test_an_interrupted_or_killed_run_leaves_no_process_and_resumes(checkout):
    add_hanging(checkout)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        with running(checkout, "toy_hang", "toy_sleep", "--jobs", "2") as one:
            wait_for(lambda: both_are_up(checkout))
            one.send_signal(number)
            assert one.wait(timeout=120) == (-number if number == signal.SIGKILL else 128 + number)
            if number == signal.SIGKILL:
                wait_for(lambda: is_gone(checkout))
            else:
                stopped = "toy_hang was stopped, toy_sleep was stopped; run the same command again to go on"
                told = f"ended by {number.name}: 0 of 2 targets are done and kept, {stopped}"
                assert one.stdout.read().splitlines()[-1] == told
            assert is_gone(checkout)
        assert not holds_lock(checkout, "toy_")
        for name in ("pids.txt", "asleep"):
            (checkout / name).unlink()
    goes_on(checkout)


def add_hanging(checkout):
    add_stage(checkout, "toy_hang", "python family.py")
    add_stage(checkout, "toy_sleep", "touch asleep && sleep 600")


def both_are_up(checkout):
    return is_up(checkout) and (checkout / "asleep").exists()


def goes_on(checkout):
    (checkout / "family.py").write_text("print('no family today')")
    text = (checkout / "dvc.yaml").read_text()
    (checkout / "dvc.yaml").write_text(text.replace("&& sleep 600", ""))
    assert states(checkout, targets=["toy_hang", "toy_sleep"]) == {"toy_hang": "ran", "toy_sleep": "ran"}


def test_an_error_during_planning_leaves_no_process(checkout, monkeypatch):
    ended = []
    end = Children.end
    monkeypatch.setattr(Children, "end", lambda self: (ended.append(self), end(self)))
    (checkout / "params.yaml").unlink()
    with pytest.raises(ZugwerkError, match=r"params.yaml: no such file"):
        repro(checkout, 2, Seen().show)
    assert len(ended) == 1
    assert is_gone(checkout)


def test_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: {3, 5, 6}, raising=False)
    assert module.cores() == 3
    monkeypatch.delattr(module.os, "sched_getaffinity")
    monkeypatch.setattr(module.os, "cpu_count", lambda: 8)
    assert module.cores() == 8


def test_only_crawls_are_forced(checkout):
    with Children() as children:
        found = scheduler.Scheduler(checkout, children, 1, refresh_crawl=True).schedule
    assert found.forced == {"toy_crawl"}

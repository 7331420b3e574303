import random
from collections.abc import Mapping

import pytest

from pipeline_src.project.schedule import Places, Schedule

FORK = {"data": set(), "train@a": {"data"}, "train@b": {"data"}, "page": {"train@a", "train@b"}, "other": set()}
ALL = frozenset(FORK)


def states_of(schedule: Schedule) -> dict[str, str]:
    return {target: outcome.state for target, outcome in schedule.outcomes.items()}


def test_ready_targets_start_and_successors_wait() -> None:
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


def test_targets_fill_the_places_longest_path_first() -> None:
    assert list(Schedule(FORK, 1, changed=ALL).begin()) == ["data"]
    seconds = {"data": 1.0, "train@a": 2.0, "train@b": 5.0, "page": 1.0, "other": 20.0}
    schedule = Schedule(FORK, 1, changed=ALL, seconds=seconds)
    order = []
    while begun := schedule.begin():
        order += begun
        schedule.end(*begun, "ran")
    assert order == ["other", "data", "train@b", "train@a", "page"]


def test_unchanged_targets_run_only_after_a_changed_one() -> None:
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


def test_successors_of_an_unchanged_target_are_not_doubtful() -> None:
    before = {"data": set(), "train": {"data"}, "page": {"train"}}
    schedule = Schedule(before, 2, changed={"data"})
    schedule.begin()
    schedule.end("data", "ran")
    assert schedule.begin() == {"train": 1}
    schedule.end("train", "up to date")
    assert not schedule.doubtful
    assert schedule.left() == []


@pytest.mark.parametrize("changed", [{"data"}, {"first"}])
def test_successors_are_checked_if_another_process_made_target(changed: set[str]) -> None:
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


def test_forced_targets_run() -> None:
    assert list(Schedule(FORK, 2, changed=set(), forced={"other"}).begin()) == ["other"]


def test_threads_are_required_and_workers_get_free_places() -> None:
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


def test_no_target_overtakes_one_that_waits_for_places() -> None:
    before = {"first": set(), "wide": set(), "small": set()}
    seconds = {"first": 9.0, "wide": 5.0, "small": 1.0}
    schedule = Schedule(before, 2, changed=set(before), places={"wide": Places(least=2)}, seconds=seconds)
    assert list(schedule.begin()) == ["first"]
    schedule.end("first", "ran")
    assert list(schedule.begin()) == ["wide"]


def test_a_target_wider_than_the_machine_runs_alone() -> None:
    assert Schedule({"wide": set()}, 2, changed={"wide"}, places={"wide": Places(8, 8)}).begin() == {"wide": 2}


def test_a_failed_target_frees_its_places_and_blocks_its_successors() -> None:
    schedule = Schedule(FORK, 1, changed=ALL)
    schedule.begin()
    assert schedule.end("data", None) is None
    assert not schedule.taken
    assert "data" in schedule.left()


def test_a_failed_doubtful_target_does_not_count_as_unchanged() -> None:
    before = {"data": set(), "train": {"data"}, "other": set()}
    schedule = Schedule(before, 2, changed={"data", "other"})
    schedule.begin()
    schedule.end("data", "ran")
    assert schedule.begin() == {"train": 1}
    assert not schedule.doubtful
    schedule.end("train", None)
    schedule.end("other", "ran")
    assert schedule.left() == ["train"]


def test_estimates_come_from_the_target_its_group_or_all() -> None:
    schedule = Schedule(FORK, 2, changed=ALL, seconds={"train@a": 8.0, "data": 2.0, "other": 4.0, "gone": 99.0})
    assert [schedule.estimate(name) for name in ("train@a", "train@b", "page")] == [8, 8, 4]
    assert schedule.seconds_left() == pytest.approx(2 + 8 + 4)  # the longest way; all of it on two cores is 13
    assert Schedule(FORK, 1, changed=ALL, seconds=schedule.known).seconds_left() == pytest.approx(2 + 8 + 8 + 4 + 4)
    assert Schedule(FORK, 2, changed=ALL).seconds_left() is None
    assert Schedule(FORK, 2, changed=set(), seconds=schedule.known).seconds_left() == 0


@pytest.mark.parametrize("seed", range(40))
def test_any_graph_finishes_in_order(seed: int) -> None:
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

from bench.reliability import kill_sweep
from bench.reliability.kill_plan import Kill, Ran, draw_kills
from bench.reliability.kill_sweep import SideBySide, Watch, record
from bench.reliability.outputs import differing, hash_outputs

RAN = [Ran(f"{name}", 10.0 * i, 10.0 * i + 8) for i, name in enumerate(["a", "b@1", "b@2", "c", "d"])]


def test_every_kind_of_stage_gets_a_kill_and_longer_ones_get_more():
    ran = [Ran("long", 0, 900), Ran("short", 901, 902), Ran("other", 903, 1000)]
    kills = draw_kills(ran, 50, 4, seed=1)
    counts = [sum(kill.stage == i for kill in kills) for i in range(3)]
    assert sum(counts) == 50
    assert min(counts) >= 1
    assert counts[0] > 35


def test_kills_are_ordered_and_hit_all_four_victims():
    kills = draw_kills(RAN, 60, 3, seed=2)
    assert kills == sorted(kills, key=lambda kill: (kill.at_pass, kill.stage, kill.share))
    assert {kill.at_pass for kill in kills} == {0, 1, 2}
    assert {kill.victim for kill in kills} == {"stage", "dvc", "repro", "flow"}
    assert all(kill.victim != "stage" for kill in kills if kill.share >= 1)
    assert kills == draw_kills(RAN, 60, 3, seed=2)
    assert kills != draw_kills(RAN, 60, 3, seed=3)


def watched(*seen, paces=(1.0,)):
    """A watch that has seen (stage, second)s."""
    watch = Watch(RAN, list(paces))
    for stage, second in seen:
        watch.see(stage, second)
    return watch


def test_the_moment_comes_during_the_stage_or_after_it():
    kill = Kill(0, 1, 0.5, "stage")
    assert not watched(("a", 0), ("a", 7)).has_come(kill)
    assert not watched(("b@1", 10), ("b@1", 13)).has_come(kill)
    assert watched(("b@1", 10), ("b@1", 15)).has_come(kill)
    assert watched(("b@1", 10), ("", 11)).has_come(kill)
    assert watched(("b@2", 10)).has_come(kill)


def test_a_kill_can_fall_into_the_pause_after_a_stage():
    kill = Kill(0, 1, 1.2, "dvc")
    assert not watched(("b@1", 10), ("b@1", 18), ("", 18.1)).has_come(kill)
    assert watched(("b@1", 10), ("b@1", 18), ("", 18.1), ("", 19.8)).has_come(kill)


def test_moments_scale_with_the_pace_of_the_machine():
    kill = Kill(0, 1, 0.5, "stage")
    assert not watched(("b@1", 10), ("b@1", 15), paces=(2.0,)).has_come(kill)
    assert watched(("b@1", 10), ("b@1", 18.5), paces=(2.0,)).has_come(kill)


def test_parallel_runs_count_time_from_the_first_stage():
    kill = Kill(0, 1, 0.5, "repro")
    watch = SideBySide(RAN, [1.0])
    for stage, second, comes in (("", 2, False), ("c", 10, False), ("d", 13, False), ("", 14, True), ("a", 15, True)):
        watch.see(stage, second)
        assert watch.has_come(kill) == comes
    assert (watch.stage, watch.running) == ("a", True)


def test_outputs_are_compared_without_times_and_the_report(tmp_path):
    (tmp_path / "dvc.yaml").write_text(
        "stages: {a: {outs: [artifacts/a]}, report_page: {outs: [artifacts/report: {cache: false}]}}"
    )
    for path in ("artifacts/a/x", "artifacts/report/index.html", "artifacts/a/x.timings.json", "artifacts/.y.part"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("1")
    found = hash_outputs(tmp_path)
    assert list(found) == ["artifacts/.y.part", "artifacts/a/x"]
    (tmp_path / "artifacts/a/x").write_text("2")
    assert differing(hash_outputs(tmp_path), found) == ["artifacts/a/x"]
    assert differing({}, found) == ["artifacts/.y.part", "artifacts/a/x"]


def test_kills_of_a_system_replace_its_earlier_kills_only(tmp_path, monkeypatch):
    monkeypatch.setattr(kill_sweep, "TABLE", tmp_path / "kills.csv")
    counts = []
    monkeypatch.setattr(kill_sweep, "publish", lambda found, n, *_: counts.append((n, found["kills_same_bytes"])))
    row = {"pass": 1, "stage": "a", "victim": "dvc", "seconds": 1.0, "gone_after": 0.1, "left_running": []}

    def rows(system, count, differing=()):
        return [row | {"system": system, "differing": list(differing)} for _ in range(count)]

    record(rows("gomoku", 2), "gomoku", 1)
    record(rows("depth", 3, ["artifacts/x"]), "depth", 1)
    record(rows("gomoku", 4), "gomoku", 1)
    record(rows("depth", 1), "depth", 1)
    assert counts == [(2, 2), (5, 2), (7, 4), (5, 5)]

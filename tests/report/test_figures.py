"""The registry's figures, from reports that say what made them and from committed measurements; names and units."""

import csv
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pipeline_src import files, yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import MADE_BY, read_json, write_json
from pipeline_src.project import params
from pipeline_src.project.graph import keys_behind, made_by, read_graph
from pipeline_src.project.params import at, read_tree
from pipeline_src.project.profile import profile_tree
from pipeline_src.report import headlines
from pipeline_src.report.figures import KEPT, REGISTRY, SYSTEMS, figures, metric_of, of_the_graph, origin
from tests.layout.imports import ROOT
from tests.report.project import report

KEYS = {"words", "unit", "published", "ours", "ratio", "label", "from", "others", *KEPT}


def test_without_metrics_everything_ours_is_null(tmp_path, monkeypatch):
    write_params(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert figures()["amazons_engine"]["elo_per_doubling"]["command"] == "make measure-amazons_engine"
    for system, rows in figures().items():
        assert set(rows) == set(REGISTRY[system])
        for row in rows.values():
            assert set(row) == KEYS
            assert row["ours"] is row["low"] is row["profile"] is row["label"] is row["data"] is None
            assert not row["others"]


MADE = {"seed": 1, "amazons_match": {"loss": "x", "pairs": 4}}


def write_params(folder, profile="laptop", **tree):
    (folder / "params.yaml").write_text(yaml12.dump({"profile": profile, **tree}))


def test_figure_is_of_the_profile_whose_values_made_its_report(tmp_path):
    write_params(tmp_path, **MADE)
    report(tmp_path, "amazons/match.json", {"random": {"score": estimate(0.75, 8)}}, "c0de", **MADE)
    report(tmp_path, "amazons/samples.json", {"games": 10, "sources": {"engine": 9, "littlegolem": 1}})
    found = figures(tmp_path)["amazons_net"]
    assert found["score_vs_random"] == {
        "words": "Amazons-Net: score against the random player", "ours": 0.75, "low": 0.65, "high": 0.85, "n": 8,
        "published": None, "ratio": None, "unit": "score", "profile": "laptop", "seed": 1,
        "data": "engine games and LittleGolem", "command": "dvc repro amazons_match", "from": "graph",
        "hardware": None, "date": None, "player": None, "code": "c0de",
        "commit": None, "label": "laptop", "others": [],
    }  # fmt: skip
    assert (found["games"]["ours"], found["games"]["published"], found["games"]["ratio"]) == (10, 25_000, 10 / 25_000)
    assert found["games"]["label"] == "other params"  # nobody knows which
    write_params(tmp_path, "paper", seed=1, amazons_match={"loss": "x", "pairs": 400})
    row = figures(tmp_path)["amazons_net"]["score_vs_random"]
    assert (row["profile"], row["label"]) == (None, "other params")


@pytest.mark.parametrize("change", [{}, {"seed": 2}, {"samples": {"size": 9}}, {"samples": {}}, {"samples": None}])
def test_origin_is_current_if_all_values_behind_the_report_are(tmp_path, change):
    """A report names the values of the stages before its own too."""
    now = {"seed": 1, "samples": {"size": 10, "ways": [1e-6]}, "sizes": {9: {"before": 6}}, "other": 5}
    path = report(tmp_path, "a/b.json", {}, "c0de", seed=1, samples=now["samples"], **{"sizes.9": {"before": 6}})
    path.with_name("b.timings.json").write_text("{}")
    for file in (path, path.with_name("b.timings.json")):
        found = origin(file, yaml12.parse(yaml12.dump(now | change)))
        assert (found.code, found.values["samples"]["size"], found.current) == ("c0de", 10, not change)
    assert origin(path.with_name("none.json"), now) == (None, {}, False)


def test_stage_report_says_what_made_it(tmp_path, monkeypatch):
    """Files of times, and of no system, say nothing."""
    write_params(tmp_path, seed=3, crawl={"retries": 1}, train={"steps": [4]}, name="x")
    (tmp_path / "dvc.yaml").write_text(
        "stages:\n"
        "  crawl: {cmd: python -m a, params: [seed, crawl], outs: [pages]}\n"
        "  train:\n    foreach: [x, y]\n"
        "    do: {cmd: python -m a, params: [train.steps], deps: [pages], outs: ['models/${item}']}\n"
        "  match: {cmd: python -m a, params: [name], deps: ['models/${name}/net'], outs: [m.json]}\n"
        "  other: {cmd: python -m a, params: [train], deps: [nothing], outs: [o.json]}\n"
    )
    monkeypatch.chdir(tmp_path)
    behind = keys_behind(read_graph())
    assert behind["match"] == ["name", "seed", "train.steps"]  # and no value of crawl, which changes no result
    assert (behind["train@y"], behind["other"]) == (["seed", "train.steps"], ["train"])
    write_json(params.CODE_FILE, {"code": {"match": "c0de"}})
    monkeypatch.setattr(files, "ORIGIN", made_by("match"))
    made = {"stage": "match", "code": "c0de", "params": {"name": "x", "seed": 3, "train.steps": [4]}}
    for name, said in (("a/m.json", made), ("a/b/m.json", made), ("a/m.timings.json", None), ("m.json", None)):
        write_json(Path("artifacts/reports") / name, {"score": 1})
        assert read_json(Path("artifacts/reports") / name) == {"score": 1} | ({"made_by": said} if said else {})
    params.CODE_FILE.unlink()
    assert made_by("match") == {}


ANCHOR = {"player": "mcts:playouts=1000"}
OTHER = {"player": "mcts:playouts=100"}


@pytest.mark.parametrize(
    ("section", "left"),
    [
        ({"best_of": 5, "anchor": "mcts1000", "opponents": {"mcts1000": ANCHOR}}, {"best_of_five_won", "elo_last"}),
        ({"best_of": 1, "anchor": "mcts1000", "opponents": {"mcts1000": ANCHOR}}, {"elo_last"}),
        ({"best_of": 3, "anchor": "minimax", "opponents": {"mcts1000": ANCHOR}}, set()),
        ({"best_of": 5, "anchor": "mcts1000", "opponents": {"mcts1000": OTHER}}, {"best_of_five_won"}),
    ],
)
@pytest.mark.parametrize("current", [True, False])
def test_figure_for_other_params_than_described_is_left_out(tmp_path, section, left, current):
    own = {"seed": 1, "gomoku_evaluate": section}
    metrics = {"best_of_five_won": estimate(0.2, 5), "elo_last": estimate(700, 9), "generations": 3}
    report(tmp_path, "gomoku/evaluate.json", metrics, **own)
    write_params(tmp_path, **(own if current else {"seed": 2, "gomoku_evaluate": {"best_of": 5}}))  # the run's count
    found = figures(tmp_path)["gomoku_zero"]
    assert {name for name, row in found.items() if row["ours"] is not None} == left | {"generations"}
    assert found["generations"]["label"] == ("laptop" if current else "other params")


def test_descriptions_match_the_committed_params():
    tree, checked = profile_tree("laptop", ROOT), 0
    for rows in REGISTRY.values():
        for name, figure in rows.items():
            for key, value in figure.named.items():
                assert at(tree, key) == value, name
                checked += 1
    assert checked > 10


def test_a_committed_measurement_replaces_a_missing_figure(tmp_path):
    write_params(tmp_path)
    (tmp_path / "docs/measured").mkdir(parents=True)
    about = {"low": 0.2, "high": 0.4, "n": 50, "profile": "paper", "data": "LittleGolem", "command": "make x"}
    measured = {"from_to_top1": {"value": 0.3, **about}, "games": {"value": 1}}
    (tmp_path / "docs/measured/amazons_net.json").write_text(json.dumps(measured))
    report(tmp_path, "amazons/samples.json", {"games": 10})
    found = figures(tmp_path)["amazons_net"]
    assert {"ours": 0.3, **about}.items() <= found["from_to_top1"].items()
    assert found["games"]["ours"] == 10  # neither says its n: what the graph made comes first
    assert [row["ours"] for row in found["games"]["others"]] == [1]


def write_measurements(folder):
    """A match of ten games in the graph, of 2,000 apart from it, of 400 overnight."""
    write_params(folder, **MADE)
    (folder / "docs/measured").mkdir(parents=True)
    report(folder, "amazons/match.json", {"random": {"score": estimate(0.3, 10)}}, **MADE)
    measured = estimate(0.52, 2000) | {"profile": "committed measurement", "command": "make measure-amazons_net"}
    (folder / "docs/measured/amazons_net.json").write_text(json.dumps({"score_vs_random": measured, "matches": {}}))
    overnight = {"ours": 0.6, "low": 0.5, "high": 0.7, "n": 400, "command": "make repro", "commit": "0123", "date": "x"}
    (folder / "docs/measured/overnight.json").write_text(json.dumps({"amazons_net": {"score_vs_random": overnight}}))
    (folder / "docs/measured/costs.json").write_text(json.dumps({"stages": {"a": 1}}))


def estimate(value, n):
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": n}


def test_own_run_is_first_then_measurement_with_most_games(tmp_path):
    write_measurements(tmp_path)
    row = figures(tmp_path)["amazons_net"]["score_vs_random"]
    assert [(one["label"], one["ours"], one["n"]) for one in (row, *row["others"])] == [
        ("laptop", 0.3, 10),
        ("measured", 0.52, 2000),
        ("overnight", 0.6, 400),
    ]
    assert [one["from"] for one in (row, *row["others"])] == ["graph", "measured", "measured"]
    assert row["others"][1]["commit"] == "0123"
    committed = figures(tmp_path, run=False)["amazons_net"]["score_vs_random"]
    assert [one["label"] for one in (committed, *committed["others"])] == ["measured", "overnight"]
    assert of_the_graph(row)["ours"] == 0.3
    assert of_the_graph(figures(tmp_path)["joseki"]["games"]) is None


SELF_PLAY = {"games": 100}


def write_gomoku(folder, section, self_play=SELF_PLAY, code="new", profile="laptop"):
    """The graph's 20 games against minimax, by this code and with these params."""
    made = {"seed": 1, "gomoku_evaluate": section, "gomoku_self_play": self_play}
    write_params(folder, profile, **made)
    metrics = {"score_vs_minimax": estimate(0.5, 20), "best_of_five_won": estimate(0.2, 5)}
    report(folder, "gomoku/evaluate.json", metrics, code, **made)


WITH_SOLVER = {"simulations": 64, "search": "puct", "options": "chunk=8", "headline_options": "solver=200"}


@pytest.mark.parametrize(
    ("changes", "best", "models"),
    [
        ({}, "net with solver=200, 64 simulations, from nothing", "bare net, 64 simulations, from nothing"),
        ({"headline_options": ""}, "bare net, 64 simulations, from nothing", "bare net, 64 simulations, from nothing"),
        (
            {"simulations": 400, "options": "solver=200,chunk=8", "headline_options": ""},
            "net with solver=200, 400 simulations, from nothing",
            "net with solver=200, 400 simulations, from nothing",
        ),
        (
            {"search": "gumbel", "options": "leaves=4,chunk=16"},
            "net with leaves=4 solver=200, 64 simulations, Gumbel search, from nothing",
            "bare net with leaves=4, 64 simulations, Gumbel search, from nothing",
        ),
    ],
)
def test_figure_names_player_and_source_of_training_games(tmp_path, changes, best, models):
    write_gomoku(tmp_path, WITH_SOLVER | {"best_of": 5} | changes)
    found = figures(tmp_path)["gomoku_zero"]
    assert (found["score_vs_minimax"]["player"], found["score_vs_minimax"]["data"]) == (best, "its own games")
    assert found["best_of_five_won"]["player"] == models


def test_player_of_other_params_is_the_one_that_played(tmp_path):
    write_gomoku(tmp_path, WITH_SOLVER)
    text = (tmp_path / "params.yaml").read_text().replace("simulations: 64", "simulations: 9")
    (tmp_path / "params.yaml").write_text(text)
    row = figures(tmp_path)["gomoku_zero"]["score_vs_minimax"]
    said = ["other params", "net with solver=200, 64 simulations, from nothing", "its own games"]
    assert [row[key] for key in ("label", "player", "data")] == said


@pytest.mark.parametrize(
    ("old_code", "behind"), [(None, 0.75), ("old", 0.75), ("new", 0.023)], ids=["unknown", "other", "same"]
)
@pytest.mark.parametrize("profile", ["laptop", "overnight"])
def test_a_measurement_of_other_code_comes_last(tmp_path, old_code, behind, profile):
    write_gomoku(tmp_path, WITH_SOLVER, profile=profile)
    measured, night = tmp_path / "docs/measured/gomoku_zero.json", tmp_path / "docs/measured/long.json"
    measured.parent.mkdir(parents=True)
    old = estimate(0.023, 300) | {"date": "2026-11-22", "player": "bare net", "profile": "laptop", "code": old_code}
    measured.write_text(json.dumps({"score_vs_minimax": old}))
    newer = {"ours": 0.75, "low": 0.4, "high": 0.9, "n": 10, "date": "2026-11-23"}
    night.write_text(json.dumps({"gomoku_zero": {"score_vs_minimax": newer}}))
    row = figures(tmp_path)["gomoku_zero"]["score_vs_minimax"]
    values = [one["ours"] for one in (row, *row["others"])]
    assert values == [0.5, behind, ({0.75, 0.023} - {behind}).pop()]


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        ({"amazons_net": {"score_vs_rnadom": {}}}, "amazons_net.score_vs_rnadom"),
        ({"amazons_net": {}, "amazons_nets": {}}, "amazons_nets"),
        ({"amazons_net": []}, "amazons_net"),
    ],
)
def test_profile_file_with_unknown_figure_is_refused_by_name(tmp_path, tree, named):
    write_measurements(tmp_path)
    (tmp_path / "docs/measured/overnight.json").write_text(json.dumps(tree))
    with pytest.raises(ZugwerkError, match=rf"overnight\.json: {named}: no figure of a system"):
        figures(tmp_path)


def test_committed_run_of_same_profile_is_shown_with_own_run(tmp_path):
    write_measurements(tmp_path)
    night = tmp_path / "docs/measured/overnight.json"
    night.rename(night.with_name("laptop.json"))
    row = figures(tmp_path)["amazons_net"]["score_vs_random"]
    assert [one["label"] for one in (row, *row["others"])] == ["laptop", "measured", "laptop, committed"]
    assert of_the_graph(row, "laptop") is row
    clone = figures(tmp_path, run=False)["amazons_net"]["score_vs_random"]
    assert [one["label"] for one in (clone, *clone["others"])] == ["measured", "laptop"]
    assert of_the_graph(clone) is None
    assert of_the_graph(clone, "laptop")["ours"] == 0.6


def test_times_of_the_last_run_are_not_committed(tmp_path):
    write_params(tmp_path)
    reports = tmp_path / "artifacts/reports/joseki"
    reports.mkdir(parents=True)
    (reports / "evaluate.timings.json").write_text(json.dumps({"encode_us": 0.4}))
    assert figures(tmp_path)["joseki"]["encode_us"]["ours"] == 0.4
    assert figures(tmp_path, run=False)["joseki"]["encode_us"]["ours"] is None


def test_every_figure_names_a_stage_and_its_report():
    stages = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    checked = 0
    for rows in REGISTRY.values():
        for name, figure in rows.items():
            if not figure.path:
                continue
            stage = stages[figure.stage].get("do", stages[figure.stage])
            metrics = [m if isinstance(m, str) else next(iter(m)) for m in stage["outs"]]
            patterns = [re.sub(r"\$\{(item|key)[\w.]*\}", "[^/]+", metric) for metric in metrics]
            assert any(re.fullmatch(pattern, figure.path) for pattern in patterns), name
            checked += 1
    assert checked > 10


def test_times_of_the_generations_are_read_from_their_timings(tmp_path):
    (tmp_path / "params.yaml").write_text('profile: laptop\ngomoku_generations: {"02": {before: "01"}}\n')
    reports = tmp_path / "artifacts/reports/gomoku/generations"
    reports.mkdir(parents=True)

    def write(number, **seconds):
        (reports / f"{number:02d}.json").write_text(json.dumps({"self_play": {"games": 100}}))
        (reports / f"{number:02d}.timings.json").write_text(json.dumps({"seconds": seconds}))

    write(1, self_play=1000, train=100, gate=100)
    assert figures(tmp_path)["gomoku_zero"]["train_hours"]["ours"] is None  # the second is not made yet
    write(2, self_play=800, train=800, gate=800)
    write(3, self_play=1, train=1, gate=1)  # left over from longer params
    found = figures(tmp_path)["gomoku_zero"]
    assert found["train_hours"]["ours"] == 1.0
    assert found["train_hours"]["published"] == 48
    assert found["self_play_games_per_hour"]["ours"] == 400
    assert found["self_play_games_per_hour"]["data"] == "its own games"
    (reports / "02.timings.json").write_text("{}")
    with pytest.raises(ZugwerkError, match=r"02.timings.json: damaged"):
        figures(tmp_path)


def test_nets_as_printed_are_labelled_and_kept_ones_come_second(tmp_path):
    tree = profile_tree("as_printed", ROOT)
    (tmp_path / "params.yaml").write_text(yaml12.dump(tree))
    made = {key: tree[key] for key in ("amazons_evaluate", "amazons_train", "amazons_archive")}
    metrics = {"nets": {"from_to_top1": estimate(0.2, 1000)}}
    path = report(tmp_path, "amazons/evaluate/soft_argmax.json", metrics, **made)
    (tmp_path / "docs/measured").mkdir(parents=True)
    row = figures(tmp_path)["amazons_net"]["from_to_top1"]
    assert (row["ours"], row["player"], row["label"]) == (0.2, "as printed", "as_printed")
    printed = {"ours": 0.2, "low": 0.1, "high": 0.3, "n": 1000, "player": "as printed"}
    for name, kept in (("as_printed", printed), ("overnight", {"ours": 0.35, "low": 0.3, "high": 0.4, "n": 10})):
        (tmp_path / f"docs/measured/{name}.json").write_text(json.dumps({"amazons_net": {"from_to_top1": kept}}))
    path.unlink()
    row = figures(tmp_path)["amazons_net"]["from_to_top1"]
    assert [(one["ours"], one["player"]) for one in (row, *row["others"])] == [(0.35, None), (0.2, "as printed")]


@pytest.mark.parametrize("name", ["joseki", "overnight"])
def test_damaged_measurement_comes_back_from_git(tmp_path, name):
    path = tmp_path / f"docs/measured/{name}.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"joseki": ')
    write_params(tmp_path)
    with pytest.raises(ZugwerkError, match=rf"{name}\.json: not valid JSON \(.*\); `git checkout` it"):
        figures(tmp_path)


# Every metric of a real run has a name of the table of units, and with it one unit; estimates have intervals.


REPORTS = ROOT / "docs/measured/laptop"
FILES = sorted(REPORTS.glob("*/**/*.json"))
PARENTS = {"rejects_by_reason", "winner_by", "sources", "by_variant", "skipped", "left_out"}
"""Keys whose own keys are words of the data, not names of metrics."""
ESTIMATED = ("score", "fraction", "F1", "Elo", "squared error", "squares left")
"""How the units of figures begin that are estimates."""
SCORES_AS_RATES = {"unbeaten_vs_fixed", "wins_vs_fixed", "cnn_unbeaten_vs_fixed", "cnn_unbeaten_vs_depth3"}
"""Figures given as fractions, whose metric is a score: without draws both are the same."""


def units():
    """Unit by name."""
    rows = csv.DictReader((ROOT / "pipeline_src/reference/units.csv").read_text(encoding="utf-8").splitlines())
    return [(name, row["unit"]) for row in rows for name in row["name"].split()]


UNITS = units()


def leaves(tree, path=()):
    """(path, number or estimate) of everything in a metrics file."""
    if isinstance(tree, dict) and not {"value", "low", "high"} <= set(tree):
        for key, inner in tree.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, tree


def name_of(path):
    """The name that the table has: the last key, with the one above where it is a number or a word of the data."""
    if re.fullmatch(r"\d+%?", path[-1]):
        return f"{path[-2]}.#"
    return f"{path[-2]}.{path[-1]}" if len(path) > 1 and path[-2] in PARENTS else path[-1]


def unit_of(name):
    fitting = [(len(pattern.replace("*", "")), unit) for pattern, unit in UNITS if fnmatchcase(name, pattern)]
    return max(fitting)[1] if fitting else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(REPORTS).as_posix())
def test_every_leaf_is_number_or_estimate_with_unit(path):
    tree = read_json(path)
    assert tree.pop(MADE_BY).keys() == {"stage", "code", "params"}
    for keys, leaf in leaves(tree):
        assert unit_of(name_of(keys)) is not None, (
            f"{'.'.join(keys)}: pipeline_src/reference/units.csv does not have it"
        )
        if isinstance(leaf, dict):
            assert set(leaf) == {"value", "low", "high", "n"}, keys
            numbers = [leaf[key] for key in ("low", "value", "high") if leaf[key] is not None]
            assert numbers == sorted(numbers), keys
            assert leaf["n"] >= 0, keys
        else:
            assert leaf is None or (isinstance(leaf, int | float) and not isinstance(leaf, bool)), keys


def test_names_in_the_table_are_unique():
    names = [name for name, _ in UNITS]
    assert len(names) == len(set(names))
    assert len(names) > 100


def figures_of_metrics():
    for system, rows in REGISTRY.items():
        for name, figure in rows.items():
            if figure.path:
                yield pytest.param(name, figure, id=f"{system}.{name}")


@pytest.mark.parametrize(("name", "figure"), figures_of_metrics())
def test_headline_figures_have_the_unit_and_interval_of_their_metric(name, figure):
    file, key = metric_of(figure, read_tree(ROOT / "params.yaml"))
    unit = "score" if name in SCORES_AS_RATES else figure.unit
    assert unit.startswith(unit_of(name_of(key.split("."))))
    found = at(read_json(REPORTS / file.removeprefix("artifacts/reports/")), key)
    assert isinstance(found, dict) == figure.unit.startswith(ESTIMATED)


ESTIMATE = {"value": 0.4, "low": 0.3, "high": 0.5, "n": 90}


@pytest.fixture
def pick(tmp_path, monkeypatch):
    """Runs the stage for the Amazons' reports; gives what it wrote."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("amazons_match: {loss: soft_argmax}\n")

    def run(reports):
        for name, content in reports.items():
            path = tmp_path / "artifacts/reports/amazons" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))
        headlines.main("--system", "amazons")
        return json.loads((tmp_path / "artifacts/reports/amazons.headlines.json").read_text())["amazons"]

    return run


def test_figures_are_as_in_the_reports_of_the_chosen_reading(pick):
    nets = {"evaluate/soft_argmax.json": {"nets": {"from_to_top1": ESTIMATE, "value_brier": ESTIMATE}}}
    other = {"evaluate/cross_entropy.json": {"nets": {"from_to_top1": ESTIMATE | {"value": 0.45}}}}
    found = pick(nets | other | {"match.json": {"alphabeta": {"score": ESTIMATE | {"n": 10}, "wins": 4}}})
    assert found == {"from_to_top1": ESTIMATE, "score_vs_alphabeta": ESTIMATE | {"n": 10}, "residual_turn_top1": None}


def test_each_system_in_dvc_yaml_has_figures_of_the_graph():
    stages = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    chosen = {system.word: (name, system.metrics) for name, system in SYSTEMS.items() if system.metrics}
    loss = {"amazons_match": {"loss": "${amazons_match.loss}"}}
    for word, (name, shown) in chosen.items():
        deps = {metric_of(REGISTRY[name][figure], loss)[0] for figure in shown}
        assert set(stages[f"{word}_headlines"]["deps"]) == deps
    assert sum(len(shown) for _, shown in chosen.values()) <= 15


def test_dvc_shows_the_headlines_and_no_other_report():
    stages = yaml12.parse((ROOT / "dvc.yaml").read_text())["stages"]
    metrics = {name for name, stage in stages.items() if "metrics" in stage.get("do", stage)}
    assert metrics == {f"{system.word}_headlines" for system in SYSTEMS.values() if system.metrics}

import csv
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import write_records
from pipeline_src.report.figures import REGISTRY
from pipeline_src.stages import joseki_build, joseki_evaluate
from pipeline_src.systems.joseki import build
from pipeline_src.systems.joseki.build import Builder
from pipeline_src.systems.joseki.library import load
from tests.systems.joseki.games import random_record
from tests.systems.joseki.test_library import built, same

GAMES = [random_record(seed) for seed in range(40)]
PARAMS = {
    "seed": 7,
    "joseki_build": {"moves": 20, "fewest_games": 2},
    "joseki_evaluate": {"held_out": 0.25, "positions": 100, "shown_ply": 6},
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_records(GAMES, joseki_build.GAMES)

    def run(stage, **changes):
        params = {
            key: value | changes.get(key, {}) if isinstance(value, dict) else value for key, value in PARAMS.items()
        }
        (tmp_path / "params.yaml").write_text(yaml12.dump(params))
        stage.main()
        kept = [p for p in sorted(tmp_path.rglob("artifacts/**/*")) if p.is_file() and ".timings." not in p.name]
        return {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in kept}

    return run


def table(name):
    with open(joseki_build.REPORTS / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


def test_library_and_counts_match_the_games(project):
    project(joseki_build)
    whole, kept = load(joseki_build.MODELS / "whole.joseki"), load(joseki_build.MODELS / "library.joseki")
    assert same(whole, built(GAMES))
    assert same(kept, built(GAMES, 2))
    metrics = json.loads((joseki_build.REPORTS / "build.json").read_text())
    assert metrics["games"] == metrics["sources"]["file"] == 40
    assert metrics["encodings"] == whole.seen.sum()
    assert metrics["patterns"] == (whole.seen > 0).sum()
    assert metrics["transitions"] == whole.transitions
    assert metrics["kept"] == {"patterns": kept.states, "transitions": kept.transitions}
    assert metrics["clashes_unresolved"] == metrics["clashes_ours"] == 0
    assert metrics["names_zobrist"] > metrics["names_gu"] > metrics["patterns"]
    growth = table("growth")
    assert len(growth) == 20
    assert {key: int(growth[-1][key]) for key in ("games", "encodings", "transitions")} == {
        key: metrics[key] for key in ("games", "encodings", "transitions")
    }
    games = [int(row["games"]) for row in growth]
    assert games == sorted(games)


def test_recommender_is_tested_on_unseen_games(project):
    project(joseki_evaluate)
    metrics = json.loads((joseki_evaluate.REPORTS / "evaluate.json").read_text())
    assert metrics["games"] + metrics["held_out"] == 40
    assert 0 < metrics["recommend_top1"]["value"] <= metrics["recommend_top3"]["value"] <= metrics["hit_rate"]["value"]
    assert metrics["hit_rate"]["value"] < metrics["whole"]["hit_rate"]["value"] < 1
    assert metrics["either_top3"]["value"] >= metrics["recommend_top3"]["value"]
    assert metrics["lookups"]["found"]["value"] == 1.0
    assert metrics["lookups"]["found_by_paper"]["value"] < 1.0
    rows = table("accuracy")
    assert [int(row["number"]) for row in rows] == list(range(1, 21))
    assert sum(int(row["moves"]) for row in rows) == metrics["moves"] == metrics["hit_rate"]["n"]
    assert float(rows[0]["hit_rate"]) == 1.0
    ET.fromstring((joseki_evaluate.REPORTS / "recommend.svg").read_text())
    assert table("recommend")[0]["rank"] == "1"
    times = json.loads((joseki_evaluate.REPORTS / "evaluate.timings.json").read_text())
    assert {"encode_us", "canonical_us", "lookup_us", "lookup_paper_us"} <= set(times)


def test_copies_of_games_are_tested_once(project):
    project(joseki_evaluate)
    files = ("evaluate.json", "accuracy.csv")
    before = [(joseki_evaluate.REPORTS / name).read_bytes() for name in files]
    copies = [replace(game, gid=1000 + game.gid, actions=(*game.actions[:-1], 361, 361)) for game in GAMES]
    write_records([*GAMES, *copies, *(replace(game, gid=2000 + game.gid) for game in GAMES)], joseki_build.GAMES)
    project(joseki_evaluate)
    assert [(joseki_evaluate.REPORTS / name).read_bytes() for name in files] == before


def test_every_figure_of_the_registry_is_among_the_metrics(project):
    for stage in (joseki_build, joseki_evaluate):
        files = set(project(stage))
    for figure in REGISTRY["joseki"].values():
        value = json.loads(Path(figure.path or figure.times).read_text())
        for part in figure.key.split("."):
            value = value[part]
        assert value is not None
        assert figure.path in files or figure.times.endswith(".timings.json")


@pytest.mark.parametrize("stage", [joseki_build, joseki_evaluate])
def test_same_games_give_same_bytes_for_any_portions(project, monkeypatch, stage):
    first = project(stage)
    monkeypatch.setattr(build, "GAMES_AT_ONCE", 7)
    assert project(stage) == first


def test_shorter_sequences_make_smaller_libraries(project):
    project(joseki_build)
    longer = load(joseki_build.MODELS / "whole.joseki").transitions
    project(joseki_build, joseki_build={"moves": 5})
    assert load(joseki_build.MODELS / "whole.joseki").transitions < longer
    assert Builder(load(joseki_build.MODELS / "whole.joseki")).library().states > 0


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"joseki_build": {"moves": 0}}, "moves must be 1 to 100, not 0"),
        ({"joseki_build": {"moves": 500}}, "moves must be 1 to 100, not 500"),
        ({"joseki_build": {"fewest_games": 0}}, "fewest_games must be at least 1"),
        ({"joseki_build": {"corner": 9}}, "joseki_build.corner: unknown key"),
        ({"joseki_evaluate": {"held_out": 1.0}}, "held_out must be above 0 and below 1"),
        ({"joseki_evaluate": {"positions": 0}}, "positions must be at least 1"),
        ({"joseki_evaluate": {"held_out": 0.0001}}, "40 games are too few to hold out 0.0001"),
    ],
)
def test_bad_params_are_named(project, changes, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        project(joseki_evaluate, **changes)


def test_an_archive_without_games_is_named(project):
    write_records([], joseki_build.GAMES)
    with pytest.raises(ZugwerkError, match=r"games.parquet: no games"):
        project(joseki_build)

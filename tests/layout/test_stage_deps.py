"""Every first-party file that a stage imports, directly or not, is among its deps: `dvc repro` has to see a change."""

from pathlib import Path

import pytest
import yaml

from tests.layout.imports import ROOT, modules, reached

ENGINE = ["games.amazons", "players.amazons_basic", "players.alphabeta", "players.uct"]
ZERO = ["games.gomoku", "players.zero"]
BASELINES = ["players.gomoku_basic", "players.gomoku_alphabeta", "players.minimax", "players.mcts"]
BY_NAME = {
    "amazons_crawl": ["spiders.replica.__main__"],
    "amazons_archive": [f"pipeline_src.{name}" for name in ENGINE],
    "amazons_match": [f"pipeline_src.{name}" for name in [*ENGINE, "players.amazons_nets", "players.puct"]],
    "depth_label": ["pipeline_src.games.amazons"],
    "depth_match": [f"pipeline_src.{name}" for name in ["games.amazons", "players.depth_net_choice", "players.depth"]],
    "gomoku_first": [f"pipeline_src.{name}" for name in ZERO],
    "gomoku_generation": [f"pipeline_src.{name}" for name in ZERO],
    "growing_first": [f"pipeline_src.{name}" for name in ZERO],
    "growing_board": [f"pipeline_src.{name}" for name in ZERO],
    "growing_evaluate": [f"pipeline_src.{name}" for name in [*ZERO, *BASELINES]],
    "gomoku_evaluate": [f"pipeline_src.{name}" for name in [*ZERO, *BASELINES]],
}
"""What a stage imports by a name that its source does not show: games and players."""
PACKAGE = {f"pipeline_src/{name}.py" for name in ("__init__", "errors", "orphans", "stages/__init__")}
"""Imported by all; they change no output: the version, the cache folder, how errors look, how processes end."""

STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]


def definition(name):
    stage = STAGES[name]
    return stage.get("do", stage)


def stage_module(name):
    words = definition(name)["cmd"].split()
    assert words[:2] == ["python", "-m"], f"{name}: expected python -m MODULE"
    return words[2]


def listed(name):
    return [Path(d) for d in definition(name).get("deps", [])]


@pytest.mark.parametrize("name", STAGES)
def test_every_imported_file_is_a_dep(name):
    roots = [stage_module(name), *BY_NAME.get(name, [])]
    needed = {p.relative_to(ROOT) for p in reached(*(modules()[root] for root in roots))}
    needed = {p for p in needed if p.as_posix() not in PACKAGE and not (p.name == "__init__.py" and _only_prose(p))}
    missing = sorted(p.as_posix() for p in needed if not any(p == d or d in p.parents for d in listed(name)))
    assert not missing, f"add to the deps of {name} in dvc.yaml:\n" + "\n".join(f"      - {m}" for m in missing)


@pytest.mark.parametrize("name", STAGES)
def test_every_code_dep_is_imported(name):
    """A dep that is not used would rerun the stage for nothing."""
    files = {
        p.relative_to(ROOT) for p in reached(*(modules()[r] for r in [stage_module(name), *BY_NAME.get(name, [])]))
    }
    code = [d for d in listed(name) if d.parts[0] in ("pipeline_src", "spiders") and d.suffix in ("", ".py")]
    unused = [d.as_posix() for d in code if not any(d == f or d in f.parents for f in files)]
    assert not unused, f"{name}: {unused}"


@pytest.mark.parametrize("name", STAGES)
def test_stage_reads_only_params_it_lists(name):
    """A stage's params section is one of those that dvc watches for it."""
    source = (ROOT / (stage_module(name).replace(".", "/") + ".py")).read_text()
    params = [p if isinstance(p, str) else next(iter(p)) for p in definition(name).get("params", [])]
    for section in yaml.safe_load((ROOT / "params.yaml").read_text()):
        if section != "parallel" and (f'"{section}"' in source):
            assert any(p == section or p.startswith(f"{section}.") for p in params), f"{name} reads {section}"


def _only_prose(path):
    return len(__import__("ast").parse((ROOT / path).read_text()).body) <= 1

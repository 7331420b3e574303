"""The layers import one way, and what must run on a bare machine imports only what is there."""

import ast
import sys

import pytest

from tests.layout.imports import first_party, imported, modules

ANYONE = {"", "errors", "files", "orphans", "parallel", "params"}
"""May be imported by every layer; `` is the package itself."""
MAY_IMPORT = {
    "games": set(),
    "records": {"games"},
    "search": {"games"},
    "nets": set(),
    "samples": {"games", "records"},
    "training": {"nets", "samples", "records", "games"},
    "players": {"games", "search", "nets", "samples"},
    "arena": {"games", "players", "samples", "records"},
    "joseki": {"games", "records"},
    "report": {"games", "records", "nets", "samples", "players", "arena", "cycle", "joseki"},
    "stages": {
        "cycle",
        "games",
        "records",
        "search",
        "nets",
        "samples",
        "training",
        "players",
        "arena",
        "report",
        "joseki",
        "spiders",
    },
    "cycle": {"games", "records", "search", "nets", "samples", "training", "players", "arena"},
    "cli": {"games", "records", "search", "nets", "samples", "players", "arena", "report", "joseki"},
    "reference": {"cli", "report"},
    "errors": set(),
    "files": set(),
    "orphans": set(),
    "parallel": set(),
    "params": {"games"},
    "": set(),
    "spiders": {"records"},
    "flows": {"report"},
}
BARE = ("games", "joseki", "search", "nets", "samples", "training", "players", "arena", "cycle", "params", "records")
BARE_STAGES = ("amazons_samples", "amazons_train", "depth_train", "gomoku_generation", "gomoku_cycle", "growing_board")
ON_A_BARE_MACHINE = {"torch", "lightning", "numba", "numpy", "yaml"}


def layer(name):
    parts = name.split(".")
    if parts[0] != "pipeline_src":
        return parts[0]
    return parts[1] if len(parts) > 1 else ""


@pytest.mark.parametrize("name", modules())
def test_layers_import_one_way(name):
    own = layer(name)
    allowed = MAY_IMPORT[own] | ANYONE | {own}
    for path in first_party(modules()[name]):
        target = next(n for n, p in modules().items() if p == path)
        assert layer(target) in allowed, f"{name} imports {target}: {own} may import {sorted(MAY_IMPORT[own])}"


@pytest.mark.parametrize("name", modules())
def test_the_package_knows_neither_dvc_nor_prefect(name):
    if layer(name) != "flows":
        roots = {i.split(".")[0] for i in imported(modules()[name])}
        assert not roots & {"prefect", "dvc"}, f"{name} imports them"


def test_stages_are_imported_by_nobody():
    for name, path in modules().items():
        for target in imported(path):
            assert not target.startswith("pipeline_src.stages."), f"{name} imports {target}"


@pytest.mark.parametrize(
    "name", [n for n in modules() if layer(n) in BARE] + [f"pipeline_src.stages.{s}" for s in BARE_STAGES]
)
def test_what_runs_on_a_bare_machine_imports_the_rest_only_where_it_is_used(name):
    """Read from the source: torch and lightning themselves look for some of these packages when they are imported."""
    at_import = [node for node in ast.parse(modules()[name].read_text()).body if not isinstance(node, ast.FunctionDef)]
    roots = set()
    for node in at_import:
        if isinstance(node, ast.Import):
            roots |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add(node.module.split(".")[0])
    assert roots <= {*sys.stdlib_module_names, "pipeline_src", *ON_A_BARE_MACHINE}

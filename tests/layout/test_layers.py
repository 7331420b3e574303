"""The rooms: what may import what, read from the sources."""

import ast

from tests.layout.imports import ROOT, imported, modules, parsed

SYSTEMS = ["gomoku_zero", "amazons_net", "growing_boards", "joseki", "search_depth"]
LAYERS = [
    *("errors", "described", "files", "interrupts", "orphans", "streams", "yaml12", "project", "jit"),
    *("games", "records", "search", "parallel", "learning", "players", "arena"),
    *(f"systems.{system}" for system in SYSTEMS),
    *("report", "reference", "web", "spiders", "cli", "stages", "flows"),
]
"""The rooms from the cellar to the roof: each may import those before it."""
CELLAR = set(LAYERS[: LAYERS.index("games")])
"""Rooms that anything may import."""
NARROW = {
    "records": {"games"},
    "search": {"games"},
    "parallel": set(),
    "learning": {"games"},
    "players": {"games", "search"},
    **{f"systems.{system}": set(LAYERS[LAYERS.index("games") : LAYERS.index("arena") + 1]) for system in SYSTEMS},
    "spiders": {"records", "games"},
    "flows": {"report", "cli"},
}
"""Rooms that import less than the layers let them, and what they may import besides the cellar."""
NARROW["systems.growing_boards"] |= {"systems.gomoku_zero"}
UPWARD = {("reference", "cli")}
"""The page of the commands shows their help."""


def room(name):
    """The room that a module belongs to; it is empty for a package around rooms."""
    top, *rest = name.split(".")
    if top != "pipeline_src":
        return top
    return ".".join(rest[:2]) if rest[:1] == ["systems"] and len(rest) > 1 else rest[0] if rest else ""


def arrows():
    """Every module's own room, and that of each first-party module that it imports, where they differ."""
    for name in modules():
        for target in imported(name) & modules().keys():
            own, other = room(name), room(target)
            if other != own and "" not in (own, other) and "systems" not in (own, other):
                yield own, other, f"{name} imports {target}"


def test_packages_import_downward():
    upward = {(own, other) for own, other, _ in arrows() if LAYERS.index(other) > LAYERS.index(own)}
    assert upward == UPWARD


def test_packages_import_from_the_defining_module():
    wrong = [
        told for own, other, told in arrows() if own in NARROW and other not in CELLAR and other not in NARROW[own]
    ]
    assert not wrong, "\n".join(wrong)


def test_every_package_has_a_layer():
    assert {room(name) for name in modules()} - {"", "systems"} == set(LAYERS)
    assert {path.parent.name for path in (ROOT / "pipeline_src/systems").glob("*/declaration.py")} == set(SYSTEMS)


def test_no_module_imports_itself_by_way_of_others():
    graph = {name: imported(name) & modules().keys() - {name} for name in modules()}
    before = None
    while graph.keys() != before:
        before = set(graph)
        graph = {name: targets & graph.keys() for name, targets in graph.items() if targets & graph.keys()}
    assert not graph, f"among these is a cycle of imports: {sorted(graph)}"


def test_package_imports_no_dvc_prefect_or_stages():
    for name, path in modules().items():
        nodes = list(ast.walk(parsed(path)))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert room(name) == "flows" or not {n.split(".")[0] for n in names} & {"prefect", "dvc"}, name
        assert not any(t.startswith("pipeline_src.stages.") and t != name for t in imported(name)), name


def test_kernels_are_compiled_by_the_packages_own_njit():
    """numba's own would meet a stale kernel after an edit of another file (`pipeline_src.jit`)."""
    wrong = [name for name in modules() if "numba.njit" in imported(name) and name != "pipeline_src.jit"]
    assert not wrong


def test_imports_are_absolute():
    for name, path in modules().items():
        nodes = ast.walk(parsed(path))
        assert all(node.level == 0 for node in nodes if isinstance(node, ast.ImportFrom)), name

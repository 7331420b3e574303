"""The rooms: what may import what, read from the sources."""

import ast

from tests.layout.imports import ROOT, imported, modules

JIT = {"jit", "jit.cache", "jit.choice", "jit.needs", "jit.parts", "jit.progress"}
LEAVES = {"files", "errors", "interrupts", "orphans", "streams", "project.code", "project.params"} | JIT
"""Modules below pipeline_src that anything may import."""
ENGINE = {
    "games": set(),
    "records": {"games"},
    "search": {"games"},
    "parallel": set(),
    "learning": {"games"},
    "players": {"games", "search"},
    "arena": {"games", "records", "search", "players", "learning", "parallel"},
}
"""Packages of the engine, and those of it that each may import."""
SYSTEMS = {"amazons_net", "gomoku_zero", "growing_boards", "search_depth", "joseki"}
MAY_IMPORT = {
    **ENGINE,
    **{f"systems.{system}": set(ENGINE) for system in SYSTEMS},
    "report": {*ENGINE, *(f"systems.{system}" for system in SYSTEMS), "project"},
    "project": {*ENGINE, *(f"systems.{system}" for system in SYSTEMS), "report"},
    "web": {*ENGINE, *(f"systems.{system}" for system in SYSTEMS), "report", "project"},
    "cli": {*ENGINE, *(f"systems.{system}" for system in SYSTEMS), "report", "project", "web", "spiders"},
    "stages": {*ENGINE, *(f"systems.{system}" for system in SYSTEMS), "report", "project", "spiders"},
    "spiders": {"records", "games"},
    "flows": {"report", "project", "cli"},
}
MAY_IMPORT["systems.growing_boards"] |= {"systems.gomoku_zero"}
EXCEPTIONS = {
    ("pipeline_src.project.reference.commands", "pipeline_src.cli.app"),  # the page of the commands shows their help
    ("pipeline_src.cli.__main__", "pipeline_src.cli.app"),
    ("spiders.commands.crawl", "pipeline_src.cli.crawl"),  # the same command under Scrapy's name
    *(  # and that of the server's messages their models
        ("pipeline_src.project.reference.web", f"pipeline_src.web.{name}")
        for name in ("app", "incoming", "messages.analyse", "messages.play", "play", "settings")
    ),
}


def room(name):
    """The package of MAY_IMPORT that a module belongs to; a leaf is its own, and the package itself is empty."""
    top, *rest = name.split(".")
    if top != "pipeline_src":
        return top
    inner = ".".join(rest)
    if inner in LEAVES or not rest:
        return inner
    return ".".join(rest[:2]) if rest[0] == "systems" and len(rest) > 1 else rest[0]


def test_rooms_import_one_way():
    wrong = []
    for name in modules():
        own = room(name)
        for target in imported(name) & modules().keys():
            other = room(target)
            free = other in LEAVES or other == "" or other == own or own in LEAVES or (name, target) in EXCEPTIONS
            if not free and other not in MAY_IMPORT.get(own, set()):
                wrong.append(f"{name} imports {target}: {own} may import {sorted(MAY_IMPORT.get(own, set()))}")
    assert not wrong, "\n".join(wrong)


def test_leaves_import_leaves_alone():
    names = {f"pipeline_src.{leaf}" for leaf in LEAVES} | {"pipeline_src"}
    for name in names:
        assert imported(name) & modules().keys() <= names, name


def test_every_room_is_known():
    rooms = {room(name) for name in modules()} - LEAVES - {"", "systems"}
    assert rooms <= MAY_IMPORT.keys()
    assert {r.partition(".")[2] for r in rooms if r.startswith("systems.")} == SYSTEMS


def test_no_module_imports_itself_by_way_of_others():
    graph = {name: imported(name) & modules().keys() - {name} for name in modules()}
    before = None
    while graph.keys() != before:
        before = set(graph)
        graph = {name: targets & graph.keys() for name, targets in graph.items() if targets & graph.keys()}
    assert not graph, f"among these is a cycle of imports: {sorted(graph)}"


def test_the_package_knows_neither_dvc_nor_prefect_and_nobody_imports_stages():
    for name, path in modules().items():
        nodes = list(ast.walk(ast.parse(path.read_text())))
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
        nodes = ast.walk(ast.parse(path.read_text()))
        assert all(node.level == 0 for node in nodes if isinstance(node, ast.ImportFrom)), name


def test_each_system_has_its_params_and_each_stage_its_script():
    for system in SYSTEMS:
        assert (ROOT / "pipeline_src/systems" / system / "params.py").is_file()

"""The page of the stages that run again after a change of params.yaml."""

from collections.abc import Iterator, Mapping, Set
from functools import partial
from pathlib import Path
from typing import Any

from pipeline_src.project.graph import CODE, GRAPH, Stage, overlap, reached, read_graph
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.reference.tables import NOTE, code, table

INTRO = f"""# What runs again

{NOTE}

`dvc repro` runs a stage again when a parameter, its code or an input of it has changed, and then those that read its
outputs, if these have changed. `zugwerk status` lists the stages that would run now, and why.

The stage `code` writes the digests of code at the start of a run. `dvc status` and `dvc repro --dry` see every change
of params and files, but of code only what was edited before the last run. `zugwerk status` first brings the digests up
to date (`dvc repro --single-item code`); until the next edit DVC's own commands then say the same.

A row of the table is about the key and everything below it; NAME is any item, `report_*` stands for all stages of that
beginning. `dvc dag` draws which stages read which.

"""
CODE_OF_STAGES = """
A key with no stage changes no output of the graph: `parallel`, for one, says how many processes work.

A stage's code is its module, the players that its params name, and all first-party modules that these import; comments,
docstrings and blank lines do not count. `zugwerk code STAGE` lists the files, `zugwerk code STAGE --why FILE` shows
which imports lead to a file. After an edit `zugwerk status` lists the stages that run it.
"""


def graph_page(folder: Path = Path()) -> str:
    """Return the page's text, for the dvc.yaml and the params.yaml of ``folder``."""
    graph, params = read_graph(folder / GRAPH), read_tree(folder / PARAMS_FILE)
    stages = {name: stage for name, stage in graph.items() if name != CODE}
    head = ["key of params.yaml", "runs again", "and then, where its outputs differ"]
    return INTRO + "\n".join(table(head, _keys(stages, params))) + "\n" + CODE_OF_STAGES


def _keys(stages: Mapping[str, Stage], params: Mapping[str, Any]) -> Iterator[list[str]]:
    for section in params:
        readers: dict[str, set[str]] = {section: set()}
        for target, keys in ((target, stage.keys_of(target)) for stage in stages.values() for target in stage.listed):
            for key in filter(partial(overlap, section), keys):
                shown, name = _shown(key, target)
                readers.setdefault(shown, set()).add(name)
        rows: dict[frozenset[str], list[str]] = {}
        for key in sorted(readers):
            above = {name for other in readers if key.startswith(f"{other}.") for name in readers[other]}
            if not readers[key] <= above or len(readers) == 1:
                rows.setdefault(frozenset(above | readers[key]), []).append(code(key))
        for first, names in rows.items():
            groups = {name.partition("@")[0] for name in first}
            yield [", ".join(names), _targets(stages, first), _listed(stages, reached(stages, groups) - groups)]


def _shown(key: str, target: str) -> tuple[str, str]:
    """A key and a target with NAME in place of the item that both name."""
    group, _, item = target.partition("@")
    parts = key.split(".")
    if item not in parts:
        return key, target
    return ".".join("NAME" if part == item else part for part in parts), f"{group}@NAME"


def _targets(stages: Mapping[str, Stage], targets: Set[str]) -> str:
    """Stages, and of a `foreach` the members where not all of them are meant."""
    whole: set[str] = set()
    some: list[str] = []
    for name, stage in stages.items():
        if stage.listed.keys() <= targets:
            whole.add(name)
        else:
            some += [target for target in (f"{name}@NAME", *stage.listed) if target in targets]
    return ", ".join([*map(code, some), *([_listed(stages, whole)] if whole or not some else [])])


def _listed(stages: Mapping[str, Stage], names: set[str]) -> str:
    """Stages in the order of the graph; those of one beginning together where all of several are meant."""
    if names and names == set(stages):
        return "every stage"
    groups: dict[str, list[str]] = {}
    for name in stages:
        groups.setdefault(name.partition("_")[0], []).append(name)
    shown: list[str] = []
    for beginning, group in groups.items():
        together = len(group) > 1 and names.issuperset(group)
        shown += [f"{beginning}_*"] if together else [name for name in group if name in names]
    return ", ".join(map(code, shown)) or "-"

"""The page of what runs again after a change: of params.yaml, of a package, of a stage's outputs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline_src.project.code import CHANGE_NO_OUTPUT, this_code
from pipeline_src.project.graph import CODE, GRAPH, Stage, reached, read_graph, reading_section
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.reference.tables import NOTE, code, table
from pipeline_src.project.stage_code import closure

INTRO = f"""# What runs again

{NOTE}

`dvc repro` runs a stage again when a parameter, its code or an input of it has changed, and then those that read its
outputs, as far as these have come out otherwise. `dvc repro --dry` tells what would run now.

"""
SECTIONS = """
A section with no stage changes no output of the graph: `parallel`, for one, says how many processes work.

## Code

A stage's code is its module, the players that its params name, and all first-party modules that these import; comments,
docstrings and blank lines do not count. `zugwerk code STAGE` lists the files, `zugwerk code STAGE --why FILE` tells how
a file comes to be among them.

"""
STAGES = """
## Stages

"""


def graph_page(folder: Path = Path()) -> str:
    """The page's text, for the dvc.yaml and the params.yaml of ``folder``."""
    graph, params = read_graph(folder / GRAPH), read_tree(folder / PARAMS_FILE)
    stages = {name: stage for name, stage in graph.items() if name != CODE}
    head = ["section of params.yaml", "runs again", "and then, where its outputs differ"]
    text = INTRO + "\n".join(table(head, _sections(stages, params))) + "\n" + SECTIONS
    text += "\n".join(table(["code of", "runs again"], _packages(stages, params))) + "\n" + STAGES
    return text + "\n".join(table(["stage", "reads, of other stages"], _inputs(stages))) + "\n"


def packages(stages: Mapping[str, Stage], params: Mapping[str, Any]) -> dict[str, set[str]]:
    """Stages whose code includes some module in a package, beside its ``__init__``, by the package's name."""
    found: dict[str, set[str]] = {}
    for name, stage in stages.items():
        for module in set(closure(stage, params)) - CHANGE_NO_OUTPUT:
            path = this_code().file(module)
            if path is not None and path.name != "__init__.py":
                found.setdefault(module.rpartition(".")[0], set()).add(name)
    return dict(sorted(found.items()))


def _sections(stages: Mapping[str, Stage], params: Mapping[str, Any]) -> Iterator[list[str]]:
    for section in params:
        first = reading_section(stages, section)
        yield [code(section), _listed(stages, first), _listed(stages, reached(stages, first) - first)]


def _packages(stages: Mapping[str, Stage], params: Mapping[str, Any]) -> Iterator[list[str]]:
    for package, names in packages(stages, params).items():
        yield [code(package.replace(".", "/")), _listed(stages, names)]


def _inputs(stages: Mapping[str, Stage]) -> Iterator[list[str]]:
    for name, stage in stages.items():
        before = {o for o, one in stages.items() if o != name and any(stage.reads(out) for out in one.outs)}
        yield [code(name), _listed(stages, before)]


def _listed(stages: Mapping[str, Stage], names: set[str]) -> str:
    if names and names == set(stages):
        return "every stage"
    return ", ".join(code(name) for name in stages if name in names) or "-"

"""The page of all commands: zugwerk, make, the stages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from pipeline_src.cli.app import app
from pipeline_src.project.params import read_tree, sentence
from pipeline_src.reference.tables import NOTE, code, table

INTRO = f"""# Commands

{NOTE}

[zugwerk](#zugwerk) plays, measures and shows; [make](#make) sets up and runs whole things; `dvc repro` makes what
[stages](#stages) make, and no stage needs DVC to run. The Prefect flows and their options are in
[flows.md](../flows.md), the texts that name players (`alphabeta:depth=3`) in [engine.md](../engine.md#players) and
[gomoku.md](../gomoku.md#players).

"""
STAGES = """## stages

`dvc repro STAGE` brings a stage and what it needs up to date; a stage for each of several models or generations is
`STAGE@NAME`, and `dvc repro STAGE` is all of them. `python -m pipeline_src.stages.amazons_match` runs just this one,
whatever is out of date; `gomoku_first` is `gomoku_generation --number 1`, `growing_first` `growing_board --size SIZE`.

"""

ZUGWERK = """## zugwerk

`--help` or `-h` after a command shows its arguments and options.

"""


def commands_page(folder: Path = Path()) -> str:
    """Return the page's text, for the Makefile, dvc.yaml and stages of ``folder``."""
    lines = [
        *INTRO.splitlines(),
        "## make",
        "",
        *table(["target", "what it does"], _targets(folder / "Makefile")),
        "",
        *STAGES.splitlines(),
        *table(["stage", "what it makes"], _stages(folder)),
        "",
    ]
    rows = _commands(typer.main.get_command(app), "zugwerk")
    return "\n".join([*lines, *ZUGWERK.splitlines(), *table(["command", "what it does", "example"], rows)]) + "\n"


def _commands(command: Any, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each command below a group, the first sentence of its help, and its example."""
    for below in command.commands.values():
        if hasattr(below, "commands"):
            yield from _commands(below, f"{name} {below.name}")
        else:
            example = re.search(r"Example: (zugwerk .+)", f"{below.help}\n{below.epilog}")
            first = sentence((below.help or "").partition("Example: ")[0]).partition(". ")[0].rstrip(".")
            yield code(f"{name} {below.name}"), f"{first}.", code(example[1].rstrip(".")) if example else ""


def _targets(makefile: Path) -> list[tuple[str, str]]:
    found = re.findall(r"^([a-z_-]+):.*?## (.+)$", makefile.read_text(encoding="utf-8"), re.MULTILINE)
    return [(code(f"make {name}"), text) for name, text in found]


def _stages(folder: Path) -> list[tuple[str, str]]:
    rows = []
    stages = read_tree(folder / "dvc.yaml")["stages"]
    for name, definition in stages.items():
        command = definition.get("do", definition)["cmd"]
        path = folder / (command.split()[2].replace(".", "/") + ".py")
        text = sentence(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))))
        about = re.sub(r"^Stage \w+: ", "", text)
        many = "@NAME" if "foreach" in definition else ""
        rows.append((code(name + many), about[:1].upper() + about[1:]))
    return rows

"""The page of all commands: zugwerk, make, the stages."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import typer
import yaml

from pipeline_src.cli.app import app
from pipeline_src.project.params import sentence
from pipeline_src.reference.tables import NOTE, code, table

INTRO = f"""# Commands

{NOTE}

[zugwerk](#zugwerk) plays, measures and shows; [make](#make) sets up and runs whole things; `dvc repro` makes what
[stages](#stages) make, and no stage needs DVC to run. The Prefect flows and their options are in
[flows.md](../flows.md), the texts that name players (`alphabeta:depth=3`) in [engine.md](../engine.md#players) and
[gomoku.md](../gomoku.md#players). `--help` or `-h` explains each command.

"""
STAGES = """## stages

`dvc repro STAGE` brings a stage and what it needs up to date; a stage for each of several models or generations is
`STAGE@NAME`, and `dvc repro STAGE` is all of them. The command alone runs just this, whatever is out of date.

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
        *table(["stage", "command", "what it makes"], _stages(folder)),
        "",
    ]
    root = typer.main.get_command(app)
    return "\n".join([*lines, *_command(root, typer.Context(root), "zugwerk", 2)]) + "\n"


def _command(command: Any, context: typer.Context, name: str, level: int) -> list[str]:
    """Return the lines of a command and its subcommands: help, example, arguments and options."""
    text, _, example = (command.help or "").partition("Example: ")
    example = example or (command.epilog or "").removeprefix("Example: ")
    example, _, more = example.partition("\n\n")
    pieces = [
        p.strip("{}").upper() for p in command.collect_usage_pieces(context) if p not in ("[OPTIONS]", "[ARGS]...")
    ]
    heading = name if hasattr(command, "commands") else " ".join([name, *pieces])
    lines = [f"{'#' * level} {heading}", "", *inspect.cleandoc(text.strip()).splitlines(), ""]
    lines += [*more.splitlines(), ""] if more else []
    lines += ["```sh", example.strip().rstrip("."), "```", ""] if example else []
    records = [p.get_help_record(context) for p in command.params if "--help" not in p.opts]
    rows = [(code(record[0]), record[1]) for record in records if record]
    lines += [*table(["argument, option", "meaning"], rows), ""] if rows else []
    for below in getattr(command, "commands", {}).values():
        lines += _command(below, context, f"{name} {below.name}", level + 1)
    return lines


def _targets(makefile: Path) -> list[tuple[str, str]]:
    found = re.findall(r"^([a-z_-]+):.*?## (.+)$", makefile.read_text(encoding="utf-8"), re.MULTILINE)
    return [(code(f"make {name}"), text) for name, text in found]


def _stages(folder: Path) -> list[tuple[str, str, str]]:
    rows = []
    stages = yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    for name, definition in stages.items():
        command = definition.get("do", definition)["cmd"]
        path = folder / (command.split()[2].replace(".", "/") + ".py")
        text = sentence(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))))
        about = re.sub(r"^Stage \w+: ", "", text)
        shown = re.sub(r"\$\{(?:\w+\.)?(\w+)\}", lambda m: "NAME" if m[1] in ("item", "key") else m[1].upper(), command)
        many = "@NAME" if "foreach" in definition else ""
        rows.append((code(name + many), code(shown), about[:1].upper() + about[1:]))
    return rows

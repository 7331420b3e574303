"""``zugwerk code``: the source files behind a stage, and the chain of imports that leads to a file."""

from pathlib import Path

import typer

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.code import this_code

EXAMPLE = "Example: zugwerk code amazons_train --why pipeline_src/games/amazons/moves.py"


def code(
    stage: str = typer.Argument(..., help="A stage of dvc.yaml, e.g. amazons_train."),
    why: Path | None = typer.Option(None, "--why", help="Print the chain of imports from the stage to this file."),
) -> None:
    """List the first-party source files in a stage's digest."""
    from pipeline_src.project.graph import read_graph
    from pipeline_src.project.params import read_tree
    from pipeline_src.reference.stage_code import find_stage, roots

    sources = this_code()
    start = roots(find_stage(read_graph(), stage), read_tree())
    if why is None:
        for module in sources.closure(*start):
            typer.echo(_path(module))
        typer.echo(f"digest {sources.digest(*start)}", err=True)
        return
    chain = sources.path(start, sources.module(why))
    if not chain:
        raise ZugwerkError(f"{stage} does not run {why}")
    if chain[0] != start[0]:
        typer.echo(f"params.yaml names a player of {_path(chain[0])}")
    for depth, module in enumerate(chain):
        typer.echo("  " * depth + _path(module))


def _path(module: str) -> str:
    file = this_code().file(module)
    return file.relative_to(this_code().root).as_posix() if file else module

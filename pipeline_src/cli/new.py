"""``zugwerk new``."""

from pathlib import Path

import typer

EXAMPLE = "Example: zugwerk new reproduction && cd reproduction && zugwerk profile smoke && zugwerk repro"


def new(folder: Path = typer.Argument(..., help="Folder to write; it must be new or empty.")) -> None:
    """Write a checkout to reproduce in: graph, params, profiles and flows, with git and DVC set up.

    The code is that of the installed package. To change code, clone the repository instead.
    """
    from importlib.util import find_spec

    from pipeline_src.project.new import new as write

    write(folder)
    typer.echo(f"{folder}: ready; next: cd {folder} && zugwerk repro")
    if any(find_spec(name) is None for name in ("dvc", "torch")):
        typer.echo("the packages for reproducing are missing: pip install 'zugwerk[reproduce]'", err=True)

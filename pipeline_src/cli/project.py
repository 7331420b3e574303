"""``zugwerk profile``, ``zugwerk status``, ``zugwerk report`` and ``zugwerk verify``."""

import json
from pathlib import Path

import typer

from pipeline_src.project.profile import profile_names

WORDS_WIDTH = 16
"""Columns below which a figure's words are not squeezed."""


def profile(name: str = typer.Argument(..., help=f"Profile: {', '.join(profile_names())}.")) -> None:
    """Write a profile's values into params.yaml; all other keys keep yours. Example: zugwerk profile smoke."""
    from pipeline_src.project.new import require_checkout

    require_checkout()
    from pipeline_src.project.profile import switch_profile

    typer.echo(switch_profile(name))


def status(
    targets: list[str] = typer.Argument(None, help="Stages, members stage@item or groups; all if none is named."),
) -> None:
    """Say what would run again, and why, code included. Example: zugwerk status amazons_train.

    Brings the digests of code up to date, which takes seconds, and shows `dvc status`. Until the next edit, `dvc
    status` and `dvc repro --dry` then say the same by themselves.
    """
    from pathlib import Path

    from pipeline_src.project.new import require_checkout

    require_checkout()
    from pipeline_src.project import dvc_run

    dvc_run.status(targets or [], Path(), typer.echo)


def report(
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
    keep: bool = typer.Option(False, "--keep", help="First write the graph's figures to docs/measured/PROFILE.json."),
) -> None:
    """Print the verdict on each published system, then every headline figure. Example: zugwerk report --json.

    Of each figure the run in this checkout comes first, then committed measurements.
    """
    from pipeline_src.report.figures import figures
    from pipeline_src.report.keep import keep as keep_figures

    if keep:
        path, count = keep_figures()
        typer.echo(f"{path}: {count} figures of the graph", err=True)
    found = figures()
    if as_json:
        typer.echo(json.dumps(found, indent=2, allow_nan=False))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table

    from pipeline_src.cli.tables import print_table
    from pipeline_src.report.registry import SYSTEMS
    from pipeline_src.report.table import lines, with_unit
    from pipeline_src.report.verdict import verdicts

    console = Console()
    verdict = Table(title="Verdict", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head in ("system", "published", "this run", "best measurement", "verdict"):
        verdict.add_column(head, overflow="fold")
    for one in verdicts(found):
        title, told = f"{SYSTEMS[one.system].title}: {one.figure}", f"{one.outcome}: {one.reason}"
        verdict.add_row(title, one.published, one.run, one.best, told)
    print_table(console, verdict)
    for system, rows in found.items():
        table_lines = lines(rows)
        figure = Column("figure", overflow="fold", min_width=WORDS_WIDTH)
        others = [Column(head, no_wrap=True) for head in ("published", "ours", "95 % CI", "n", "profile")]
        table = Table(figure, *others, title=SYSTEMS[system].title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for line in table_lines:
            words = "  committed" if line.below else with_unit(line.words, line.unit)
            words += f" ({line.player})" if line.player else ""
            table.add_row(words, line.published, line.ours, line.interval, line.n, line.profile)
        print_table(console, table)
        commands = dict.fromkeys(line.command for line in table_lines)
        console.print("rerun: " + ", ".join(commands), style="dim")


def verify() -> None:
    """Check all files in DVC's cache and outputs for damage that DVC does not notice. Example: zugwerk verify."""
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.project.verify import verify as find

    found = find()
    for path in found.removed:
        typer.echo(f"{path}: damaged; removed from the cache")
    for path in found.different:
        typer.echo(f"{path}: not the bytes in dvc.lock")
    if found.removed or found.different:
        wrong = len(found.removed) + len(found.different)
        raise ZugwerkError(
            f"{wrong} of {found.read} files differ from the hashes that DVC has; `dvc repro` restores them"
        )
    typer.echo(f"{found.read} files read, all as DVC knows them")


def new(folder: Path = typer.Argument(..., help="Folder to write; it must be new or empty.")) -> None:
    """Write a checkout to reproduce in: graph, params, profiles and flows, with git and DVC set up.

    The code is that of the installed package. To change code, clone the repository instead.

    Example: zugwerk new reproduction && cd reproduction && zugwerk profile smoke && zugwerk repro
    """
    from importlib.util import find_spec

    from pipeline_src.project.new import new as write

    write(folder)
    typer.echo(f"{folder}: ready; next: cd {folder} && zugwerk repro")
    if any(find_spec(name) is None for name in ("dvc", "torch")):
        typer.echo("the packages for reproducing are missing: pip install 'zugwerk[reproduce]'", err=True)

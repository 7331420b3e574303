"""``zugwerk profile``, ``zugwerk report`` and ``zugwerk verify``."""

import json

import typer


def profile(name: str = typer.Argument(..., help="laptop, overnight, smoke, paper or long.")) -> None:
    """Write params.yaml for a profile: the laptop's values and its differences. Example: zugwerk profile smoke."""
    from pathlib import Path

    from pipeline_src.project.disk import graph_targets, sizes
    from pipeline_src.project.params import PARAMS_FILE, read_tree
    from pipeline_src.project.profile import switch_profile

    typer.echo(switch_profile(name))
    params = read_tree(PARAMS_FILE)
    typer.echo(sizes(graph_targets(params), params, Path()))


def report(as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table.")) -> None:
    """Every headline figure beside the published one. Example: zugwerk report --json."""
    from pipeline_src.report.figures import figures

    found = figures()
    if as_json:
        typer.echo(json.dumps(found, indent=2, allow_nan=False))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table

    console = Console()
    for system, rows in found.items():
        made = next((f for f in rows.values() if f["ours"] is not None), None)
        where = (
            f"profile {made['profile'] or 'unknown: params changed since'}, {made['data']}" if made else "not made yet"
        )
        figure = Column("figure", overflow="fold")  # of a narrow terminal only names take two lines
        others = [Column(head, no_wrap=True) for head in ("published", "ours", "95 % interval", "n", "unit")]
        title = f"{system} ({where})"
        table = Table(figure, *others, title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for name, f in rows.items():
            interval = f"{_show(f['low'])} - {_show(f['high'])}" if f["low"] is not None else "-"
            table.add_row(name, _show(f["published"]), _show(f["ours"]), interval, _show(f["n"]), f["unit"])
        console.print(table)
        console.print("rerun: " + ", ".join(dict.fromkeys(f["command"] for f in rows.values())), style="dim")


def verify() -> None:
    """Read all files that DVC keeps and name the damaged ones, which DVC does not see. Example: zugwerk verify."""
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.project.verify import verify as find

    found = find()
    for path in found.removed:
        typer.echo(f"{path}: damaged; removed from the cache")
    for path in found.different:
        typer.echo(f"{path}: not the bytes in dvc.lock")
    if found.removed or found.different:
        wrong = len(found.removed) + len(found.different)
        raise ZugwerkError(f"{wrong} of {found.read} files are not what DVC knows; `dvc repro` puts them right")
    typer.echo(f"{found.read} files read, all as DVC knows them")


def _show(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"

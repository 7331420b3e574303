"""``zugwerk compare``: two versions side by side."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from pipeline_src.reference.compare import Comparison, Pair
    from pipeline_src.reference.revision import Revision

EXAMPLE = "Example: zugwerk compare HEAD~1 HEAD; zugwerk compare HEAD; zugwerk compare HEAD wide (an experiment)"
MOST_METRICS = 40
"""Largest number of other metrics without ``--all``."""
PIPED_WIDTH = 140
"""Width of output to a file or another program, in columns."""


def compare(
    a: str = typer.Argument("HEAD", help="A commit, branch, tag or experiment."),
    b: str = typer.Argument("workspace", help="A commit, branch, tag or experiment; or workspace, the present files."),
    everything: bool = typer.Option(False, "--all", help="Also show headline figures that are equal, and all metrics."),
) -> None:
    """Show the differences in figures, params and metrics between two versions; `dvc plots diff` draws curves."""
    from rich.console import Console

    from pipeline_src.errors import ZugwerkError
    from pipeline_src.reference.compare import compare as compared
    from pipeline_src.reference.revision import WORKSPACE, opened

    if a == WORKSPACE:
        raise ZugwerkError("the working tree can only be the second version: zugwerk compare HEAD workspace")
    with opened(a) as one, opened(b) as other:
        comparison = compared(one, other)
        console = Console()
        if not console.is_terminal:
            console = Console(width=max(console.width, PIPED_WIDTH))
        _print_sides(one, other, console)
        _print(comparison, console, everything)


def _print_sides(one: "Revision", other: "Revision", console: "Console") -> None:
    for letter, side in (("A", one), ("B", other)):
        profile, seed = (side.params().get(key, "unknown") for key in ("profile", "seed"))
        about = f"{letter}: {side.title}, {side.date}, profile {profile}, seed {seed}: {side.subject}"
        console.print(about, markup=False, highlight=False)


def _print(comparison: "Comparison", console: "Console", everything: bool) -> None:
    shown, metrics = comparison.shown(everything), sorted(comparison.metrics, key=_one_sided)
    _print_pairs("headline figures" if everything else "headline figures that differ", shown, console)
    apart = sum(pair.apart for pair in shown)
    if apart:
        console.print(f"* intervals that do not overlap: {apart} of the headline figures\n", highlight=False)
    rows = [(key, *("-" if value is None else str(value) for value in values)) for key, *values in comparison.params]
    _print_table("params that differ", ("param", "A", "B"), rows, console)
    most = len(metrics) if everything else MOST_METRICS
    _print_pairs("other metrics that differ", metrics[:most], console)
    if len(metrics) > most:
        console.print(f"and {len(metrics) - most} other metrics, which --all shows", highlight=False)


def _one_sided(pair: "Pair") -> bool:
    return pair.difference is None


def _print_pairs(title: str, pairs: "list[Pair]", console: "Console") -> None:
    rows: list[tuple[str, ...]] = []
    for group in dict.fromkeys(pair.group for pair in pairs):
        rows.append((group,))
        rows += [
            (f"  {p.name}", p.a.text, p.a.interval, p.b.text, p.b.interval, p.change + " *" * p.apart, p.unit)
            for p in pairs
            if p.group == group
        ]
    _print_table(title, ("figure", "A", "interval", "B", "interval", "B - A", "unit"), rows, console)


def _print_table(title: str, columns: tuple[str, ...], rows: "Sequence[tuple[str, ...]]", console: "Console") -> None:
    """Print a table. The first column is never cut; in a narrow window the others are wrapped, between words."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from pipeline_src.cli.tables import print_table

    if not rows:
        console.print(f"{title}: none\n", highlight=False)
        return
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(columns):
        table.add_column(name, no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # as Text, no name is read as markup
    print_table(console, table)

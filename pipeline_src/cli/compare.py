"""``zugwerk compare``: two versions side by side, in the terminal and as a page."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from pipeline_src.reference.compare import Comparison, Pair

EXAMPLE = "Example: zugwerk compare HEAD~1 HEAD; zugwerk compare HEAD; zugwerk compare HEAD wide (an experiment)"
MOST_METRICS = 40
"""Largest number of other metrics in the terminal; the page has all."""
PIPED_WIDTH = 140
"""Width of output to a file or another program, in columns."""


def compare(
    a: str = typer.Argument("HEAD", help="A commit, branch, tag or experiment."),
    b: str = typer.Argument("workspace", help="A commit, branch, tag or experiment; or workspace, the present files."),
    out: Path = typer.Option(Path("work/compare"), file_okay=False, help="Folder of the page, index.html."),
    everything: bool = typer.Option(False, "--all", help="Also show the headline figures that are equal."),
    page: bool = typer.Option(True, "--page/--no-page", help="Write the page."),
) -> None:
    """Show the differences in figures, params and metrics between two versions, and write an offline page."""
    from rich.console import Console

    from pipeline_src.errors import ZugwerkError
    from pipeline_src.reference import compare as comparing
    from pipeline_src.reference.revision import WORKSPACE, opened

    if a == WORKSPACE:
        raise ZugwerkError("the working tree can only be the second version: zugwerk compare HEAD workspace")
    with opened(a) as one, opened(b) as other:
        comparison = comparing.compare(one, other)
        console = Console()
        if not console.is_terminal:
            console = Console(width=max(console.width, PIPED_WIDTH))
        _print(comparison, console, everything)
        if page:
            console.print(
                f"page: {comparing.write_page(comparison, one, other, out, everything)}", soft_wrap=True, markup=False
            )


def _print(comparison: "Comparison", console: "Console", everything: bool) -> None:
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        about = f"{letter}: {side.title}, {side.date}, profile {side.profile}, seed {side.seed}: {side.subject}"
        console.print(about, markup=False, highlight=False)
    shown, metrics = comparison.shown(everything), sorted(comparison.metrics, key=_one_sided)
    _print_pairs("headline figures" if everything else "headline figures that differ", shown, console)
    apart = sum(pair.apart for pair in shown)
    if apart:
        console.print(f"* intervals that do not overlap: {apart} of the headline figures\n", highlight=False)
    rows = [(key, *("-" if value is None else str(value) for value in values)) for key, *values in comparison.params]
    _print_table("params that differ", ("param", "A", "B"), rows, console)
    _print_pairs("other metrics that differ", metrics[:MOST_METRICS], console)
    if len(metrics) > MOST_METRICS:
        console.print(f"and {len(metrics) - MOST_METRICS} other metrics, on the page", highlight=False)


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

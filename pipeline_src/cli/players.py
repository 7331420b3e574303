"""``zugwerk players``."""

import json

import typer

EXAMPLE = "Example: zugwerk players gomoku"


def players(
    game: str | None = typer.Argument(None, help="Game, e.g. amazons.  [default: all]"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of text."),
) -> None:
    """List the players, with an example and the types, bounds and defaults of their options."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from pipeline_src.players import listing

    found = listing.players(game)
    if as_json:
        rows = [one._asdict() | {"options": [option._asdict() for option in one.options]} for one in found]
        typer.echo(json.dumps(rows, indent=2))
        return
    console = Console(highlight=False)
    for one in found:
        console.print(Text(f"{one.game}: {one.title}", style="bold"))
        console.print(Text(one.meaning))
        console.print(Text(one.example, style="cyan"))
        grid = Table.grid(padding=(0, 2))
        for option in one.options:
            default = f"{option.type}; default {option.default}" if option.default else option.type
            names = f"{option.name}, {option.also}" if option.also else option.name
            grid.add_row(Text(names, no_wrap=True), Text(default), Text(option.meaning))
        console.print(Padding(grid, (0, 0, 1, 2)) if one.options else "")

"""``zugwerk players`` and ``zugwerk levels``."""

import json

import typer


def players(
    game: str | None = typer.Argument(None, help="Game, e.g. amazons.  [default: all]"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of text."),
) -> None:
    """List the players, with an example and the types, bounds and defaults of their options.

    In a player's text, a comma within double quotes divides nothing: 'nets:"runs/a,b.pt",temperature=1'.

    Example: zugwerk players gomoku
    """
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


def levels(
    game: str | None = typer.Argument(None, help="amazons or gomoku.  [default: both]"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of tables."),
) -> None:
    """List the opponents of measured strength on each board. `--level N` and the player `level:N` play with them.

    Example: zugwerk levels gomoku
    """
    from rich.console import Console
    from rich.table import Column, Table

    from pipeline_src.cli.tables import print_table
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.players.ladders import ANCHOR_ELO, LENT, ladders
    from pipeline_src.players.packaged import board_words

    found = ladders(game)
    if not found:
        there = ", ".join(dict.fromkeys(ladder.game for ladder in ladders()))
        raise ZugwerkError(f"no levels of {game!r}; there are those of: {there}")
    if as_json:
        typer.echo(json.dumps([ladder.model_dump(mode="json") for ladder in found], indent=2))
        return
    for ladder in found:
        right = [Column(head, justify="right", no_wrap=True) for head in ("Elo", "95 %", "games", "ms a move")]
        table = Table(Column("level"), Column("name", no_wrap=True), *right, Column("player", no_wrap=True))
        table.title = f"{ladder.game}, {board_words(ladder.board)}: Elo {ANCHOR_ELO:,} is {ladder.anchor}"
        if ladder.lends:
            table.caption = f"Also on {ladder.variant} boards without levels of their own, {LENT[0]}x{LENT[0]} to "
            table.caption += f"{LENT[-1]}x{LENT[-1]}, where their Elo is not measured."
        for number, one in enumerate(ladder.levels, 1):
            about = (f"{one.elo:.0f}", f"{one.low:.0f} to {one.high:.0f}", f"{one.games}", f"{one.ms:g}")
            table.add_row(str(number), one.name, *about, one.player)
        print_table(Console(), table)

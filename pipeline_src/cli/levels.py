"""``zugwerk levels``."""

import json

import typer

EXAMPLE = "Example: zugwerk levels gomoku"


def levels(
    game: str | None = typer.Argument(None, help="amazons or gomoku.  [default: both]"),
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of tables."),
) -> None:
    """List the opponents of measured strength on each board. `--level N` and the player `level:N` play with them."""
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

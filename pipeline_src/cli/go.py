"""``zugwerk go``: perft, show."""

from pathlib import Path
from typing import Any

import typer

from pipeline_src.cli import play

app = typer.Typer(help="Go. Example: zugwerk go show game.sgf --move 30", no_args_is_help=True)

SIZE, VARIANT = 19, "standard"


def _position(fen: str | None, size: int | None, variant: str | None) -> Any:
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games import go

    if fen is None:
        return go.initial_state(SIZE if size is None else size, VARIANT if variant is None else variant)
    if size is not None or variant is not None:
        raise ZugwerkError("--fen contains size and komi, as in '3/3/3 b komi-0'; remove --size and --variant")
    return go.from_fen(fen)


@app.command(epilog="Example: zugwerk go perft 3 --size 5 --divide")
def perft(
    depth: int = play.DEPTH,
    fen: str | None = typer.Option(
        None, "--fen", help="Position: ranks from the top, x black, o white, numbers empty; then b or w.", metavar="FEN"
    ),
    size: int | None = typer.Option(None, "--size", help=f"Size of the empty board, 3 to 25.  [default: {SIZE}]"),
    variant: str | None = typer.Option(
        None, "--variant", help=f"komi-6.5, handicap-2:dp,pd, komi-0.5/handicap-2:dp,pd.  [default: {VARIANT}]"
    ),
    divide: bool = play.DIVIDE,
) -> None:
    """Count the sequences of DEPTH legal moves, including passes. The last line has the count."""
    play.print_perft("go", _position(fen, size, variant), depth, divide)


@app.command(epilog="Example: zugwerk go show game.sgf --move 30")
def show(
    position: str = typer.Argument(..., help="A FEN, or an SGF record.", metavar="FEN_OR_SGF"),
    move: int | None = typer.Option(None, "--move", help="Number of plies of the record to play.  [default: all]"),
    number: int | None = play.GAME,
) -> None:
    """Print the board with coordinates, the last stone in brackets, and the state of the game."""
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games import go
    from pipeline_src.games.go.diagram import diagram, standing
    from pipeline_src.records.sgf import read_sgf

    if not (position.lower().endswith(".sgf") or Path(position[:255]).is_file()):
        if move is not None or number is not None:
            raise ZugwerkError("--move and --game are for records; a FEN has none")
        state = go.from_fen(position)
    else:
        record = read_sgf(position, size=None, number=number).record
        plies = len(record.actions) if move is None else move
        if not 0 <= plies <= len(record.actions):
            raise ZugwerkError(f"{position}: --move must be 0 to {len(record.actions)}, not {plies}")
        state = go.initial_state(record.width, record.variant)
        for action in record.actions[:plies]:
            state = go.play(state, action)
        if record.first_name or record.second_name:
            typer.echo(f"x {record.first_name}, o {record.second_name}")
    typer.echo(diagram(state))
    typer.echo(standing(state))
    typer.echo(go.to_fen(state))

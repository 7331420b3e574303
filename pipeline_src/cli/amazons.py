"""``zugwerk amazons``: perft, features, move, uci."""

import contextlib
import json
from pathlib import Path
from typing import Any

import typer

from pipeline_src.cli import play

app = typer.Typer(help="The Game of the Amazons. Example: zugwerk amazons perft 2", no_args_is_help=True)

FEN_HELP = "Position: ranks from the top, Q white, q black, * arrow, numbers empty; then w or b, as in UCI."
Fen = typer.Option(None, "--fen", help=FEN_HELP, metavar="FEN")


def _position(fen: str | None) -> Any:
    from pipeline_src.games import amazons

    return amazons.initial_state() if fen is None else amazons.from_fen(fen)


@app.command(epilog="Example: zugwerk amazons perft 2 --divide")
def perft(depth: int = play.DEPTH, fen: str | None = Fen, divide: bool = play.DIVIDE) -> None:
    """Count the sequences of DEPTH legal turns. The last line has the count."""
    play.print_perft("amazons", _position(fen), depth, divide)


@app.command(epilog='Example: zugwerk amazons features --fen "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w"')
def features(fen: str | None = Fen) -> None:
    """Print the patent's position features F as JSON: a 10x10 table for each amazon of the side to move."""
    from pipeline_src.games.amazons.board import STANDARD
    from pipeline_src.systems.amazons_net.encode import describe_features

    typer.echo(json.dumps(describe_features(STANDARD if fen is None else fen)))


@app.command(epilog="Example: zugwerk amazons move --player alphabeta:movetime=1000 --json")
def move(
    fen: str | None = Fen,
    model: Path | None = typer.Option(
        None, "--model", help="File of trained nets.  [default: the net that comes with the package]"
    ),
    player: str | None = typer.Option(None, "--player", help="Another player to ask, e.g. alphabeta:movetime=1000."),
    as_json: bool = play.AS_JSON,
) -> None:
    """Print the turn of Amazons-Net with its win rate, or the turn of another player."""
    from pipeline_src.errors import ZugwerkError

    state = _position(fen)
    if player is not None:
        if model is not None:
            raise ZugwerkError(f"--model is for the nets without --player; name it in the player: {player}:{model}")
        play.print_move("amazons", state, player, as_json)
        return
    from pipeline_src.games import amazons
    from pipeline_src.systems.amazons_net.players import nets_for

    turn = nets_for(state, "" if model is None else str(model)).turns([state])[0]
    text = amazons.format_move(turn.action, *state.board.shape)
    if as_json:
        rates = {"win_rate": turn.win_rate, "win_rate_move_net": turn.win_rate_move_net}
        typer.echo(json.dumps({"move": text, **rates}))
        return
    typer.echo(f"{text}  win rate {turn.win_rate:.1%} (Move-Net, before the move: {turn.win_rate_move_net:.1%})")


@app.command(epilog="Example: zugwerk amazons uci --player alphabeta")
def uci(
    player: str | None = typer.Option(None, "--player", help="Player, e.g. alphabeta; setoption changes it."),
) -> None:
    """Run as a UCI engine on stdin and stdout; `quit` ends it."""
    import os
    import sys

    from pipeline_src.arena.uci.session import DEFAULT_PLAYER, serve

    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        streams = sys.stdin.buffer, sys.stdout.buffer
        serve("amazons", player or DEFAULT_PLAYER, *streams, deaf=lambda: os._exit(1))
    os._exit(0)  # at once, even if a search still runs in its thread

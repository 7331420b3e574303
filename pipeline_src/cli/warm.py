"""``zugwerk warm``."""

import time

import typer

EXAMPLE = "Example: zugwerk warm gomoku"


def warm(game: str | None = typer.Argument(None, help="E.g. amazons; without it, all.")) -> None:
    """Compile ahead what the players of a game need, so that no first move waits for it."""
    from pipeline_src.games.game import GAMES
    from pipeline_src.players.warm import warm as compile_all

    for name in GAMES if game is None else (game,):
        begin = time.monotonic()
        done = compile_all(name)
        made = f"{done.compiled} compiled" if done.compiled else "all of them there"
        typer.echo(f"{name}: {done.needed} kernels, {made}, {time.monotonic() - begin:.1f} s")
        for line in done.left_out:
            typer.echo(f"{name}: left out {line}", err=True)

"""``zugwerk warm``."""

import typer

EXAMPLE = "Example: zugwerk warm gomoku"


def warm(game: str | None = typer.Argument(None, help="Game, e.g. amazons.  [default: all, side by side]")) -> None:
    """Compile the kernels of a game's players ahead, so that no first move waits for them."""
    from pipeline_src.games.game import GAMES
    from pipeline_src.parallel import Parallel, run_as_they_come
    from pipeline_src.players.warm import warm as compile_all
    from pipeline_src.project.repro import cores

    tasks = [(name,) for name in (GAMES if game is None else (game,))]
    for _, done in run_as_they_come(compile_all, tasks, Parallel(workers=cores())):
        made = f"{done.compiled} compiled" if done.compiled else "all of them there"
        typer.echo(f"{done.game}: {done.needed} kernels, {made}, {done.seconds:.1f} s")
        for line in done.left_out:
            typer.echo(f"{done.game}: left out {line}", err=True)

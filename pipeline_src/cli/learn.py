"""``zugwerk learn``: a net for any game, from its rules alone."""

import os
from pathlib import Path

import typer

from pipeline_src.errors import INTERRUPTED

EXAMPLE = "Example: zugwerk learn connect_four --minutes 10"


def learn(
    game: str = typer.Argument(..., help="Name of a packaged game, or a file of rules, my_game.py."),
    minutes: float = typer.Option(10.0, min=0.0, help="Core minutes to learn, with those of earlier runs."),
    out: Path | None = typer.Option(None, help="Folder of the net.  [default: the name of the game]"),
    size: int | None = typer.Option(None, help="Size of the board.  [default: the game's first]"),
    variant: str | None = typer.Option(None, help="Variant of the game.  [default: the game's first]"),
    seed: int = typer.Option(0, min=0, help="Seed: the same one gives the same net for as many rounds."),
    workers: int | None = typer.Option(None, min=1, help="Processes that play games.  [default: the cores]"),
    simulations: int = typer.Option(48, min=2, help="Simulations of a move in self-play."),
    games: int = typer.Option(200, min=2, help="Games in a round."),
    margin: float = typer.Option(0.0, min=0.0, max=1.0, help="Share of the margin, where the game has one, in values."),
    start: Path | None = typer.Option(None, help="Folder of a net to begin with: a smaller board's, another game's."),
    rounds: int | None = typer.Option(None, min=1, help="Most rounds, however much time is left."),
) -> None:
    """Learn a game from nothing by self-play; Ctrl-C keeps the last net, and the same command continues."""
    from pipeline_src.games.game import load_game
    from pipeline_src.parallel import Parallel
    from pipeline_src.selfplay.any_game.learn import learn as run
    from pipeline_src.selfplay.any_game.subject import setting_of

    rules = load_game(game)
    setting = setting_of(rules, size, variant, seed, simulations=simulations, games=games, margin=margin)
    folder = out or Path(rules.NAME)
    folder.mkdir(parents=True, exist_ok=True)
    parallel = Parallel(workers=workers or len(os.sched_getaffinity(0)))
    try:
        run(game, folder, minutes, setting, parallel, typer.echo, rounds, start)
    except (KeyboardInterrupt, SystemExit):  # Lightning makes the one into the other
        kept = f"; {folder / 'net'} is the last round's net" if (folder / "net").exists() else ""
        typer.echo(f"interrupted: the same command goes on{kept}", err=True)
        raise typer.Exit(INTERRUPTED) from None
    rest = f" --variant {variant}" if variant else ""
    typer.echo(f"play it: zugwerk play {game} --against {folder / 'net'}{rest}")

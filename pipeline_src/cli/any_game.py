"""``zugwerk GAME``: perft, move and show for a game without commands of its own, and parts of them for the others."""

from typing import Any, NamedTuple

import typer

from pipeline_src.cli import play


class Start(NamedTuple):
    """Options that set the position of a command."""

    fen: Any = typer.Option(
        None, "--fen", help="Position, in the form that `show` prints on the last line.", metavar="FEN"
    )
    size: Any = typer.Option(None, "--size", help="Size of the board.")
    variant: Any = typer.Option(None, "--variant", help="Variant of the rules.")


def commands(game: str) -> typer.Typer:
    """Return the group of commands of a game."""
    app = typer.Typer(help=f"The game {game}. Example: zugwerk {game} perft 3", no_args_is_help=True)
    start = Start()
    add_perft(app, game, start, "3 --divide")
    add_move(app, game, start, "--player random")

    @app.command(epilog=f"Example: zugwerk {game} show --size 7")
    def show(fen: str | None = start.fen, size: int | None = start.size, variant: str | None = start.variant) -> None:
        """Print the board, with its FEN on the last line."""
        from pipeline_src.cli.board_text import board_text
        from pipeline_src.games.game import get_game

        state = position(game, fen, size, variant)
        typer.echo(board_text(game, state, None).plain)
        typer.echo(get_game(game).to_fen(state))

    return app


def position(game: str, fen: str | None, size: int | None, variant: str | None) -> Any:
    """Return the position of a FEN, or else the start of a size and variant.

    Raises:
        ZugwerkError: a bad FEN, size or variant, or a FEN together with one of the others.
    """
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games.game import get_game

    rules = get_game(game)
    given: dict[str, Any] = {"size": size, "variant": variant}
    given = {name: value for name, value in given.items() if value is not None}
    if fen is not None and given:
        raise ZugwerkError(f"--fen contains size and variant; remove --{' and --'.join(given)}")
    return rules.initial_state(**given) if fen is None else rules.from_fen(fen)


def add_perft(app: typer.Typer, game: str, start: Start, example: str, moves: str = "legal moves") -> None:
    """Add the command ``perft``; ``moves`` says what it counts."""

    @app.command(
        help=f"Count the sequences of DEPTH {moves}. The last line has the count.",
        epilog=f"Example: zugwerk {game} perft {example}",
    )
    def perft(
        depth: int = play.DEPTH,
        fen: str | None = start.fen,
        size: int | None = start.size,
        variant: str | None = start.variant,
        divide: bool = play.DIVIDE,
    ) -> None:
        play.print_perft(game, position(game, fen, size, variant), depth, divide)


def add_move(app: typer.Typer, game: str, start: Start, example: str, players: str = "Any player of the game.") -> None:
    """Add the command ``move``; ``players`` describes its players."""

    @app.command(epilog=f"Example: zugwerk {game} move {example}")
    def move(
        player: str = typer.Option(..., "--player", help=players),
        fen: str | None = start.fen,
        size: int | None = start.size,
        variant: str | None = start.variant,
        as_json: bool = play.AS_JSON,
    ) -> None:
        """Print a player's move and the result of its search."""
        play.print_move(game, position(game, fen, size, variant), player, as_json)

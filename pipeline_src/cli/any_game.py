"""``zugwerk GAME``: perft, move and show for a game without commands of its own."""

from typing import Any

import typer

from pipeline_src.cli import play


def commands(game: str) -> typer.Typer:
    """Return the group of commands of a game."""
    app = typer.Typer(help=f"The game {game}. Example: zugwerk {game} perft 3", no_args_is_help=True)
    fen_option = typer.Option(
        None, "--fen", help="Position, in the form that `show` prints on the last line.", metavar="FEN"
    )
    size_option = typer.Option(None, "--size", help="Size of the board.")
    variant_option = typer.Option(None, "--variant", help="Variant of the rules.")

    def position(fen: str | None, size: int | None, variant: str | None) -> Any:
        from pipeline_src.errors import ZugwerkError
        from pipeline_src.games.game import get_game

        rules = get_game(game)
        given: dict[str, Any] = {"size": size, "variant": variant}
        given = {name: value for name, value in given.items() if value is not None}
        if fen is not None and given:
            raise ZugwerkError(f"--fen tells the position itself; leave --{' and --'.join(given)} out")
        return rules.initial_state(**given) if fen is None else rules.from_fen(fen)

    @app.command(epilog=f"Example: zugwerk {game} perft 3 --divide")
    def perft(
        depth: int = play.DEPTH,
        fen: str | None = fen_option,
        size: int | None = size_option,
        variant: str | None = variant_option,
        divide: bool = play.DIVIDE,
    ) -> None:
        """Count the sequences of DEPTH legal moves. The last line has the count."""
        play.print_perft(game, position(fen, size, variant), depth, divide)

    @app.command(epilog=f"Example: zugwerk {game} move --player random")
    def move(
        player: str = typer.Option(..., "--player", help="Any player of the game."),
        fen: str | None = fen_option,
        size: int | None = size_option,
        variant: str | None = variant_option,
        as_json: bool = play.AS_JSON,
    ) -> None:
        """Print a player's move and the result of its search."""
        play.print_move(game, position(fen, size, variant), player, as_json)

    @app.command(epilog=f"Example: zugwerk {game} show --size 7")
    def show(
        fen: str | None = fen_option, size: int | None = size_option, variant: str | None = variant_option
    ) -> None:
        """Print the board, with its FEN on the last line."""
        from pipeline_src.cli.board_text import board_text
        from pipeline_src.games.game import get_game

        state = position(fen, size, variant)
        typer.echo(board_text(game, state, None).plain)
        typer.echo(get_game(game).to_fen(state))

    return app

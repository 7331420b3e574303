"""``zugwerk play``: a person against a player, in the terminal."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pipeline_src.players.player import OneBoard, Player

EXAMPLE = "Example: zugwerk play gomoku --level 4 --side second"
SIDES = {"first": 0, "second": 1}


def play(
    game: str = typer.Argument(..., help="amazons, gomoku, or another game with players."),
    against: str | None = typer.Option(
        None, help="Opponent: any player of the game, e.g. zero:MODEL.  [default: alphabeta:movetime=1000]"
    ),
    level: int | None = typer.Option(None, min=1, help="Opponent of measured strength; `zugwerk levels` lists them."),
    side: str = typer.Option("first", help="Your side: first, second or random."),
    size: int | None = typer.Option(
        None, help="Size of the board: Amazons 10, 8 or 6; Gomoku 3 to 25.  [default: 10; Gomoku 15]"
    ),
    variant: str | None = typer.Option(None, help="Variant of the game, e.g. exact or freestyle-4."),
    save: Path | None = typer.Option(None, help="File for the game when you leave.  [default: a new name]"),
    load: Path | None = typer.Option(None, help="Saved game to continue, with its side and size."),
    seed: int | None = typer.Option(None, min=0, help="Seed of the player and of a random side."),
) -> None:
    """Play a game against a player in the terminal; `help` in the game lists the commands."""
    import numpy as np

    from pipeline_src.arena.person import PersonGame, check_suffix, load_game
    from pipeline_src.cli.person_table import Table
    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games.game import GAMES
    from pipeline_src.players.registry import make_player, players_of

    if game not in GAMES or not players_of(game):
        raise ZugwerkError(f"no game {game!r} to play; there are: {', '.join(filter(players_of, GAMES))}")
    if level is not None and against is not None:
        raise ZugwerkError("--level and --against both name the opponent; leave one of them out")
    against = against or ("alphabeta:movetime=1000" if level is None else f"level:{level}")
    rng = np.random.default_rng(seed)
    if side not in (*SIDES, "random"):
        raise ZugwerkError(f"side {side!r}: expected first, second or random")
    number = int(rng.integers(2)) if side == "random" else SIDES[side]
    if save is not None:
        check_suffix(game, save)
        if save.exists() and save != load:
            raise ZugwerkError(f"{save} exists already; choose another name, or go on with it by --load {save}")
    player = make_player(game, against)
    try:
        if load is None:
            board = _board(game, player, size, variant)
            one = PersonGame(game, against, number, board.height, variant or board.variant)
        elif size is not None:
            raise ZugwerkError("a saved game contains its size; remove --size")
        else:
            one = load_game(game, load, against, variant)
        _check_board(player, one.start)
        Table(one, player, rng, save, load).sit()
    finally:
        player.close()


def _board(game: str, player: "Player", size: int | None, variant: str | None) -> "OneBoard":
    """The game's standard board or one of that size; where the player has none, the largest that it has."""
    from pipeline_src.games.game import get_game
    from pipeline_src.players.player import OneBoard

    rules = get_game(game)
    side = max(rules.initial_state().board.shape) if size is None else size
    standard = OneBoard(side, side, rules.VARIANTS[0])
    boards = [board for board in player.boards if variant in (None, board.variant)]
    fitting = [board for board in boards if board.height == side]
    if not boards or standard in fitting:
        return standard
    return (fitting or boards)[-1] if fitting or size is None else standard


def _check_board(player: "Player", start: object) -> None:
    from pipeline_src.errors import ZugwerkError

    try:
        player.check(start)
    except ZugwerkError as error:
        if player.only is None:
            raise
        offer = f"--size {player.only.height} --variant {player.only.variant}"
        raise ZugwerkError(f"{error}; play by {offer}, or against alphabeta, which plays them all") from None

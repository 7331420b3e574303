"""Commands shared by all games: count the turns of a position, and ask a player for a turn."""

import json
from typing import Any

import typer

DEPTH = typer.Argument(..., help="Depth in plies.")
DIVIDE = typer.Option(False, "--divide", help="Also print the count after each first turn.")
GAME = typer.Option(None, "--game", help="Number of the game in an SGF file with several games.")
AS_JSON = typer.Option(False, "--json", help="Print JSON with unrounded numbers.")


def print_perft(game: str, state: Any, depth: int, divide: bool) -> None:
    """Print the number of sequences of ``depth`` turns; with ``divide``, first those after each turn."""
    from pipeline_src.games.game import get_game

    rules = get_game(game)
    if not divide:
        typer.echo(rules.perft(state, depth))
        return
    counts = rules.divide(state, depth)
    for action, count in counts.items():
        typer.echo(f"{rules.format_move(action, *state.board.shape)}: {count}")
    typer.echo(sum(counts.values()))


def print_move(game: str, state: Any, player: str, as_json: bool) -> None:
    """Print the turn that a player chooses and the result of its search.

    Raises:
        ZugwerkError: no such player, or the game is over.
    """
    import numpy as np

    from pipeline_src.errors import ZugwerkError
    from pipeline_src.games.game import get_game
    from pipeline_src.players.player import Position
    from pipeline_src.players.registry import make_player

    rules = get_game(game)
    if rules.winner(state) is not None:
        raise ZugwerkError("the game is over: the side to move has no turn")
    chosen = make_player(game, player)
    try:
        thought = chosen.think(Position(state, np.random.default_rng(0), state))
    finally:
        chosen.close()
    text, found = rules.format_move(thought.action, *state.board.shape), thought.found
    if found is None:
        typer.echo(json.dumps({"move": text}) if as_json else text)
        return
    pv = [rules.format_move(one, *state.board.shape) for one in found.pv]
    if as_json:
        figures = {"value": found.value, "depth": found.depth, "nodes": found.nodes, "seconds": found.seconds}
        typer.echo(json.dumps({"move": text, **figures, "pv": pv}))
        return
    typer.echo(f"{text}  value {found.value:+.2f}, depth {found.depth}, {found.nodes:,} nodes, {found.seconds:.2f} s")
    typer.echo("pv " + " ".join(pv))

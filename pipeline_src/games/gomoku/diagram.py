"""Boards as text, with coordinates around them and the last stone in brackets."""

from pipeline_src.games.gomoku.board import FILES, PLY, GomokuState, format_variant, to_play
from pipeline_src.games.gomoku.turns import winner
from pipeline_src.games.stone_diagram import stone_diagram

_COLOURS = {"first": "Black", "second": "White"}


def diagram(state: GomokuState) -> str:
    """Return the lines of a board, top rank first: ``x`` black, ``o`` white, ``[x]`` the last stone if it is known."""
    return stone_diagram(state.board, last_cell(state), FILES)


def standing(state: GomokuState) -> str:
    """Return a sentence with the side to move or the winner, the number of plies and the rule."""
    played = f"{state.turn[PLY]} plies, {format_variant(state)}"
    result = winner(state)
    if result is None:
        return f"{'White' if to_play(state) else 'Black'} to move after {played}"
    return f"Drawn after {played}" if result == "draw" else f"{_COLOURS[result]} won after {played}"


def last_cell(state: GomokuState) -> int:
    """Return the last cell, or -1 if it is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[ply - 1]) if ply else -1

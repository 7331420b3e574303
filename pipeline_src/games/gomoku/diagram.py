"""A board as text for people: coordinates around it, the last stone in brackets."""

from pipeline_src.games.gomoku.board import FILES, PLY, GomokuState, format_variant, to_play
from pipeline_src.games.gomoku.turns import winner
from pipeline_src.games.stone_diagram import stone_diagram

_COLOURS = {"first": "Black", "second": "White"}


def diagram(state: GomokuState) -> str:
    """Lines of a board, top rank first; ``x`` black, ``o`` white, ``[x]`` the last stone where it is known."""
    return stone_diagram(state.board, last_cell(state), FILES)


def standing(state: GomokuState) -> str:
    """A sentence: who is to move or who won, after how many plies, by which rule."""
    played = f"{state.turn[PLY]} plies, {format_variant(state)}"
    result = winner(state)
    if result is None:
        return f"{'White' if to_play(state) else 'Black'} to move after {played}"
    return f"Drawn after {played}" if result == "draw" else f"{_COLOURS[result]} won after {played}"


def last_cell(state: GomokuState) -> int:
    """The cell played last, -1 where that is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[ply - 1]) if ply else -1

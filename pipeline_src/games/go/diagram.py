"""Boards as text, with coordinates around them and the last stone in brackets."""

from pipeline_src.games.go.board import MOVES_KEPT, PLY, GoState, to_play
from pipeline_src.games.go.notation import FILES
from pipeline_src.games.go.turns import lead, winner
from pipeline_src.games.stone_diagram import stone_diagram


def diagram(state: GoState) -> str:
    """Return the lines of a board, top rank first: ``x`` black, ``o`` white, ``[x]`` the last stone if it is known."""
    return stone_diagram(state.board, last_action(state), FILES)


def standing(state: GoState) -> str:
    """Return a sentence with the side to move, or the winner and the margin, and the number of plies."""
    plies = f"{state.turn[PLY]} plies"
    result, points = winner(state), lead(state)
    if result is None:
        passed = " and a pass" if last_action(state) == state.board.size else ""
        return f"{'White' if to_play(state) else 'Black'} to move after {plies}{passed}"
    if result == "draw":
        return f"Drawn after {plies}"
    return f"{'Black' if points > 0 else 'White'} won by {abs(points):g} after {plies}"


def last_action(state: GoState) -> int:
    """Return the last action, or -1 if it is not known."""
    ply = int(state.turn[PLY])
    return int(state.moves[(ply - 1) % MOVES_KEPT]) if ply else -1

"""A board as text for people: coordinates around it, the last stone in brackets."""

from pipeline_src.games.gomoku.board import FILES, PLY, GomokuState, format_variant, to_play
from pipeline_src.games.gomoku.turns import winner

_STONES = ".xo"
_COLOURS = {"first": "Black", "second": "White"}


def diagram(state: GomokuState) -> str:
    """Lines of a board, top rank first; ``x`` black, ``o`` white, ``[x]`` the last stone where it is known."""
    (height, width), last = state.board.shape, last_cell(state)
    files = "   " + "".join(f" {file} " for file in FILES[:width])
    lines = [files.rstrip()]
    for row, cells in enumerate(state.board):
        text = f"{height - row:2} "
        for column, code in enumerate(cells):
            stone = _STONES[code]
            text += f"[{stone}]" if row * width + column == last else f" {stone} "
        lines.append(f"{text.rstrip():{3 + 3 * width}} {height - row}")
    return "\n".join([*lines, files.rstrip()])


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

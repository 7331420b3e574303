"""Boards of stones as text, with coordinates around them and the last stone in brackets."""

import numpy as np
import numpy.typing as npt

STONES = ".xo"


def stone_diagram(board: npt.NDArray[np.int8], last: int, files: str) -> str:
    """Return the lines of a board int8 [H, W], top rank first: 1 is ``x``, 2 is ``o``, point ``last`` is in brackets.

    Args:
        board: row 0 is the top.
        last: row * W + column, or a number that is no point of the board.
        files: letters of the columns.
    """
    height, width = board.shape
    letters = ("   " + "".join(f" {file} " for file in files[:width])).rstrip()
    lines = [letters]
    for row, points in enumerate(board):
        text = f"{height - row:2} "
        for column, code in enumerate(points):
            stone = STONES[code]
            text += f"[{stone}]" if row * width + column == last else f" {stone} "
        lines.append(f"{text.rstrip():{3 + 3 * width}} {height - row}")
    return "\n".join([*lines, letters])

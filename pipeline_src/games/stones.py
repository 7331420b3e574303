"""Boards, positions and points as text: diagrams with coordinates, and the ranks of position texts (FEN)."""

import re

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError

STONES = ".xo"


def stone_diagram(board: npt.NDArray[np.int8], last: int, files: str, stones: str = STONES) -> str:
    """Return the lines of a board int8 [H, W], top rank first: 1 is ``x``, 2 is ``o``, point ``last`` is in brackets.

    ``last`` may be a number that is no point of the board; ``files`` are the letters of the columns, ``stones`` those
    of the codes.
    """
    height, width = board.shape
    letters = ("   " + "".join(f" {file} " for file in files[:width])).rstrip()
    lines = [letters]
    for row, points in enumerate(board):
        text = f"{height - row:2} "
        for column, code in enumerate(points):
            stone = stones[code]
            text += f"[{stone}]" if row * width + column == last else f" {stone} "
        lines.append(f"{text.rstrip():{3 + 3 * width}} {height - row}")
    return "\n".join([*lines, letters])


# Position texts. A game's letters are those of its codes in order, with ``.`` for the empty one.


_SHOWN = 250  # Number of characters of a bad text that an error message quotes: more than most boards need


class FenError(ZugwerkError):
    """A position text cannot be read; the message says why."""


class MoveTextError(ZugwerkError):
    """A text is not a move, or names a place outside the board."""


def bad(fen: str, what: str) -> FenError:
    """Return the error that quotes a text and says what is wrong with it."""
    return FenError(f"bad FEN {fen[:_SHOWN] + '...' * (len(fen) > _SHOWN)!r}: {what}")


def read_ranks(text: str, fen: str, least: int, most: int, points: str, letters: str = STONES) -> npt.NDArray[np.int8]:
    """Return the board, int8 [H, W], that ranks give from the top down, with slashes between them.

    A number is a run of empty points; ``letters`` are those of the game's codes. Messages quote ``fen``, the whole
    text, and have the game's name of its ``points``.

    Raises:
        FenError: an unknown letter, ranks of unequal length, or a size outside ``least``..``most``.
    """
    ranks = [_read_rank(rank, fen, points, letters) for rank in text.split("/")]
    height, width = len(ranks), max(map(len, ranks))
    if not (least <= height <= most and least <= width <= most):
        raise bad(fen, f"board {height}x{width}; sides go from {least} to {most}")
    if any(len(rank) != width for rank in ranks):
        raise bad(fen, f"its ranks have {', '.join(str(len(rank)) for rank in ranks)} {points}")
    return np.array(ranks, np.int8)


def _read_rank(text: str, fen: str, points: str, letters: str) -> list[int]:
    found: list[int] = []
    for number, letter in re.findall(r"([0-9]+)|(.)", text):
        if number:
            if len(number) > 2 or int(number) == 0:
                raise bad(fen, f"a run of {number[:20]} empty {points}")
            found += [letters.index(".")] * int(number)
        elif letter in letters and letter != ".":
            found.append(letters.index(letter))
        else:
            raise bad(fen, f"unknown letter {letter!r}; known are {' '.join(letters.replace('.', ''))} and numbers")
    return found


def write_ranks(board: npt.NDArray[np.int8], letters: str = STONES) -> str:
    """Return the ranks of a board: the inverse of `read_ranks`."""
    ranks = "/".join("".join(letters[code] for code in row) for row in board)
    return re.sub(r"\.+", lambda run: str(len(run[0])), ranks)


def parse_point(text: str, height: int, width: int, files: str, expected: str) -> int:
    """Return row * W + column of a point's text, its file and rank, with rank 1 at the bottom; upper or lower case.

    ``files`` are the letters of the columns; messages say what is ``expected``.

    Raises:
        MoveTextError: not a point, or not on the board.
    """
    match = re.fullmatch(r"([a-z])([1-9][0-9]?)", text.strip(), re.IGNORECASE | re.ASCII)
    column = files.lower().find(match[1].lower()) if match else -1
    if match is None or column < 0:
        raise MoveTextError(f"not a move: {text!r}; expected {expected}")
    if column >= width or int(match[2]) > height:
        raise MoveTextError(f"no such point on a {height}x{width} board: {text!r}")
    return (height - int(match[2])) * width + column

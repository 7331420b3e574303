"""Cells and rules in the Gomocup protocol: ``x,y`` from 0, where x is the column and y the row from the top."""

import re

from pipeline_src.errors import ZugwerkError

RULES = {0: "freestyle", 1: "exact", 4: "renju", 8: "caro"}
"""Our variants by the number in ``INFO rule``. The number is a sum of bits."""
OTHER_RULES = {2: "continuous"}
_CELL = re.compile(r"([0-9]{1,3})\s*,\s*([0-9]{1,3})")


def write_cell(action: int, width: int) -> str:
    """Return the text of a cell's action id."""
    return f"{action % width},{action // width}"


def read_cell(text: str, height: int, width: int) -> int:
    """Return the action id of ``x,y``. Whether the cell is empty is not checked.

    Raises:
        ZugwerkError: the text is not two numbers, or the cell is not on the board.
    """
    match = _CELL.fullmatch(text.strip())
    if match is None:
        raise ZugwerkError(f"{text[:40]!r} is no cell; expected x,y")
    x, y = int(match[1]), int(match[2])
    if x >= width or y >= height:
        raise ZugwerkError(f"no cell {x},{y} on a board of {width}x{height}")
    return y * width + x


def is_cell(text: str) -> bool:
    """Whether a line has the form ``x,y``, on the board or not."""
    return _CELL.fullmatch(text.strip()) is not None


def rule_number(variant: str) -> int:
    """Return the number of a variant.

    Raises:
        ZugwerkError: the protocol has no number for it.
    """
    for number, name in RULES.items():
        if name == variant:
            return number
    raise ZugwerkError(f"Gomocup's programs know {', '.join(RULES.values())}, not {variant}")


def rule_words(number: int) -> str:
    """Return the name of an unsupported rule."""
    bits = [name for bit, name in (RULES | OTHER_RULES).items() if number & bit]
    return " ".join(bits) or "unknown"

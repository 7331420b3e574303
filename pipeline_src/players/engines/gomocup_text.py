"""Cells and rules as the Gomocup protocol writes them: ``x,y`` from 0, x the column, y the row from the top."""

import re

from pipeline_src.errors import ZugwerkError

RULES = {0: "freestyle", 1: "exact", 4: "renju", 8: "caro"}
"""Variants of ours by the number in ``INFO rule``, whose bits may be put together."""
OTHER_RULES = {2: "continuous"}
_CELL = re.compile(r"([0-9]{1,3})\s*,\s*([0-9]{1,3})")


def write_cell(action: int, width: int) -> str:
    """Text of a cell's action id."""
    return f"{action % width},{action // width}"


def read_cell(text: str, height: int, width: int) -> int:
    """Action id of ``x,y``; whether there is a stone already is not looked at.

    Raises:
        ZugwerkError: not two numbers, or not on the board.
    """
    match = _CELL.fullmatch(text.strip())
    if match is None:
        raise ZugwerkError(f"{text[:40]!r} is no cell; expected x,y")
    x, y = int(match[1]), int(match[2])
    if x >= width or y >= height:
        raise ZugwerkError(f"no cell {x},{y} on a board of {width}x{height}")
    return y * width + x


def is_cell(text: str) -> bool:
    """Whether a line is ``x,y``, on the board or not."""
    return _CELL.fullmatch(text.strip()) is not None


def rule_number(variant: str) -> int:
    """The number of a variant.

    Raises:
        ZugwerkError: the protocol has none for it.
    """
    for number, name in RULES.items():
        if name == variant:
            return number
    raise ZugwerkError(f"Gomocup's programs know {', '.join(RULES.values())}, not {variant}")


def rule_words(number: int) -> str:
    """The name of a rule that we do not have."""
    bits = [name for bit, name in (RULES | OTHER_RULES).items() if number & bit]
    return " ".join(bits) or "unknown"

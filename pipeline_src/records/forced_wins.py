"""Positions of Gomoku with the distance of a forced win, a JSON object a line.

    {"size": 15, "variant": "freestyle", "actions": [112, 97], "win": 156, "plies": 3}

``actions`` are played from the empty board; ``plies`` is how far the end is, as somebody has announced it, not proven;
``win``, a winning action, may be missing.
"""

import json
from pathlib import Path
from typing import NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import GomokuState

RANGES = ((3, 5), (6, 9), (10, 15), (16, 25))
"""Of distances, by which shares are told; what is longer is one range more."""


class Announced(NamedTuple):
    """A position, its side to move said to win."""

    state: GomokuState
    plies: int


def read_forced_wins(path: Path) -> list[Announced]:
    """All positions of a file.

    Raises:
        ZugwerkError: no such file, no position in it, or a line that is none; names the line.
    """
    try:
        texts = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ZugwerkError(f"{path}: cannot be read: {error}") from None
    found = [_read(text, f"{path}, line {number}") for number, text in enumerate(texts, 1) if text.strip()]
    if not found:
        raise ZugwerkError(f"{path}: no positions in it")
    return found


def _read(text: str, where: str) -> Announced:
    try:
        row = json.loads(text)
        size, variant, actions, plies = row["size"], row["variant"], row["actions"], row["plies"]
    except (ValueError, RecursionError) as error:
        raise ZugwerkError(f"{where}: not JSON: {error}") from None
    except (KeyError, TypeError):
        raise ZugwerkError(f"{where}: expected an object with size, variant, actions and plies") from None
    whole = [size, plies, *actions] if isinstance(actions, list) else [None]
    if not isinstance(variant, str) or any(type(number) is not int for number in whole):
        raise ZugwerkError(
            f"{where}: size and plies are whole numbers, variant a text, actions a list of whole numbers"
        )
    try:
        state = gomoku.initial_state(size, variant)
        for action in actions:
            state = gomoku.play(state, action)
    except ZugwerkError as error:
        raise ZugwerkError(f"{where}: {error}") from None
    if gomoku.winner(state) is not None:
        raise ZugwerkError(f"{where}: the game is over")
    return Announced(state, plies)


def range_of(plies: int) -> str:
    """Text of the range that a distance is in, e.g. ``6-9``."""
    for low, high in RANGES:
        if plies <= high:
            return f"{low}-{high}"
    return f"{RANGES[-1][1] + 1}-"

"""Positions of Gomoku with the distance to a forced win, one JSON object on each line.

    {"size": 15, "variant": "freestyle", "actions": [112, 97], "win": 156, "plies": 3}

``actions`` are played from the empty board. ``plies`` is the distance to the end as announced by an engine, not proven.
``win``, a winning action, is optional. The package's own file, `PACKAGED`, is written by `bench.strength.forced_wins`;
its wins are proven.
"""

import json
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_text
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import GomokuState

PACKAGED = Path(__file__).with_suffix(".jsonl")  # The collection that comes with the package, the shortest wins first
RANGES = ((3, 5), (6, 9), (10, 15), (16, 25))
"""Ranges of distances by which results are reported. Longer distances form one more range."""


class Announced(NamedTuple):
    """A position in which a win was announced for the side to move."""

    state: GomokuState
    plies: int


def read_forced_wins(path: Path) -> list[Announced]:
    """Read all positions of a file.

    Raises:
        ZugwerkError: the file is missing or has no position, or a line is malformed; the message names the line.
    """
    texts = enumerate(read_text(path).splitlines(), 1)
    found = [_read(text, f"{path}, line {number}") for number, text in texts if text.strip()]
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
    if plies < 1:
        raise ZugwerkError(f"{where}: plies must be at least 1, not {plies}")
    try:
        state = reduce(gomoku.play, actions, gomoku.initial_state(size, variant))
    except ZugwerkError as error:
        raise ZugwerkError(f"{where}: {error}") from None
    if gomoku.winner(state) is not None:
        raise ZugwerkError(f"{where}: the game is over")
    return Announced(state, plies)


def range_of(plies: int) -> str:
    """Return the text of the range that contains a distance, e.g. ``6-9``."""
    for low, high in RANGES:
        if plies <= high:
            return f"{low}-{high}"
    return f"{RANGES[-1][1] + 1}-"

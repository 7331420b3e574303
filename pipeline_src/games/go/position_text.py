"""Text of Go positions (FEN; Go has no such format of its own).

The ranks from the top down with ``x`` for a black stone, ``o`` for a white one and a number for a run of empty points;
then ``b`` or ``w`` for the side to move; then these fields, in this order, where they apply: ``ko-d4`` (the point that
is forbidden to the side to move), ``pass-1`` or ``pass-2`` (passes in a row), ``komi-6.5`` (if it is not 7.5).
Example: ``3/1x1/3 w komi-0.5``
"""

import re

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go.board import (
    BLACK,
    EMPTY,
    KO,
    KOMI,
    MAX_SIDE,
    MIN_SIDE,
    NOWHERE,
    PASSES,
    STANDARD_KOMI,
    WHITE,
    GoState,
    format_variant,
    parse_variant,
    to_play,
)
from pipeline_src.games.go.notation import format_move, parse_move
from pipeline_src.games.go.setup import from_board

_CODE = {"x": BLACK, "o": WHITE}
_SHOWN = 700
"""Number of characters of a bad text that an error message quotes: more than any board needs."""
_FIELDS = re.compile(r"(\S+) ([bw])(?: ko-([a-hj-z][0-9]{1,2}))?(?: pass-([12]))?(?: (komi-[-.0-9]+))?")


class FenError(ZugwerkError):
    """A position text cannot be read; the message says why."""


def _bad(fen: str, what: str) -> FenError:
    return FenError(f"bad FEN {fen[:_SHOWN]!r}: {what}")


def from_fen(fen: str) -> GoState:
    """Read a position text; the module's docstring describes the format.

    Raises:
        FenError: wrong fields, an unknown letter, ranks of unequal length, a size outside 3..25, stones without a
            liberty, a ko that cannot be.
    """
    fields = _FIELDS.fullmatch(" ".join(fen.split()))
    if not fields:
        raise _bad(fen, "expected ranks, 'b' or 'w', and perhaps ko-d4, pass-1, komi-6.5, in this order")
    ranks = [_read_rank(text, fen) for text in fields[1].split("/")]
    height, width = len(ranks), max(map(len, ranks))
    if not (MIN_SIDE <= height <= MAX_SIDE and MIN_SIDE <= width <= MAX_SIDE):
        raise _bad(fen, f"board {height}x{width}; sides go from {MIN_SIDE} to {MAX_SIDE}")
    if any(len(rank) != width for rank in ranks):
        raise _bad(fen, f"its ranks have {', '.join(str(len(rank)) for rank in ranks)} points")
    try:
        return from_board(
            np.array(ranks, np.int8),
            "bw".index(fields[2]),
            ko=parse_move(fields[3], height, width) if fields[3] else NOWHERE,
            passes=int(fields[4] or 0),
            komi=parse_variant(fields[5] or "standard")[0],
        )
    except ZugwerkError as error:
        raise _bad(fen, str(error)) from None


def _read_rank(text: str, fen: str) -> list[int]:
    points: list[int] = []
    for number, letter in re.findall(r"([0-9]+)|(.)", text):
        if number:
            if len(number) > 2 or int(number) == 0:
                raise _bad(fen, f"a run of {number[:20]} empty points")
            points += [EMPTY] * int(number)
        elif letter in _CODE:
            points.append(_CODE[letter])
        else:
            raise _bad(fen, f"unknown letter {letter!r}; known are x o and numbers")
    return points


def to_fen(state: GoState) -> str:
    """Return the position text of a state."""
    ranks = []
    for row in state.board:
        text = "".join(".xo"[code] for code in row)
        ranks.append(re.sub(r"\.+", lambda run: str(len(run[0])), text))
    words = ["/".join(ranks), "bw"[to_play(state)]]
    if state.turn[KO] != NOWHERE:
        words.append("ko-" + format_move(int(state.turn[KO]), *state.board.shape).lower())
    if state.turn[PASSES]:
        words.append(f"pass-{state.turn[PASSES]}")
    if state.turn[KOMI] != STANDARD_KOMI:
        words.append(format_variant(int(state.turn[KOMI]), []))
    return " ".join(words)

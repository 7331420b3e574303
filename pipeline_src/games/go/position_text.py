"""Text of Go positions (FEN; Go has no such format of its own).

The ranks from the top down with ``x`` for a black stone, ``o`` for a white one and a number for a run of empty points;
then ``b`` or ``w`` for the side to move; then these fields, in this order, where they apply: ``ko-d4`` (the point that
is forbidden to the side to move), ``pass-1`` or ``pass-2`` (passes in a row), ``komi-6.5`` (if it is not 7.5).
Example: ``3/1x1/3 w komi-0.5``
"""

import re

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go.board import (
    KO,
    KOMI,
    MAX_SIDE,
    MIN_SIDE,
    NOWHERE,
    PASSES,
    STANDARD_KOMI,
    GoState,
    format_variant,
    parse_variant,
    to_play,
)
from pipeline_src.games.go.notation import format_move, parse_move
from pipeline_src.games.go.setup import from_board
from pipeline_src.games.stone_fen import bad, read_ranks, write_ranks

_FIELDS = re.compile(r"(\S+) ([bw])(?: ko-([a-hj-z][0-9]{1,2}))?(?: pass-([12]))?(?: (komi-[-.0-9]+))?")


def from_fen(fen: str) -> GoState:
    """Read a position text; the module's docstring describes the format.

    Raises:
        FenError: wrong fields, an unknown letter, ranks of unequal length, a size outside 3..25, stones without a
            liberty, a ko that cannot be.
    """
    fields = _FIELDS.fullmatch(" ".join(fen.split()))
    if not fields:
        raise bad(fen, "expected ranks, 'b' or 'w', and perhaps ko-d4, pass-1, komi-6.5, in this order")
    board = read_ranks(fields[1], fen, MIN_SIDE, MAX_SIDE, "points")
    try:
        return from_board(
            board,
            "bw".index(fields[2]),
            ko=parse_move(fields[3], *board.shape) if fields[3] else NOWHERE,
            passes=int(fields[4] or 0),
            komi=parse_variant(fields[5] or "standard")[0],
        )
    except ZugwerkError as error:
        raise bad(fen, str(error)) from None


def to_fen(state: GoState) -> str:
    """Return the position text of a state."""
    words = [write_ranks(state.board), "bw"[to_play(state)]]
    if state.turn[KO] != NOWHERE:
        words.append("ko-" + format_move(int(state.turn[KO]), *state.board.shape).lower())
    if state.turn[PASSES]:
        words.append(f"pass-{state.turn[PASSES]}")
    if state.turn[KOMI] != STANDARD_KOMI:
        words.append(format_variant(int(state.turn[KOMI]), []))
    return " ".join(words)

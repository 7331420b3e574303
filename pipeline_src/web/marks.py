"""Marks of boards in addition to their pieces: lines that won, points that Renju forbids, the squares of each side."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons import AmazonsState, format_square
from pipeline_src.games.gomoku import (
    BLACK,
    EMPTY,
    FIRST,
    GOING,
    LINE,
    RENJU,
    RULE,
    SIDE,
    STANDING,
    WON,
    GomokuState,
    forbidden,
    kind_of_line,
    line_at,
    on_board,
    run,
)
from pipeline_src.games.rules import to_play as to_play_of
from pipeline_src.search.amazons.endgame import PLAY_NODES, count_out, endgame_scratch
from pipeline_src.search.amazons.evaluation import FIRST as FIRST_NEARER
from pipeline_src.search.amazons.evaluation import SECOND as SECOND_NEARER
from pipeline_src.search.amazons.evaluation import distances, territory
from pipeline_src.web.messages.play import Counted, Squares, Territory

WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""(rows, columns) from a cell to the next one, for the four directions of a row."""
SIDES: tuple[Literal["first"], Literal["second"]] = ("first", "second")
Cell = tuple[int, int]


def winning_line(state: GomokuState) -> list[int]:
    """Return the cells of the winning lines, ascending; none without a winner."""
    if state.turn[STANDING] != WON:
        return []
    colour = 2 - int(state.turn[SIDE])
    line, kind = int(state.turn[LINE]), int(kind_of_line(state, colour))
    won: set[Cell] = set()
    for cell in np.argwhere(state.board == colour).tolist():
        for way in WAYS:
            row = _row(state.board, cell, way)
            if row[0] != tuple(cell) or len(row) < line:
                continue
            alone = np.where(state.board == colour, EMPTY, state.board)  # of the winner, this row alone
            alone[tuple(np.transpose(row))] = colour
            if line_at(alone, cell[0], cell[1], colour, line, kind):
                won.update(row)
    width = state.board.shape[1]
    return sorted(r * width + c for r, c in won)


def _row(board: npt.NDArray[np.int8], cell: Any, way: Cell) -> list[Cell]:
    """Return the cells of the row of one colour through a stone, in order."""
    (r, c), (down, right), colour = cell, way, int(board[tuple(cell)])
    behind, ahead = run(board, r, c, -down, -right, colour), run(board, r, c, down, right, colour)
    return [(r + k * down, c + k * right) for k in range(-behind, ahead + 1)]


def forbidden_cells(state: GomokuState) -> dict[int, str]:
    """Return the cells that Renju forbids to Black, who is to move, each with the reason."""
    if state.turn[RULE] != RENJU or state.turn[SIDE] != FIRST or state.turn[STANDING] != GOING:
        return {}
    width = state.board.shape[1]
    empty = [(r, c) for r, c in np.argwhere(state.board == EMPTY).tolist() if forbidden(state.board, r, c)]
    return {r * width + c: _reason(state.board.copy(), (r, c)) for r, c in empty}


def _reason(board: npt.NDArray[np.int8], cell: Cell) -> str:
    """Return why a cell is forbidden to Black. The stone is put on the board."""
    board[cell] = BLACK
    if any(len(_row(board, cell, way)) > 5 for way in WAYS):
        return "six or more in a row"
    return "two fours" if sum(len(_fours(board, cell, way)) for way in WAYS) > 1 else "two threes"


def _fours(board: npt.NDArray[np.int8], cell: Cell, way: Cell) -> list[Cell]:
    """Return the fours of a black stone in one direction, as cells that make exactly five of them.

    A straight four, which two cells complete, counts once.
    """
    found = []
    for k in (-4, -3, -2, -1, 1, 2, 3, 4):
        at = (cell[0] + k * way[0], cell[1] + k * way[1])
        if on_board(board, *at) and board[at] == EMPTY:
            board[at] = BLACK
            row = _row(board, at, way)
            board[at] = EMPTY
            if len(row) == 5 and cell in row:
                found.append(at)
    return found[:1] if len(_row(board, cell, way)) == 4 else found


def squares_of(state: AmazonsState) -> Territory:
    """Return the empty squares of each side in a position of the Amazons, and the winner if counting decides it."""
    reached, width = _reached(state), state.board.shape[1]
    nearer = territory(state).queen.reshape(state.board.shape)

    def named(which: npt.NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(format_square(square, width) for square in np.flatnonzero(which).tolist())

    first, second = (
        Squares(settled=named(own & ~other), nearer=named(own & other & (nearer == side)))
        for side, own, other in ((FIRST_NEARER, *reached), (SECOND_NEARER, *reached[::-1]))
    )
    return Territory(first=first, second=second, counted=counted(state))


def counted(state: AmazonsState) -> Counted | None:
    """Return the result of a position in which no empty square is open to both sides, if counting decides it."""
    first, second = _reached(state)
    if state.turn[1] >= 0 or (first & second).any():
        return None
    least, most, _ = count_out(state, PLAY_NODES, endgame_scratch(state.amazons.shape[1]))
    to_play = to_play_of(state)
    if least > 0:
        return Counted(winner=SIDES[to_play], spare=least - 1)
    return Counted(winner=SIDES[1 - to_play], spare=-most) if most <= 0 else None


def _reached(state: AmazonsState) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the empty squares that each side's amazons reach by king moves through empty squares, bool [H, W]."""
    first, second = (np.isfinite(distances(state, side, far=False)) for side in (0, 1))
    return first, second

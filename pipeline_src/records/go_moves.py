"""Convert the coloured moves of a Go record to the actions of a game: one a ply, alternating sides, all legal."""

from collections.abc import Iterable
from typing import NamedTuple

from pipeline_src.games.go import format_move
from pipeline_src.games.go.board import KO, PASSES, SIDE
from pipeline_src.games.go.moves import legal, play
from pipeline_src.games.go.setup import initial_state
from pipeline_src.records.rejects import RecordError


class GoMoves(NamedTuple):
    """The plies of a record."""

    actions: tuple[int, ...]
    passes_added: int
    """Passes inserted where the record has two moves in a row by one side: the other side passed, or a move is
    missing."""
    cut: int
    """Number of moves left out because they follow two passes in a row, which end the game."""


def read_moves(moves: Iterable[tuple[int, int]], size: int, variant: str) -> GoMoves:
    """Play moves (side, action) from the start position of a variant.

    Raises:
        RecordError: ``illegal_move`` with its ply; the ply includes the inserted passes.
        ZugwerkError: the variant or its start position is invalid.
    """
    state = initial_state(size, variant)
    actions: list[int] = []
    added = cut = 0
    for side, action in moves:
        if state.turn[PASSES] < 2 and side != state.turn[SIDE]:
            play(state, size * size)
            actions.append(size * size)
            added += 1
        if state.turn[PASSES] >= 2:
            cut += 1
            continue
        if not legal(state, action):
            where = format_move(action, size, size)
            if action == state.turn[KO]:
                why = "takes a ko back at once"
            else:
                why = "is occupied" if state.board[divmod(action, size)] else "has no liberty"
            colour = "White's" if side else "Black's"
            raise RecordError("illegal_move", f"{colour} move {where} {why}", len(actions))
        play(state, action)
        actions.append(action)
    return GoMoves(tuple(actions), added, cut)

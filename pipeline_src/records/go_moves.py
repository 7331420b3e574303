"""The contents of a Go record: its coloured moves as the actions of a game, one a ply, all legal; and its komi."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from pipeline_src.games.go import KO, MAX_KOMI, PASSES, SIDE, format_move, initial_state, legal
from pipeline_src.games.kernels import play
from pipeline_src.records.record import GameRecord, RecordError

_KOMI = re.compile(r"[+-]?\d{1,6}(?:[.,]\d{1,6})?")


class GoMoves(NamedTuple):
    """The plies of a record."""

    actions: tuple[int, ...]
    passes_added: int
    """Passes inserted where the record has two moves in a row by one side: the other side passed, or a move is
    missing."""
    cut: int  # Number of moves left out because they follow two passes in a row, which end the game


class SgfGame(NamedTuple):
    """The contents of one record."""

    record: GameRecord
    name: str  # Name of its file or page, for messages
    variations: int  # Number of variations, without the main line
    passes_added: int
    cut: int  # See `GoMoves`


def read_moves(moves: Iterable[tuple[int, int]], size: int, variant: str) -> GoMoves:
    """Play moves (side, action) from the start position of a variant.

    Raises:
        RecordError: ``illegal_move`` with its ply; the ply includes the inserted passes. ``contradiction`` if stones
            follow two passes in a row of which one was inserted.
        ZugwerkError: the variant or its start position is invalid.
    """
    state = initial_state(size, variant)
    actions: list[int] = []
    added = cut = 0
    last_added = -1
    for side, action in moves:
        if state.turn[PASSES] < 2 and side != state.turn[SIDE]:
            play(state, size * size)
            actions.append(size * size)
            added, last_added = added + 1, len(actions)
        if state.turn[PASSES] >= 2:
            if action != size * size and last_added > len(actions) - 2:
                raise RecordError("contradiction", "a pass, and another move by the same side", len(actions))
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


def half_points(text: str) -> int | None:
    """Return the komi in half points for any way of writing it; None for one that is missing or that no rules have."""
    text = text.strip()  # float() strips fewer signs
    if not _KOMI.fullmatch(text):
        return None
    points = float(text.replace(",", "."))
    points = points / 100 if abs(points) >= 100 else points
    if abs(points * 2) % 1 == 0.5:  # 3.75 of one side's stones are 7.5 points
        points *= 2
    halves = points * 2
    return int(halves) if halves % 1 == 0 and abs(halves) <= MAX_KOMI else None

"""LittleGolem's records of Go: convert a crawled game to a `GameRecord`, or to the reason for rejecting it.

    (;FF[4]EV[null]PB[ann]PW[bob]KM[0.5]SZ[19]SO[http://www.littlegolem.com]HA[2]AB[pd]AB[dp];W[fq];B[fp];W[tt];B[tt])

PB is Black. Each handicap stone is a property of its own. ``tt`` is a pass; a record has one more pass where the
players then agree on the score. Names are not escaped, so this is not SGF. The record does not state the result: it
comes from the lists or from a resignation, and is left open if neither names a winner.
"""

import re
from dataclasses import replace

from pipeline_src.games.go import FIRST, LETTERS, MAX_SIDE, MIN_SIDE, SECOND, format_variant
from pipeline_src.records.go_moves import GoMoves, SgfGame, half_points, read_moves
from pipeline_src.records.littlegolem.text import (
    Node,
    ParsedRecord,
    Players,
    join_stones,
    match_players,
    only_text,
    said_of,
    source_of,
    split_file,
    the_record,
)
from pipeline_src.records.raw import RawGame
from pipeline_src.records.record import GameRecord, RecordError, Reject, Winner, shown

_SIZE = re.compile(rb"\bSZ\[(\d{1,2})\]")
_POINT = re.compile(r"[a-y]{2}")
_PASSES = ("tt", "", "pass")
_AFTER_THE_GAME = ("score", "accept")
"""Words of the site's JSON interface for the actions of players after both have passed."""
RESIGN = "resign"


def read_go(raw: RawGame, size: int = 19) -> SgfGame | Reject:
    """Read one crawled game on a board of a size. Any answer of the server gives a game or a reject."""
    try:
        return _read(raw, size)
    except RecordError as error:
        return Reject(raw.gid, error.ply, error.reason, error.detail)


def read_file(data: bytes, gid: int, name: str, size: int | None) -> list[SgfGame | Reject]:
    """Read the records of a user's file, numbered from ``gid`` on, on boards of a size; None accepts any size."""
    results: list[SgfGame | Reject] = []
    texts = split_file(data)
    for number, text in enumerate(texts):
        found = _SIZE.search(text)
        side = int(found[1]) if found and MIN_SIDE <= int(found[1]) < MAX_SIDE else 19
        game = read_go(RawGame(gid + number, name, 0, text), size or side)
        if isinstance(game, Reject):
            which = f" (record {number + 1} of {len(texts)})" if len(texts) > 1 else ""
            game = replace(game, detail=f"{name}{which}: {game.detail}")
        results.append(game)
    return results


def _read(raw: RawGame, size: int) -> SgfGame:
    record = the_record(raw, lambda body: join_stones(only_text(body)), lambda one: _play(one, size))
    variant, plies, resigned = _play(record, size)
    players = match_players(raw, record)
    return SgfGame(
        GameRecord(
            game="go",
            gid=raw.gid,
            source=source_of(raw),
            variant=variant,
            height=size,
            width=size,
            actions=plies.actions,
            winner=_winner(players, resigned),
            resigned=resigned >= 0,
            first_name=record.header.get("PB", ""),
            second_name=record.header.get("PW", ""),
            first_plid=players.first.plid if players.first else 0,
            second_plid=players.second.plid if players.second else 0,
            event=record.header.get("EV", "").removeprefix("null"),
        ),
        raw.path,
        0,
        plies.passes_added,
        plies.cut,
    )


def _play(record: ParsedRecord, size: int) -> tuple[str, GoMoves, int]:
    """Return the variant and the plies of a record, and the side that resigned or -1."""
    side = record.header.get("SZ", str(size))
    if side != str(size):
        raise RecordError("other_variant", f"a board of size {shown(side)}; wanted: {size}")
    komi, stones = half_points(record.header.get("KM", "")), _handicap(record.header.get("AB", ""), size)
    moves, resigned = _moves(record.nodes, size)
    variant = format_variant(komi, stones)
    return variant, read_moves(moves, size, variant), resigned


def _handicap(text: str, size: int) -> list[tuple[int, int]]:
    points = [text[at : at + 2] for at in range(0, len(text), 2)]
    if any(not _POINT.fullmatch(point) for point in points):
        raise RecordError("bad_text", f"handicap stones {shown(text)}", 0)
    stones = [(LETTERS.index(point[1]), LETTERS.index(point[0])) for point in points]
    if len(set(stones)) != len(stones) or any(max(stone) >= size for stone in stones):
        raise RecordError("bad_text", f"handicap stones {shown(text)}", 0)
    return stones


def _moves(nodes: tuple[Node, ...], size: int) -> tuple[list[tuple[int, int]], int]:
    """Return the moves (side, action), and the side that resigned or -1."""
    moves: list[tuple[int, int]] = []
    for ply, (colour, value) in enumerate(nodes):
        if colour not in "BW":
            raise RecordError("other_game", f"{shown(colour)} is no colour of Go", ply)
        side = FIRST if colour == "B" else SECOND
        if value == RESIGN:
            return moves, side
        if value.startswith(_AFTER_THE_GAME):
            break
        if value in _PASSES:
            moves.append((side, size * size))
        elif _POINT.fullmatch(value) and max(value) < LETTERS[size]:
            moves.append((side, LETTERS.index(value[1]) * size + LETTERS.index(value[0])))
        else:
            raise RecordError("bad_text", f"no point: {shown(value)}", ply)
    return moves, -1


def _winner(players: Players, resigned: int) -> Winner | None:
    """Return the winner by the players' results in the lists, which must agree with each other and with a resignation.

    Raises:
        RecordError: ``contradiction``.
    """
    of_record: Winner | None = None if resigned < 0 else "second" if resigned == FIRST else "first"
    of_lists = said_of(players.first, "first", "second"), said_of(players.second, "second", "first")
    said = {one for one in (of_record, *of_lists) if one}
    if len(said) > 1:
        raise RecordError("contradiction", f"by lists and record, the winner was {' and '.join(sorted(said))}")
    return said.pop() if said else None

"""Records of Go: readers of SGF and of LittleGolem's own text, and the writer of SGF, through sgfmill.

The main line of a record is read; variations are counted. Handicap stones are those set up before the first move (AB);
the number in HA is ignored. Komi (KM) is in points: 650, as some servers write it, is read as 6.5, and 3.75, the count
of one side's stones in Chinese records, as 7.5. A komi that is missing, or that no rule set has, is unknown. If the
result (RE) is missing, void or unknown, the winner is left open. A text that is not a game on a board of the wanted
size raises a `RecordError`, or gives a `Reject` that names its file.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from sgfmill import sgf
from sgfmill.sgf_properties import interpret_go_point

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_bytes
from pipeline_src.games import go
from pipeline_src.games.kernels import play
from pipeline_src.records.littlegolem.text import (
    Node,
    ParsedRecord,
    Players,
    join_stones,
    match_players,
    of_site,
    only_text,
    said_of,
    source_of,
    split_file,
    the_record,
)
from pipeline_src.records.raw import RawGame
from pipeline_src.records.record import GameRecord, RecordError, Reject, Winner, shown
from pipeline_src.records.sgf import SgfGame, bad_text, choose, count_variations, read_result, read_trees, text_of

SIZE = 19
_KOMI = re.compile(r"[+-]?\d{1,6}(?:[.,]\d{1,6})?")


class GoMoves(NamedTuple):
    """The plies of a record."""

    actions: tuple[int, ...]
    passes_added: int
    """Passes inserted where the record has two moves in a row by one side: the other side passed, or a move is
    missing."""
    cut: int  # Number of moves left out because they follow two passes in a row, which end the game


def read_moves(moves: Iterable[tuple[int, int]], size: int, variant: str) -> GoMoves:
    """Play moves (side, action) from the start position of a variant.

    Raises:
        RecordError: ``illegal_move`` with its ply; the ply includes the inserted passes. ``contradiction`` if stones
            follow two passes in a row of which one was inserted.
        ZugwerkError: the variant or its start position is invalid.
    """
    state = go.initial_state(size, variant)
    actions: list[int] = []
    added = cut = 0
    last_added = -1
    for side, action in moves:
        if state.turn[go.PASSES] < 2 and side != state.turn[go.SIDE]:
            play(state, size * size)
            actions.append(size * size)
            added, last_added = added + 1, len(actions)
        if state.turn[go.PASSES] >= 2:
            if action != size * size and last_added > len(actions) - 2:
                raise RecordError("contradiction", "a pass, and another move by the same side", len(actions))
            cut += 1
            continue
        if not go.legal(state, action):
            where = go.format_move(action, size, size)
            if action == state.turn[go.KO]:
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
    return int(halves) if halves % 1 == 0 and abs(halves) <= go.MAX_KOMI else None


# SGF.


def read_sgf(path: Path | str, gid: int = 0, size: int | None = SIZE, number: int | None = None) -> SgfGame:
    """Read a game of Go from a file: the only one, or the one with a ``number`` from 1 on.

    Raises:
        ZugwerkError: the file is missing; as `choose`.
    """
    return choose(parse_sgf(read_bytes(path), gid, name=str(path), size=size), path, number)


def parse_sgf(data: bytes, gid: int = 0, *, name: str = "record", size: int | None = SIZE) -> list[SgfGame | Reject]:
    """Read the games of a file's bytes, numbered from ``gid`` on. The list has at least one entry.

    Args:
        data: one game or a collection, in any charset that it declares (CA), see `sgf.decode`; or LittleGolem's
            text, in which names are not escaped.
        gid: number of the first game.
        name: name of the file, with which the details of rejects begin.
        size: size of the board; games of other sizes are rejected. None accepts any size.
    """
    if of_site(data):
        return read_file(data, gid, name, size)
    return read_trees(data, gid, name, lambda tree, number: read_tree(tree, number, size, name))


def read_tree(tree: Any, gid: int, size: int | None, name: str) -> SgfGame:
    """Read one game of Go from a tree of `sgf.trees`; the other arguments are those of `parse_sgf`.

    Raises:
        RecordError: the game is not usable.
    """
    first = tree.sequence[0]
    size = _check_game(first, size)
    stones, moves = _read_nodes(sgf.Sgf_game.from_coarse_game_tree(tree), size)
    handicap = text_of(first, "HA").strip()
    if not stones and handicap.strip("0").isdecimal() and moves and moves[0][0] == go.SECOND:
        raise RecordError("contradiction", f"a handicap of {shown(handicap)}, but no stones are set up", 0)
    variant = go.format_variant(half_points(text_of(first, "KM")), stones)
    with bad_text("the handicap stones"):
        plies = read_moves(moves, size, variant)
    winner, resigned = read_result(text_of(first, "RE"))
    record = GameRecord(
        game="go",
        gid=gid,
        source="file",
        variant=variant,
        height=size,
        width=size,
        actions=plies.actions,
        winner=winner,
        resigned=resigned,
        first_name=text_of(first, "PB"),
        second_name=text_of(first, "PW"),
        event=text_of(first, "EV"),
    )
    return SgfGame(record, name, count_variations(tree), plies.passes_added, plies.cut)


def _check_game(first: dict[str, list[bytes]], wanted: int | None) -> int:
    """Return the size of a board, which becomes one number in ``first``, as sgfmill needs it."""
    kind = text_of(first, "GM").strip() or "1"
    if kind != "1":
        raise RecordError("other_game", f"GM[{shown(kind)}]; Go is GM[1]")
    side = text_of(first, "SZ").strip() or "19"
    numbers = {number.lstrip("0") for number in side.split(":")}
    sizes = [size for size in range(go.MIN_SIDE, go.MAX_SIDE + 1) if numbers == {str(size)} and wanted in (None, size)]
    if not sizes:
        size = wanted or f"one from {go.MIN_SIDE} to {go.MAX_SIDE}"
        raise RecordError("other_variant", f"a board of size {shown(side)}; wanted: {size}")
    first["SZ"] = [str(sizes[0]).encode()]
    return sizes[0]


def _read_nodes(game: Any, size: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the handicap stones (row, column) and the moves (side, action) of the main line."""
    stones: set[tuple[int, int]] = set()
    moves: list[tuple[int, int]] = []
    for node in game.main_sequence_iter():
        ply = len(moves)
        if node.has_setup_stones():
            with bad_text("points that are set up", ply):
                black, white, empty = node.get_setup_stones()
            if moves or white or empty:
                raise RecordError("other_variant", "stones are set up, beyond a handicap before the first move", ply)
            stones |= {(size - 1 - row, column) for row, column in black}
        if sum(len(node.get_raw_list(letter)) for letter in "BW" if node.has_property(letter)) > 1:
            raise RecordError("bad_text", "two moves in one node", ply)
        colour, raw = node.get_raw_move()
        if colour is not None:
            with bad_text(f"no point: {shown(raw.decode('latin-1'))}", ply):
                point = interpret_go_point(raw, size)
            action = size * size if point is None else (size - 1 - point[0]) * size + point[1]
            moves.append((go.FIRST if colour == "b" else go.SECOND, action))
    return sorted(stones), moves


def write_sgf(record: GameRecord) -> bytes:
    """Write a record as SGF (FF 4, UTF-8), the main line only.

    Raises:
        ZugwerkError: the record is of another game, or the board is not square.
    """
    if record.game != "go" or record.height != record.width:
        raise ZugwerkError(
            f"game {record.gid}: {record.game}, {record.height}x{record.width}, cannot be written as SGF"
        )
    size = record.width
    komi, stones = go.parse_variant(record.variant)
    game = sgf.Sgf_game(size, encoding="UTF-8")
    root = game.get_root()
    if not record.variant.startswith(go.UNKNOWN_KOMI):
        root.set("KM", komi / 2)
    if stones:
        root.set_setup_stones({(size - 1 - row, column) for row, column in stones}, set())
        if len(stones) > 1:
            root.set("HA", len(stones))
    for key, text in (("PB", record.first_name), ("PW", record.second_name), ("EV", record.event)):
        if text:
            root.set(key, text.encode("utf-8", "replace").decode())
    result = {"first": "B+", "second": "W+", "draw": "0", None: ""}[record.winner]
    if result:
        root.set("RE", result + ("R" if record.resigned else ""))
    side = go.SECOND if stones else go.FIRST
    for action in record.actions:
        row, column = divmod(action, size)
        point = go.LETTERS[column] + go.LETTERS[row] if action < size * size else ""
        game.extend_main_sequence().set_raw("BW"[side], point.encode())
        side = 1 - side
    data: bytes = game.serialise()
    return data


# LittleGolem's text:
#
#    (;FF[4]EV[null]PB[ann]PW[bob]KM[0.5]SZ[19]SO[http://www.littlegolem.com]HA[2]AB[pd]AB[dp];W[fq];B[fp];W[tt];B[tt])
#
# PB is Black. Each handicap stone is a property of its own. ``tt`` is a pass; a record has one more pass where the
# players then agree on the score. Names are not escaped, so this is not SGF. The record does not state the result: it
# comes from the lists or from a resignation, and is left open if neither names a winner.


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
        side = int(found[1]) if found and go.MIN_SIDE <= int(found[1]) < go.MAX_SIDE else 19
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
    variant = go.format_variant(komi, stones)
    return variant, read_moves(moves, size, variant), resigned


def _handicap(text: str, size: int) -> list[tuple[int, int]]:
    points = [text[at : at + 2] for at in range(0, len(text), 2)]
    if any(not _POINT.fullmatch(point) for point in points):
        raise RecordError("bad_text", f"handicap stones {shown(text)}", 0)
    stones = [(go.LETTERS.index(point[1]), go.LETTERS.index(point[0])) for point in points]
    if len(set(stones)) != len(stones) or any(max(stone) >= size for stone in stones):
        raise RecordError("bad_text", f"handicap stones {shown(text)}", 0)
    return stones


def _moves(nodes: tuple[Node, ...], size: int) -> tuple[list[tuple[int, int]], int]:
    """Return the moves (side, action), and the side that resigned or -1."""
    moves: list[tuple[int, int]] = []
    for ply, (colour, value) in enumerate(nodes):
        if colour not in "BW":
            raise RecordError("other_game", f"{shown(colour)} is no colour of Go", ply)
        side = go.FIRST if colour == "B" else go.SECOND
        if value == RESIGN:
            return moves, side
        if value.startswith(_AFTER_THE_GAME):
            break
        if value in _PASSES:
            moves.append((side, size * size))
        elif _POINT.fullmatch(value) and max(value) < go.LETTERS[size]:
            moves.append((side, go.LETTERS.index(value[1]) * size + go.LETTERS.index(value[0])))
        else:
            raise RecordError("bad_text", f"no point: {shown(value)}", ply)
    return moves, -1


def _winner(players: Players, resigned: int) -> Winner | None:
    """Return the winner by the players' results in the lists, which have to agree, also with a resignation."""
    of_record: Winner | None = None if resigned < 0 else "second" if resigned == go.FIRST else "first"
    of_lists = said_of(players.first, "first", "second"), said_of(players.second, "second", "first")
    said = {one for one in (of_record, *of_lists) if one}
    if len(said) > 1:
        raise RecordError("contradiction", f"by lists and record, the winner was {' and '.join(sorted(said))}")
    return said.pop() if said else None

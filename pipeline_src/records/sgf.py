"""Go records in SGF, through sgfmill: reader and writer.

The main line of a record is read; variations are counted. Handicap stones are those set up before the first move (AB);
the number in HA is ignored. Komi (KM) is in points: 650, as some servers write it, is read as 6.5, and 3.75, the count
of one side's stones in Chinese records, as 7.5. A komi that is missing, or that no rule set has, is unknown. If the
result (RE) is missing, void or unknown, the winner is left open; `read_result` also reads Chinese, Japanese and Korean.
`sgf_text` decodes and parses the file. A text that is not a game on a board of the wanted size raises a `RecordError`,
or gives a `Reject` that names its file.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sgfmill import sgf
from sgfmill.sgf_properties import interpret_go_point

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_bytes
from pipeline_src.games.go.board import (
    FIRST,
    LETTERS,
    MAX_SIDE,
    MIN_SIDE,
    SECOND,
    UNKNOWN_KOMI,
    format_variant,
    parse_variant,
)
from pipeline_src.records.go_moves import SgfGame, half_points, read_moves
from pipeline_src.records.littlegolem.go import read_file
from pipeline_src.records.littlegolem.text import of_site
from pipeline_src.records.record import GameRecord, Source, Winner
from pipeline_src.records.rejects import RecordError, Reject, shown
from pipeline_src.records.sgf_text import text_of, trees

SIZE = 19
LISTED = 50
"""Largest number of games in a list to choose from."""
_RESULT = re.compile(r"(?:(b|[黑黒흑])|w|[白백])\+\s*(r|中|불계)?")
_RESIGNED = r"中[盘盤押]し?|不[计計][点點目]|[认認]|불계"
_COUNTED = r"[\d./\u2044\u3007又零一二三四五六七八九十百半반目子点點집]|分之"
_HOW = rf"(?:[\s,:()+。]|{_RESIGNED}|{_COUNTED}|超?[时時][间間]?|切れ|시간)*"
"""Words about a victory; an unknown word leaves the result unknown."""
_WORDS = re.compile(rf"(?:([黑黒흑])|[白백])[方棋番]?{_HOW}(?:[胜勝赢贏승]|([负負败敗输輸패]))[ちりけ]?{_HOW}")
_DRAWN = {*("0", "draw", "jigo", "和", "和棋", "和局", "持棋", "持碁", "平局", "ジゴ", "引き分け", "무승부", "빅")}


def read_sgf(path: Path | str, gid: int = 0, size: int | None = SIZE, number: int | None = None) -> SgfGame:
    """Read a game of Go from a file: the only one, or the one with a ``number`` from 1 on.

    Raises:
        ZugwerkError: the file is missing; as `choose`.
    """
    return choose(parse_sgf(read_bytes(path), gid, name=str(path), size=size), path, number)


def choose(found: Sequence[SgfGame | Reject], path: Path | str, number: int | None) -> SgfGame:
    """Return the only game of a file, or the one with a ``number`` from 1 on.

    Raises:
        ZugwerkError: the file has several games and no number is given, or has no game of this number; the game is not
            usable (`RecordError`; its message begins with the path).
    """
    if number is None and len(found) > 1:
        raise ZugwerkError(f"{path}: {len(found)} games; choose one by its number (--game):\n{listed(found)}")
    number = 1 if number is None else number
    if not 1 <= number <= len(found):
        raise ZugwerkError(f"{path}: no game {number}; it has {len(found)}")
    game = found[number - 1]
    if isinstance(game, Reject):
        raise RecordError(game.reason, game.detail, game.ply)
    return game


def listed(found: Sequence[SgfGame | Reject]) -> str:
    """Return the games of a file as a list to choose from, a line a game, cut after the first `LISTED`."""
    lines = []
    for number, game in enumerate(found[:LISTED], 1):
        if isinstance(game, Reject):
            lines.append(f"{number:>4}  {game.reason}")
        else:
            names = (game.record.first_name, game.record.second_name)
            players = " - ".join(one[:40] if one.isprintable() else shown(one) for one in names)
            lines.append(f"{number:>4}  {players}, {len(game.record.actions)} moves")
    return "\n".join([*lines, "   ..."] if len(found) > LISTED else lines)


def parse_sgf(
    data: bytes, gid: int = 0, *, name: str = "record", size: int | None = SIZE, source: Source = "file"
) -> list[SgfGame | Reject]:
    """Read the games of a file's bytes, numbered from ``gid`` on. The list has at least one entry.

    Args:
        data: one game or a collection, in any charset that it declares (CA); see `sgf_text`. LittleGolem's text, in
            which names are not escaped, is read as such.
        gid: number of the first game.
        name: name of the file, with which the details of rejects begin.
        size: size of the board; games of other sizes are rejected. None accepts any size.
        source: source of the games, for the records.
    """
    if of_site(data):
        return read_file(data, gid, name, size)
    return read_trees(data, gid, name, lambda tree, number: read_tree(tree, number, size, source, name))


def read_trees(data: bytes, gid: int, name: str, read: Callable[[Any, int], SgfGame]) -> list[SgfGame | Reject]:
    """Read the games of a file's bytes with ``read``, a function of a game's tree and number; see `parse_sgf`."""
    if not data.strip():
        return [Reject(gid, -1, "empty", f"{name}: nothing in the file")]
    results: list[SgfGame | Reject] = []
    found = list(trees(data))
    for number, tree in enumerate(found):
        try:
            if isinstance(tree, RecordError):
                raise tree
            results.append(read(tree, gid + number))
        except RecordError as error:
            which = f" (game {number + 1} of {len(found)})" if len(found) > 1 else ""
            results.append(Reject(gid + number, error.ply, error.reason, f"{name}{which}: {error.detail}"))
    return results


@contextmanager
def bad_text(what: str, ply: int = -1) -> Iterator[None]:
    """Turn sgfmill's errors about bad values into a `RecordError`."""
    try:
        yield
    except RecordError:
        raise
    except (ValueError, LookupError) as error:
        raise RecordError("bad_text", f"{what} ({error})", ply) from None


def read_tree(tree: Any, gid: int, size: int | None, source: Source, name: str) -> SgfGame:
    """Read one game of Go.

    Args:
        tree: from `sgf_text.trees`.
        gid: number of the game.
        size: as for `parse_sgf`.
        source: source of the game, for the record.
        name: name of the file.

    Raises:
        RecordError: the game is not usable.
    """
    first = tree.sequence[0]
    size = _check_game(first, size)
    stones, moves = _read_nodes(sgf.Sgf_game.from_coarse_game_tree(tree), size)
    handicap = text_of(first, "HA").strip()
    if not stones and handicap.strip("0").isdecimal() and moves and moves[0][0] == SECOND:
        raise RecordError("contradiction", f"a handicap of {shown(handicap)}, but no stones are set up", 0)
    variant = format_variant(half_points(text_of(first, "KM")), stones)
    with bad_text("the handicap stones"):
        plies = read_moves(moves, size, variant)
    winner, resigned = read_result(text_of(first, "RE"))
    record = GameRecord(
        game="go",
        gid=gid,
        source=source,
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
    sizes = [size for size in range(MIN_SIDE, MAX_SIDE + 1) if numbers == {str(size)} and wanted in (None, size)]
    if not sizes:
        size = wanted or f"one from {MIN_SIDE} to {MAX_SIDE}"
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
            moves.append((FIRST if colour == "b" else SECOND, action))
    return sorted(stones), moves


def read_result(text: str) -> tuple[Winner | None, bool]:
    """Return the winner that RE names, where Black is the first side, and whether the other side has resigned.

    >>> read_result("W+2.5"), read_result("黑中盘胜"), read_result("白3目半勝ち")
    (('second', False), ('first', True), ('second', False))
    """
    text = unicodedata.normalize("NFKC", text).strip().lower()  # of full width, as are digits there
    if match := _WORDS.fullmatch(text):
        return ("first" if bool(match[1]) != bool(match[2]) else "second"), re.search(_RESIGNED, text) is not None
    if match := _RESULT.match(text):
        return ("first" if match[1] else "second"), match[2] is not None
    return ("draw" if text in _DRAWN else None), False


def count_variations(tree: Any) -> int:
    """Return the number of a tree's variations, without its main line."""
    leaves, todo = 0, [tree]
    while todo:
        children = todo.pop().children
        leaves += not children
        todo += children
    return leaves - 1


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
    komi, stones = parse_variant(record.variant)
    game = sgf.Sgf_game(size, encoding="UTF-8")
    root = game.get_root()
    if not record.variant.startswith(UNKNOWN_KOMI):
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
    side = SECOND if stones else FIRST
    for action in record.actions:
        row, column = divmod(action, size)
        point = LETTERS[column] + LETTERS[row] if action < size * size else ""
        game.extend_main_sequence().set_raw("BW"[side], point.encode())
        side = 1 - side
    data: bytes = game.serialise()
    return data

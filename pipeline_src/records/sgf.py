"""Go records in SGF, through sgfmill: reader and writer.

The main line of a record is read; variations are counted. Handicap stones are those set up before the first move (AB);
the number in HA is ignored. Komi (KM) is in points: 650, as some servers write it, is read as 6.5, and 3.75, the count
of one side's stones in Chinese records, as 7.5. If the result is missing, void or unknown, the winner is left open. A
text that is not a game on a board of the wanted size raises a `RecordError`, or gives a `Reject` that names its file.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sgfmill import sgf, sgf_grammar
from sgfmill.sgf_properties import interpret_go_point

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go.board import FIRST, LETTERS, MAX_KOMI, SECOND, STANDARD_KOMI, format_variant, parse_variant
from pipeline_src.records.go_moves import read_moves
from pipeline_src.records.littlegolem.text import whole_text
from pipeline_src.records.record import GameRecord, Source, Winner
from pipeline_src.records.rejects import RecordError, Reject, shown

SIZE = 19
_RESULT = re.compile(r"([BW])\+\s*(r|resign)?", re.IGNORECASE)
_NO_CHARSETS = ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined")
"""Encodings of Python that no program uses for records. Decoding a megabyte of punycode takes hours."""
_DRAWN = ("0", "draw", "jigo")


class SgfGame(NamedTuple):
    """The contents of one record."""

    record: GameRecord
    name: str
    """Name of its file or page, for messages."""
    variations: int
    """Number of variations beside the main line."""
    passes_added: int
    cut: int
    """See `pipeline_src.records.go_moves.GoMoves`."""


def read_sgf(path: Path | str, gid: int = 0, size: int = SIZE) -> SgfGame:
    """Read the first game of a file.

    Raises:
        ZugwerkError: the file is missing, or not a usable game (`RecordError`; its message begins with the path).
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file") from None
    first = parse_sgf(data, gid, name=str(path), size=size)[0]
    if isinstance(first, Reject):
        raise RecordError(first.reason, first.detail, first.ply)
    return first


def parse_sgf(
    data: bytes, gid: int = 0, *, name: str = "record", size: int = SIZE, source: Source = "file"
) -> list[SgfGame | Reject]:
    """Read the games of a file's bytes, numbered from ``gid`` on. The list has at least one entry.

    Args:
        data: one game or a collection, in any charset that it declares (CA).
        gid: number of the first game.
        name: name of the file, with which the details of rejects begin.
        size: size of the board; games of other sizes are rejected.
        source: source of the games, for the records.
    """
    if not data.strip():
        return [Reject(gid, -1, "empty", f"{name}: nothing in the file")]
    try:
        trees = sgf_grammar.parse_sgf_collection(data)
    except ValueError as error:
        return [Reject(gid, -1, "bad_text", f"{name}: not SGF, or cut off ({error})")]
    results: list[SgfGame | Reject] = []
    for number, tree in enumerate(trees):
        try:
            results.append(_read(tree, gid + number, size, source, name))
        except RecordError as error:
            which = f" (game {number + 1} of {len(trees)})" if len(trees) > 1 else ""
            results.append(Reject(gid + number, error.ply, error.reason, f"{name}{which}: {error.detail}"))
    return results


@contextmanager
def _bad_text(what: str, ply: int = -1) -> Iterator[None]:
    """Turn sgfmill's errors about bad values into a `RecordError`."""
    try:
        yield
    except RecordError:
        raise
    except (ValueError, LookupError) as error:
        raise RecordError("bad_text", f"{what} ({error})", ply) from None


def _read(tree: Any, gid: int, size: int, source: Source, name: str) -> SgfGame:
    first = tree.sequence[0]
    _check_game(first, size)
    charset = shown(first.get("CA", [b"ISO-8859-1"])[0].decode("latin-1"))
    with _bad_text(f"no such charset as {charset}"):
        game = sgf.Sgf_game.from_coarse_game_tree(tree)
        if game.get_charset().lower().replace("_", "-") in _NO_CHARSETS:
            raise LookupError(charset)
    root = game.get_root()
    with _bad_text(f"a text is not in the charset {charset}"):
        texts = {key: whole_text(root.get(key)) if root.has_property(key) else "" for key in ("PB", "PW", "EV")}
        result = root.get("RE").strip() if root.has_property("RE") else ""
    stones, moves = _read_nodes(game, size)
    with _bad_text("KM is not a number"):
        komi = _half_points(root.get("KM") if root.has_property("KM") else 0.0)
    if not stones and _handicap(root) and moves and moves[0][0] == SECOND:
        raise RecordError("contradiction", f"a handicap of {_handicap(root)}, but no stones are set up", 0)
    variant = format_variant(komi, stones)
    with _bad_text("the handicap stones"):
        plies = read_moves(moves, size, variant)
    winner, resigned = _read_result(result)
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
        first_name=texts["PB"],
        second_name=texts["PW"],
        event=texts["EV"],
    )
    return SgfGame(record, name, _count_variations(tree), plies.passes_added, plies.cut)


def _check_game(first: dict[str, list[bytes]], size: int) -> None:
    kind = first.get("GM", [b"1"])[0].strip().decode("latin-1")
    if kind != "1":
        raise RecordError("other_game", f"GM[{shown(kind)}]; Go is GM[1]")
    side = first.get("SZ", [b"19"])[0].strip().decode("latin-1")
    if side.split(":") not in ([str(size)], [str(size)] * 2):
        raise RecordError("other_variant", f"a board of size {shown(side)}; wanted: {size}")


def _read_nodes(game: Any, size: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the handicap stones (row, column) and the moves (side, action) of the main line."""
    stones: set[tuple[int, int]] = set()
    moves: list[tuple[int, int]] = []
    for node in game.main_sequence_iter():
        ply = len(moves)
        if node.has_setup_stones():
            with _bad_text("points that are set up", ply):
                black, white, empty = node.get_setup_stones()
            if moves or white or empty:
                raise RecordError("other_variant", "stones are set up, beyond a handicap before the first move", ply)
            stones |= {(size - 1 - row, column) for row, column in black}
        if node.has_property("B") and node.has_property("W"):
            raise RecordError("bad_text", "two moves in one node", ply)
        colour, raw = node.get_raw_move()
        if colour is not None:
            with _bad_text(f"no point: {shown(raw.decode('latin-1'))}", ply):
                point = interpret_go_point(raw, size)
            action = size * size if point is None else (size - 1 - point[0]) * size + point[1]
            moves.append((FIRST if colour == "b" else SECOND, action))
    return sorted(stones), moves


def _handicap(root: Any) -> int:
    with _bad_text("HA is not a number"):
        return int(root.get("HA")) if root.has_property("HA") else 0


def _half_points(komi: float) -> int:
    """Return the komi in half points for any way of writing it; one that no rule set has becomes the standard komi."""
    points = komi / 100 if abs(komi) >= 100 else komi
    if abs(points * 2) % 1 == 0.5:  # 3.75 of one side's stones are 7.5 points
        points *= 2
    halves = points * 2
    return int(halves) if halves % 1 == 0 and abs(halves) <= MAX_KOMI else STANDARD_KOMI


def _read_result(text: str) -> tuple[Winner | None, bool]:
    match = _RESULT.match(text)
    if match:
        return ("first" if match[1].upper() == "B" else "second"), match[2] is not None
    return ("draw" if text.lower() in _DRAWN else None), False


def _count_variations(tree: Any) -> int:
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

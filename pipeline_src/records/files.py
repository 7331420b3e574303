"""Files of games of any format.

The content decides the format. Amazons and Go records may be LittleGolem's text, Gomoku records Piskvorky's. A record
of any game may be SGF, with comments as this package exports it or without, or be in a Parquet archive, or in the
journal of a match, also of one under way.
"""

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.records.littlegolem.text import of_site
from pipeline_src.records.record import GameRecord, RecordError, Reject, read_records, read_table, record_of, shown

if TYPE_CHECKING:
    import pyarrow as pa


SUFFIXES = (".parquet", ".jsonl", ".psq", ".sgf", ".txt")
Kind = Literal["archive", "journal", "psq", "littlegolem", "sgf"]
_AMAZONS = re.compile(rb";\s*[WB]\[[a-j](?:10|[1-9])-?[a-j]")
_KIND_OF_GAME = re.compile(rb"\bGM\[")


class Found(NamedTuple):
    """The contents of a file."""

    games: list[GameRecord]
    rejects: list[Reject]  # Why the others are no games; the gid is the number in the file


def kind_of(data: bytes, name: str = "") -> Kind:
    """Return the format of a file by its first bytes.

    Raises:
        ZugwerkError: the format is unknown; the message begins with the name, if one is given.
    """
    text = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data[:4096].decode("utf-16", "ignore").encode()
    if data.startswith(b"PAR1"):
        return "archive"
    if text.startswith(b"Piskvorky"):
        return "psq"
    if text.startswith(b"{"):
        return "journal"
    if text.startswith(b"("):
        turns = _KIND_OF_GAME.search(text) is None and _AMAZONS.search(text)
        return "littlegolem" if turns or of_site(text) else "sgf"
    raise ZugwerkError(
        f"{name and f'{name}: '}not a record: expected LittleGolem's text, SGF, a Piskvorky record (.psq), a Parquet "
        f"archive or the journal of a match, found {shown(text[:60].decode('latin-1')) if text else 'nothing'}"
    )


def read_file(path: Path) -> list[GameRecord]:
    """Return the games of a file, see `read_games`.

    Raises:
        ZugwerkError: as `read_games`, or the file is missing or cannot be read; the message names it.
    """
    try:
        with open(path, "rb") as file:
            return read_records(path) if file.read(4) == b"PAR1" else read_games(path.read_bytes(), str(path)).games
    except OSError as error:
        raise ZugwerkError(f"{path}: {error.strerror or error}") from None


def read_games(data: bytes, name: str) -> Found:
    """Return the games in a file's bytes, at least one, with the file's own numbers or numbered from 1.

    Raises:
        ZugwerkError: the file is damaged, or none of its games can be read; the message is about the first game.
    """
    kind = kind_of(data, name)
    if kind == "archive":
        return Found([record_of(row, Path(name).name) for row in _table(data, name).to_pylist()], [])
    if kind == "journal":
        return Found(_journal(data, name), [])
    if kind == "psq":
        from pipeline_src.records.psq import parse_psq

        return Found([parse_psq(data, 1, name=name).record], [])
    if kind == "littlegolem":
        found = _littlegolem(data, name)
    else:
        from pipeline_src.records.sgf_games import parse_games

        found = [one if isinstance(one, Reject) else one.record for one in parse_games(data, 1, name=name)]
    games = [one for one in found if isinstance(one, GameRecord)]
    rejects = [one for one in found if isinstance(one, Reject)]
    if not games:
        raise ZugwerkError(rejects[0].detail if rejects else f"{name}: no record in the file")
    return Found(games, rejects)


def _table(data: bytes, name: str) -> "pa.Table":
    """Return the archive as a table. `read_table` reads files, so the bytes go to a temporary one."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(data)
        file.flush()
        try:
            return read_table(file.name)
        except ZugwerkError as error:
            raise ZugwerkError(str(error).replace(file.name, name)) from None


def _journal(data: bytes, name: str) -> list[GameRecord]:
    """Return the finished games of a match or tournament. While it runs, the last line may be incomplete."""
    lines = data.split(b"\n")[:-1]
    try:
        head = json.loads(lines[0]) if lines else {}
        game = str(head.get("tournament") or head["game"])
        rows = [json.loads(line) for line in lines[1:]]
        if "tournament" in head:  # whose pairs have no numbers: they are in the order in which they were finished
            rows = [row | {"key": place} for place, row in enumerate(rows)]
        found = [(int(row["key"]), row["value"]) for row in rows]
        games = {2 * key + k + 1: one for key, pair in found for k, one in enumerate(pair)}
        records = [_played(game, head, games[gid], gid) for gid in sorted(games)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, ZugwerkError):
            raise
        raise ZugwerkError(f"{name}: not the journal of a match ({error!r:.100})") from None
    if not records:
        raise ZugwerkError(f"{name}: the match has no finished pair of games yet")
    return records


def _played(game: str, head: dict[str, Any], row: dict[str, Any], gid: int) -> GameRecord:
    """Return a game of a journal; ``row`` is an `arena.game.PlayedGame`."""
    rules, size, fixture = get_game(game), int(head.get("size", 10)), row["fixture"]
    variant, fen = head.get("variant") or rules.VARIANTS[0], fixture["start"]
    start = rules.from_fen(fen) if fen else rules.initial_state(size, variant)
    height, width = start.board.shape
    return GameRecord(
        game, gid, "engine", fen or variant, height, width, tuple(row["actions"]), row["winner"],
        first_name=fixture["first"], second_name=fixture["second"],
        event="" if row["ended"] == "board" else f"forfeit:{row['ended']}: {row['detail']}",
    )  # fmt: skip


def _littlegolem(data: bytes, name: str) -> Sequence[GameRecord | Reject]:
    """Return the site's records in a file, turns of the Amazons or moves of Go."""
    from pipeline_src.records.go_games import read_file
    from pipeline_src.records.littlegolem.text import split_file

    found: list[GameRecord | Reject] = []
    texts = split_file(data)
    for number, text in enumerate(texts, 1):
        label = f"{name} (record {number} of {len(texts)})" if len(texts) > 1 else name
        if _AMAZONS.search(text):
            found.append(_amazons(text, number, label))
        else:
            found += [one if isinstance(one, Reject) else one.record for one in read_file(text, number, label, None)]
    return found


def _amazons(text: bytes, number: int, name: str) -> GameRecord | Reject:
    from pipeline_src.records.littlegolem.amazons import SIZE, read_amazons
    from pipeline_src.records.littlegolem.text import follows, pick_legal, readings

    try:
        record = pick_legal(readings(text), read_amazons)
        game = read_amazons(record)
        if follows(record):
            raise RecordError("several_records", "another record follows that cannot be told apart")
    except RecordError as error:
        return Reject(number, error.ply, error.reason, f"{name}: {error.detail}")
    names = [record.header.get(key, "") for key in ("PB", "PW", "EV")]
    return GameRecord(
        "amazons", number, "file", game.variant, SIZE, SIZE, game.actions, game.winner, game.resigned,
        names[0], names[1], event=names[2].removeprefix("null"),
    )  # fmt: skip

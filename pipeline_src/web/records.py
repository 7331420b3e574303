"""Files of games of any format, and archives that stay open, so that a game is found without reading all again.

The content decides the format. Amazons and Go records may be LittleGolem's text, Gomoku records Piskvorky's. A record
of any game may be SGF, with comments as this package exports it or without, or be in a Parquet archive, or in the
journal of a match, also of one under way.
"""

import json
import re
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.littlegolem.text import of_site
from pipeline_src.records.record import GameRecord, RecordError, Reject, read_table, record_of, shown

if TYPE_CHECKING:
    import pyarrow as pa


OPEN = 4  # Number of archives kept in memory
MOST_BYTES = 512 << 20  # Largest size of an archive's file in bytes

SUFFIXES = (".parquet", ".jsonl", ".psq", ".sgf", ".txt")
MOST_GAMES, MOST_VALUES = 20_000, 4_000_000  # Limits of an uploaded archive: games, and values of all columns
Kind = Literal["archive", "journal", "psq", "littlegolem", "sgf"]
_AMAZONS = re.compile(rb";\s*[WB]\[[a-j](?:10|[1-9])-?[a-j]")
_KIND_OF_GAME = re.compile(rb"\bGM\[")


def archive(path: Path) -> "pa.Table":
    """Return an archive as a table, sorted by ``gid``, read again if changed (`ZugwerkError`: missing or damaged)."""
    try:
        found = path.stat()
    except OSError:
        raise ZugwerkError(f"{path}: no such file") from None
    if found.st_size > MOST_BYTES:
        raise ZugwerkError(f"{path}: {found.st_size >> 20} MiB; pages open archives of up to {MOST_BYTES >> 20} MiB")
    return _table(path, found.st_mtime_ns, found.st_size)


@lru_cache(OPEN)
def _table(path: Path, *_stamp: int) -> "pa.Table":
    return read_table(path)


def game_of(path: Path, gid: int) -> GameRecord:
    """Return a game of an archive (`archive`); a `ZugwerkError` if it lacks the game, or the row is no record."""
    import pyarrow.compute as pc

    table = archive(path)
    row = pc.index(table["gid"], gid).as_py()
    if row < 0:
        raise ZugwerkError(f"{path.name}: no game {gid} there")
    return record_of(table.slice(row, 1).to_pylist()[0], path.name)


class Found(NamedTuple):
    """The contents of a file."""

    games: list[GameRecord]
    rejects: list[Reject]  # Why the others are no games; the gid is the number in the file


def kind_of(data: bytes, name: str = "record") -> Kind:
    """Return the format of a file by its first bytes; a `ZugwerkError` with ``name`` if it is unknown."""
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
        f"{name}: not a record: expected LittleGolem's text, SGF, a Piskvorky record (.psq), a Parquet archive or the "
        f"journal of a match, found {shown(text[:60].decode('latin-1')) if text else 'nothing'}"
    )


def read_games(data: bytes, name: str) -> Found:
    """Return the games in a file's bytes, at least one, with the file's own numbers or numbered from 1.

    Raises:
        ZugwerkError: the file is damaged, or none of its games can be read; the message is about the first game.
    """
    kind = kind_of(data, name)
    if kind == "archive":
        return Found(_archive(data, name), [])
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
    if len(games) > MOST_GAMES:
        raise ZugwerkError(f"{name}: {len(games):,} games; a text may have {MOST_GAMES:,}: split it")
    return Found(games, rejects)


def _archive(data: bytes, name: str) -> list[GameRecord]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        about = pq.read_metadata(BytesIO(data))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ZugwerkError(f"{name}: damaged, or not a Parquet file ({str(error).splitlines()[0]})") from None
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    values = sum(group.column(k).num_values for group in groups for k in range(group.num_columns))
    if about.num_rows > MOST_GAMES or values > MOST_VALUES:
        raise ZugwerkError(
            f"{name}: {about.num_rows:,} games; an uploaded archive may have {MOST_GAMES:,}: put it into a folder of "
            "the server (--folder) and open it there"
        )
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:  # `read_table` reads files alone
        file.write(data)
        file.flush()
        try:
            table = read_table(file.name)
        except ZugwerkError as error:
            raise ZugwerkError(str(error).replace(file.name, name)) from None
    return [record_of(row, Path(name).name) for row in table.to_pylist()]


def _journal(data: bytes, name: str) -> list[GameRecord]:
    """Return the finished games of a match or tournament. While it runs, the last line may be incomplete."""
    from pipeline_src.arena.game import PlayedGame
    from pipeline_src.arena.runner import Board

    lines = data.split(b"\n")[:-1]
    try:
        head = json.loads(lines[0]) if lines else {}
        board = Board(str(head.get("tournament") or head["game"]), int(head.get("size", 10)), head.get("variant"))
        rows = [json.loads(line) for line in lines[1:]]
        if "tournament" in head:  # whose pairs have no numbers: they are in the order in which they were finished
            rows = [row | {"key": place} for place, row in enumerate(rows)]
        found = [(int(row["key"]), row["value"]) for row in rows]
        games = {2 * key + k + 1: PlayedGame.from_json(one) for key, pair in found for k, one in enumerate(pair)}
        records = [board.record(games[gid], gid) for gid in sorted(games)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, ZugwerkError):
            raise
        raise ZugwerkError(f"{name}: not the journal of a match ({error!r:.100})") from None
    if not records:
        raise ZugwerkError(f"{name}: the match has no finished pair of games yet")
    return records


def _littlegolem(data: bytes, name: str) -> Sequence[GameRecord | Reject]:
    """Return the site's records in a file, turns of the Amazons or moves of Go."""
    from pipeline_src.records.go_games import read_file
    from pipeline_src.records.littlegolem.text import split_file

    found, texts = list[GameRecord | Reject](), split_file(data)
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

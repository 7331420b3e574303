"""Find the format of a file of games and read the games with the readers in `records`.

The content decides the format. Amazons records may be LittleGolem's text or SGF (GM[18], what this package exports with
comments); Gomoku is Piskvorky's text or SGF (GM[4]); Go is SGF; any game may be in a Parquet archive or in the journal
of a match, also of one under way.
"""

import json
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord
from pipeline_src.records.rejects import RecordError, Reject, shown
from pipeline_src.web.archives import record_of
from pipeline_src.web.moves import played

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["archive", "journal", "psq", "littlegolem", "sgf"]
SUFFIXES = (".parquet", ".jsonl", ".psq", ".sgf", ".txt")
MOST_GAMES, MOST_VALUES = 20_000, 4_000_000
"""Limits of an uploaded archive: games, and values of all columns."""
_AMAZONS = re.compile(rb";\s*[WB]\[[a-j](?:10|[1-9])-?[a-j]")
_KIND_OF_GAME = re.compile(rb"\bGM\[\s*(\d+)\s*\]")
_SIZE = re.compile(rb"\bSZ\[\s*(\d{1,2})")


def kind_of(data: bytes) -> Kind:
    """Return the format of a file by its first bytes.

    Raises:
        ZugwerkError: the format is unknown.
    """
    text = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if data.startswith(b"PAR1"):
        return "archive"
    if text.startswith(b"Piskvorky"):
        return "psq"
    if text.startswith(b"{"):
        return "journal"
    if text.startswith(b"("):
        number = _KIND_OF_GAME.search(text)
        return "littlegolem" if number is None and _AMAZONS.search(text) else "sgf"
    raise ZugwerkError(
        "not a record: expected LittleGolem's text, SGF, a Piskvorky record (.psq), a Parquet archive or the journal "
        f"of a match, found {shown(text[:60].decode('latin-1')) if text else 'nothing'}"
    )


def read_games(data: bytes, name: str) -> list[GameRecord]:
    """Return all games in a file's bytes, at least one, with the file's own numbers or numbered from 1.

    Raises:
        ZugwerkError: the file is damaged, or none of its games can be read; the message is about the first game.
    """
    kind = kind_of(data)
    if kind == "archive":
        return _archive(data, name)
    if kind == "journal":
        return _journal(data, name)
    if kind == "psq":
        from pipeline_src.records.psq import parse_psq

        return [parse_psq(data, 1, name=name).record]
    return _littlegolem(data, name) if kind == "littlegolem" else _sgf(data, name)


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
    path = Path(name)
    return [record_of(row, path) for row in _table(data, name).to_pylist()]


def _table(data: bytes, name: str) -> "pa.Table":
    """Return the archive as a table. `read_table` reads files, so the bytes go to a temporary one."""
    import tempfile

    from pipeline_src.records.parquet import read_table

    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        file.write(data)
        file.flush()
        try:
            return read_table(file.name)
        except ZugwerkError as error:
            raise ZugwerkError(str(error).replace(file.name, name)) from None


def _journal(data: bytes, name: str) -> list[GameRecord]:
    """Return the finished games of a match or tournament. While it runs, the last line may be incomplete."""
    from pipeline_src.arena.game import PlayedGame
    from pipeline_src.arena.runner import Board

    lines = data.split(b"\n")[:-1]
    try:
        head = json.loads(lines[0]) if lines else {}
        board = Board(str(head.get("tournament") or head["game"]), int(head.get("size", 10)), head.get("variant"))
        rows = [json.loads(line) for line in lines[1:]]
        if "tournament" in head:  # whose pairs have no numbers: they stand in the order in which they were finished
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


def _littlegolem(data: bytes, name: str) -> list[GameRecord]:
    from pipeline_src.records.littlegolem.amazons import SIZE, read_amazons
    from pipeline_src.records.littlegolem.text import pick_legal, readings, split_records

    games: list[GameRecord] = []
    first: RecordError | None = None
    for number, text in enumerate(split_records(data)[:MOST_GAMES], 1):
        try:
            record = pick_legal(readings(text), read_amazons)
            game = read_amazons(record)
        except RecordError as error:
            first = first or error
            continue
        games.append(
            GameRecord(
                "amazons", number, "file", game.variant, SIZE, SIZE, game.actions, game.winner, game.resigned,
                record.header.get("PB", ""), record.header.get("PW", ""), event=record.header.get("EV", ""),
            )
        )  # fmt: skip
    if not games:
        raise ZugwerkError(f"{name}: no Amazons record that can be read ({first})")
    return games


def _sgf(data: bytes, name: str) -> list[GameRecord]:
    head = data[:4096]
    number, size = _KIND_OF_GAME.search(head), _SIZE.search(head)
    if number is not None and number[1] in (b"4", b"18"):
        return [_annotated(data, name)]
    from pipeline_src.records.sgf import parse_sgf

    found = parse_sgf(data, 1, name=name, size=int(size[1]) if size else 19)
    games = [one.record for one in found if not isinstance(one, Reject)]
    if not games:
        raise ZugwerkError(next(one.detail for one in found if isinstance(one, Reject)))
    return games[:MOST_GAMES]


def _annotated(data: bytes, name: str) -> GameRecord:
    """A game of the Amazons (GM[18]) or Gomoku (GM[4]) as `annotate.annotated` writes it; comments are left out."""
    from sgfmill import sgf_grammar

    from pipeline_src.records.littlegolem.text import decode

    try:
        tree = sgf_grammar.parse_sgf_game(data)
    except ValueError as error:
        raise ZugwerkError(f"{name}: not SGF, or cut off ({error})") from None
    nodes = list(sgf_grammar.main_sequence_iter(tree))
    root = {key: decode(sgf_grammar.text_value(values[0])) for key, values in nodes[0].items()}
    game = "amazons" if root["GM"].strip() == "18" else "gomoku"
    words = [decode(values[0]) for node in nodes[1:] for key, values in node.items() if key in ("W", "B")]
    resigned = bool(words) and words[-1] == "resign"
    try:
        width, height = (int(side) for side in (root.get("SZ", "15") + ":" + root.get("SZ", "15")).split(":")[:2])
    except ValueError:
        raise ZugwerkError(f"{name}: SZ is not a size: {shown(root['SZ'])}") from None
    record = GameRecord(
        game, 1, "file", root.get("RU", ""), height, width, (), None, resigned,
        root.get("PB", ""), root.get("PW", ""), event=root.get("EV", ""),
    )  # fmt: skip
    return replace(record, **_played(record, words[:-1] if resigned else words, name))


def _played(record: GameRecord, words: list[str], name: str) -> dict[str, Any]:
    """Return the fields of the record that follow from its moves."""
    from pipeline_src.games.game import get_game

    rules = get_game(record.game)
    record = replace(record, variant=record.variant or rules.VARIANTS[0])
    points = [_point(word, record.height) if record.game == "gomoku" else word for word in words]
    try:
        actions, state = played(rules, start_of(record), points)
    except ZugwerkError as error:
        raise ZugwerkError(f"{name}: {error}") from None
    winner = rules.winner(state)
    if record.resigned:
        winner = "second" if rules.to_play(state) == 0 else "first"
    return {"variant": record.variant, "actions": actions, "winner": winner}


def _point(word: str, height: int) -> str:
    """Return SGF's ``hh`` as the rules write it; other text is unchanged."""
    if len(word) == 2 and word.isascii() and word.isalpha():
        return f"{word[0].lower()}{height - (ord(word[1].lower()) - ord('a'))}"
    return word


def start_of(record: GameRecord) -> Any:
    """Return the first state of a record. The variant of a record may be the text of a position.

    Raises:
        ZugwerkError: the game has no such start.
    """
    from pipeline_src.games.game import get_game

    rules = get_game(record.game)
    if " " in record.variant:
        state = rules.from_fen(record.variant)
    elif record.game == "gomoku" and record.height != record.width:
        import numpy as np

        from pipeline_src.games.gomoku.setup import from_board

        state = from_board(np.zeros((record.height, record.width), np.int8), 0, record.variant)
    else:
        state = rules.initial_state(record.height, record.variant)
    if state.board.shape != (record.height, record.width):
        raise ZugwerkError(f"game {record.gid}: its start is not on {record.height}x{record.width}")
    return state

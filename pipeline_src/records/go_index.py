"""An index of the Go games below a folder, or in a tar or an archive, for searches of positions. It grows by new files.

The file is a line that names format and version, filled up to 32 bytes, the SHA-256 of the rest, and two tables in
Arrow's stream format: ``files``, with size and time of change, by which a file that has not changed is known;
``games``, whose ``events`` are the streams of `go_events`. Adding files later and reading all at once give the same
bytes.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.games.go import MOVES_KEPT, PLY, SIDE, GoState, initial_state, legal
from pipeline_src.games.kernels import play
from pipeline_src.jit import njit
from pipeline_src.project.code import cache_root
from pipeline_src.records.go_games import parse_sgf
from pipeline_src.records.record import GameRecord, Reject, read_table, record_of
from pipeline_src.records.sgf import MAX_BYTES, SUFFIX, read_files

if TYPE_CHECKING:
    import pyarrow as pa


# Games of Go as streams of changes to a board, and the scan that finds patterns in them.
#
# A stream is int16 [E] over a board of N = H * W points. A code below N is a black stone placed on that point, one from
# N on a white stone, 2N a pass, 2N + 1 the end of the start position's stones; 2N + 2 + point takes a black stone away,
# 3N + 2 + point a white one. Stones that a move captures come before the move, so that every code below 2N + 2
# completes a position.
#
# The scan counts for each form of a pattern the points that differ from the form. A change of the board changes that
# count by a number that depends on code and form alone. The counts of 16 forms, or of 32 where fewer than 127 points
# matter, are fields of four words of 64 bits, so that a look-up and four additions follow all of them; a field of zero
# is an occurrence. Nothing is hashed, and no position is set up.


WORDS = 4  # uint64 whose fields hold the counts of one scan
ANY = 3  # Content of a point that may be empty, black or white
CAPTURES = 15  # Bits of `GoState.undo` that are set where stones were captured

Codes = npt.NDArray[np.int16]


class Occurrences(NamedTuple):
    """Places where forms of a pattern stand, O of them, by game, then ply."""

    game: npt.NDArray[np.int32]  # [O]: index of the stream
    ply: npt.NDArray[np.int32]  # [O]: moves played before the first position with the form
    form: npt.NDArray[np.int32]  # [O]
    following: npt.NDArray[np.int32]
    """[O]: code of the first move on a point of the form, which ends the occurrence; -1 where the game ends before it
    or a move outside captures stones of the form."""
    elsewhere: npt.NDArray[np.int32]  # [O]: moves outside the form, passes included, before that move or the end


@njit(cache=True, allocates=True)
def _write(state: GoState, actions: npt.NDArray[np.int32], shadow: npt.NDArray[np.int8], out: Codes) -> int:
    points = state.board.size
    at = 0
    for point in range(points):
        shadow[point] = state.board.flat[point]
        if shadow[point]:
            out[at] = (shadow[point] - 1) * points + point
            at += 1
    out[at] = 2 * points + 1
    at += 1
    for ply in range(actions.size):
        action = actions[ply]
        if not legal(state, action):
            return -1 - ply
        colour, entry = state.turn[SIDE], state.turn[PLY] % MOVES_KEPT
        play(state, action)
        if action == points:
            out[at] = 2 * points
        else:
            shadow[action] = colour + 1
            if state.undo[entry] & CAPTURES:
                for point in range(points):
                    if shadow[point] != state.board.flat[point]:
                        out[at] = 2 * points + 2 + (shadow[point] - 1) * points + point
                        shadow[point] = 0
                        at += 1
            out[at] = colour * points + action
        at += 1
    return at


def write_events(size: int, variant: str, actions: npt.ArrayLike) -> Codes:
    """Return the stream of a game.

    Raises:
        ZugwerkError: no such board or variant.
        ValueError: an action is not legal; the argument is its ply.
    """
    plies = np.asarray(actions, np.int32)
    state = initial_state(size, variant)
    out = np.empty(2 * (plies.size + size * size) + 1, np.int16)
    end = _write(state, plies, np.empty(size * size, np.int8), out)
    if end < 0:
        raise ValueError(-1 - end)
    return out[:end].copy()


@njit(cache=True, allocates=True)
def _scan(
    events: Codes,
    starts: npt.NDArray[np.int64],
    games: npt.NDArray[np.int32],
    points: int,
    bits: int,
    change: npt.NDArray[np.uint64],
    least: npt.NDArray[np.uint64],
    place: npt.NDArray[np.int16],
) -> npt.NDArray[np.int32]:
    """Return occurrences as int32 [O, 5]: game, ply, field, following, elsewhere.

    Args:
        events: all streams, one after the other.
        starts: [G + 1]: where each begins.
        games: the streams to scan, in this order.
        points: points of their boards.
        bits: bits of a field, 8 or 16.
        change: [codes, WORDS]: what a code adds to the counts; a field that falls lends from the next one, and all are
            right again in the sum.
        least: [WORDS]: counts of the empty board.
        place: [fields, points]: -1 for a point outside a field's form.
    """
    found, count = np.empty((64, 5), np.int32), 0
    low = np.uint64(0x0101010101010101 if bits == 8 else 0x0001000100010001)
    high = low << np.uint64(bits - 1)
    mask = np.uint64((1 << bits) - 1)
    fields = 64 // bits
    last = np.empty(WORDS * fields, np.int64)
    for game in games:
        a, b, c, d = least[0], least[1], least[2], least[3]
        last[:] = -2
        ply = -1  # of the position that a code completes: the start is 0
        for at in range(starts[game], starts[game + 1]):
            code = np.intp(events[at])
            a += change[code, 0]
            b += change[code, 1]
            c += change[code, 2]
            d += change[code, 3]
            if code >= 2 * points + 2 or (ply < 0 and code != 2 * points + 1):
                continue  # a captured stone, or one of the start position
            ply += 1
            # A field without its highest bit gets it by the subtraction of one only if it is zero, or if it lends to
            # one that is.
            if not (((a - low) & ~a) | ((b - low) & ~b) | ((c - low) & ~c) | ((d - low) & ~d)) & high:
                continue
            for field in range(WORDS * fields):
                word = a if field < fields else b if field < 2 * fields else c if field < 3 * fields else d
                if word >> np.uint64(field % fields * bits) & mask:
                    continue
                before, last[field] = last[field], ply
                if before == ply - 1:
                    continue
                if count == len(found):
                    larger = np.empty((2 * count, 5), np.int32)
                    larger[:count] = found
                    found = larger
                following, elsewhere, gone = np.intp(-1), 0, False
                for then in range(at + 1, starts[game + 1]):
                    move = np.intp(events[then])
                    if move < 2 * points and place[field, move % points] >= 0:
                        following = move
                        break
                    if move >= 2 * points + 2:
                        gone |= place[field, (move - 2) % points] >= 0
                    elif gone:
                        break
                    else:
                        elsewhere += 1
                found[count, 0], found[count, 1], found[count, 2] = game, ply, field
                found[count, 3], found[count, 4] = following, elsewhere
                count += 1
    return found[:count]


def scan(
    events: Codes,
    starts: npt.NDArray[np.int64],
    games: npt.NDArray[np.int32],
    wanted: npt.NDArray[np.int8],
    place: npt.NDArray[np.int16],
) -> Occurrences:
    """Find forms of a pattern in games.

    Args:
        events: all streams, one after the other.
        starts: [G + 1]: where each begins.
        games: [g]: the streams to look into, all of boards with N points.
        wanted: [F, N]: what each form wants on each point: empty, BLACK, WHITE or ANY.
        place: [F, N]: -1 for points outside the form.
    """
    forms, points = wanted.shape
    bits = 8 if (wanted != ANY).sum(1).max(initial=0) < 127 else 16
    fields = 64 // bits
    at_once = WORDS * fields
    on_empty = np.isin(wanted, (1, 2)).astype(np.int64)  # [F, N]: 1 where an empty point differs
    units = np.int64(1) << np.arange(0, 64, bits)
    parts = [np.empty((0, 5), np.int32)]
    for first in range(0, forms, at_once):
        lanes = slice(first, first + at_once)
        width = min(at_once, forms - first)
        change = np.zeros((4 * points + 2, at_once), np.int64)
        least = np.ones(at_once, np.int64)  # a field without a form never comes to zero
        of_fields = np.full((at_once, points), -1, np.int16)
        least[:width], of_fields[:width] = on_empty[lanes].sum(1), place[lanes]
        for colour in (1, 2):
            differs = ((wanted[lanes] != colour) & (wanted[lanes] != ANY)) - on_empty[lanes]
            change[(colour - 1) * points : colour * points, :width] = differs.T
            change[(colour + 1) * points + 2 : (colour + 2) * points + 2, :width] = -differs.T
        words = [(one.reshape(-1, WORDS, fields) * units).sum(2).view(np.uint64) for one in (change, least)]
        rows = _scan(events, starts, games, points, bits, words[0], words[1][0], of_fields)
        rows[:, 2] += first
        parts.append(rows)
    rows = np.concatenate(parts)
    if len(parts) > 2:
        rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    return Occurrences(*np.ascontiguousarray(rows.T))


VERSION = 1
ARCHIVE = ".parquet"
SAVED_EVERY = 20_000  # Games after which a growing index is written, so that an interrupted command resumes there
RESULTS = {None: 0, "first": 1, "second": 2, "draw": 3}  # Values of `winner` in the table of games: 1 Black, 2 White
_NAME, _HEAD, _ROOT = b"zugwerk go index ", 32, b"root"
_AGAIN = "remove it and give the command again, which reads the games anew"


class Where(NamedTuple):
    """A game of an index."""

    path: Path  # The file, tar or archive
    member: str  # Name of the file in a tar; else empty
    number: int  # Number of the game in its file, from 1; in an archive the gid
    first_name: str
    second_name: str
    event: str
    winner: int  # A value of `RESULTS`
    plies: int


class Growth(NamedTuple):
    """Progress of a growing index."""

    done: int  # Files read
    files: int  # Files to read, new ones and changed ones
    games: int  # Games in them so far
    gone: int  # Files that are no longer there, whose games were taken out


@dataclass(frozen=True)
class Index:
    """Games in memory, ready to be searched."""

    root: Path
    files: "pa.Table"
    """``path`` below the root, ``bytes``, ``modified`` in nanoseconds, ``problem`` (why a game in it is not read)."""
    games: "pa.Table"
    """``file``, an index of files; ``member``, ``number``, ``size`` of the board, the names, ``event``, ``winner``,
    ``plies``, ``events``; ``repeat``, whether the same moves are in an earlier game."""

    @cached_property
    def events(self) -> Codes:
        """All streams, int16 [E]."""
        import pyarrow.compute as pc

        return np.asarray(pc.list_flatten(self.games["events"]).to_numpy(), np.int16)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """[G + 1]: where each stream begins."""
        import pyarrow.compute as pc

        return np.append(0, np.cumsum(pc.list_value_length(self.games["events"]).to_numpy(), dtype=np.int64))

    @cached_property
    def winners(self) -> npt.NDArray[np.int8]:
        """[G]: values of `RESULTS`."""
        return np.asarray(self.games["winner"].to_numpy(), np.int8)

    def of_size(self, size: int) -> npt.NDArray[np.int32]:
        """Return the indices of the games on a board of this size, without repeats."""
        there = (self.games["size"].to_numpy() == size) & ~self.games["repeat"].to_numpy()
        return np.flatnonzero(there).astype(np.int32)

    def where(self, game: int) -> Where:
        """Describe the game with an index."""
        row = self.games.slice(game, 1).select(["file", *Where._fields[1:]]).to_pylist()[0]
        path = os.fsdecode(self.files["path"][row.pop("file")].as_py())
        return Where(path=self.root / path if path else self.root, **row)

    def problems(self) -> list[str]:
        """Return why games are not read, a message for each file that has one."""
        return [problem for problem in self.files["problem"].to_pylist() if problem]


def default_path(root: Path) -> Path:
    """Return the file of a folder's index in this user's cache."""
    name = hashlib.blake2b(os.fsencode(root.resolve()), digest_size=8).hexdigest()
    return cache_root() / "go" / f"{name}.goindex"


def update(path: Path, root: Path, tell: Callable[[Growth], None] = lambda _: None) -> Index:
    """Bring the index in a file up to date with the games below a root, and return it. Only new files are read.

    The root is a folder, a tar of SGF files or an archive of records; ``tell`` is called after every file.

    Raises:
        ZugwerkError: no games there, or the index is damaged, of another version or of another root.
    """
    index = load(path, root) if path.exists() else _empty(root)
    for grown in _grow(index, root, tell):
        index = grown
        save(index, path)
    return index


def save(index: Index, path: Path) -> None:
    """Write an index aside and rename it."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    for table in (index.files, index.games):
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.combine_chunks())
    data = sink.getvalue()
    with written_aside(path) as aside, open(aside, "wb") as file:
        file.write((_NAME + b"%d\n" % VERSION).ljust(_HEAD) + hashlib.sha256(data).digest())
        file.write(data)


def load(path: Path, root: Path) -> Index:
    """Read an index of the games below ``root``.

    Raises:
        ZugwerkError: no such file, no index, one of another version or root, or a damaged one.
    """
    import pyarrow as pa

    try:
        with pa.OSFile(str(path), "rb") as file:
            data = file.read_buffer()
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file") from None
    name, newline, _ = bytes(data[:_HEAD]).partition(b"\n")
    if not newline or not name.startswith(_NAME):
        raise ZugwerkError(f"{path}: not an index of Go games")
    if name != _NAME + b"%d" % VERSION:
        version = ascii(name[len(_NAME) :].decode("latin-1"))
        raise ZugwerkError(f"{path}: an index of version {version}, this program reads {VERSION}; {_AGAIN}")
    body = data[_HEAD + 32 :]
    if hashlib.sha256(body).digest() != bytes(data[_HEAD : _HEAD + 32]):
        raise ZugwerkError(f"{path}: damaged, its checksum does not fit; {_AGAIN}")
    source = pa.BufferReader(body)
    files, games = (pa.ipc.open_stream(source).read_all() for _ in range(2))
    own = (files.schema.metadata or {}).get(_ROOT, b"")
    if own != _named(root):
        raise ZugwerkError(
            f"{path}: an index of {os.fsdecode(own)}, not of {root}; name another file, or remove this one if its "
            "games have moved"
        )
    return Index(root, files, games)


def _named(root: Path) -> bytes:
    return os.fsencode(root.resolve())


def _schemas(root: Path) -> tuple["pa.Schema", "pa.Schema"]:
    import pyarrow as pa

    files: dict[str, pa.DataType] = {
        "path": pa.binary(),
        "bytes": pa.int64(),
        "modified": pa.int64(),
        "problem": pa.string(),
    }
    games: dict[str, pa.DataType] = {
        "file": pa.int32(),
        "member": pa.string(),
        "number": pa.int64(),
        "size": pa.int8(),
        "first_name": pa.string(),
        "second_name": pa.string(),
        "event": pa.string(),
        "winner": pa.int8(),
        "plies": pa.int32(),
        "events": pa.list_(pa.int16()),
        "repeat": pa.bool_(),
    }
    return pa.schema(list(files.items()), {_ROOT: _named(root)}), pa.schema(list(games.items()))


def _empty(root: Path) -> Index:
    files, games = _schemas(root)
    return Index(root, files.empty_table(), games.empty_table())


def _grow(index: Index, root: Path, tell: Callable[[Growth], None]) -> Iterator[Index]:
    there = _listed(root)
    known = {row["path"]: (row["bytes"], row["modified"]) for row in index.files.to_pylist()}
    new = [path for path, stamp in there.items() if known.get(path) != stamp]
    gone = sum(path not in there for path in known)
    if not new:
        if gone:
            tell(Growth(0, 0, 0, gone))
            yield _joined(index, there, [], [])
        return
    read: list[tuple[bytes, int, int, str]] = []
    rows: list[tuple[bytes, list[dict[str, object]]]] = []
    games = counted = 0
    for done, path in enumerate(new, 1):
        found, problem = _read(root / os.fsdecode(path) if path else root)
        read.append((path, *there[path], problem))
        rows.append((path, found))
        games += len(found)
        tell(Growth(done, len(new), games, gone))
        if games - counted >= SAVED_EVERY and done < len(new):
            counted = games
            index = _joined(index, there, read, rows)
            read, rows = [], []
            yield index
    yield _joined(index, there, read, rows)


def _listed(root: Path) -> dict[bytes, tuple[int, int]]:
    """Return size and time of change of the files to read, by path below the root, sorted."""
    if not root.exists():
        raise ZugwerkError(f"{root}: no such folder, tar or archive of games")
    found = {}
    for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
        if path.is_file() and (path is root or path.suffix.lower() in (SUFFIX, ARCHIVE)):
            about = path.stat()
            name = b"" if path is root else os.fsencode(path.relative_to(root))
            found[name] = (about.st_size, about.st_mtime_ns)
    if not found:
        raise ZugwerkError(f"{root}: no {SUFFIX} file and no {ARCHIVE} archive there")
    return dict(sorted(found.items()))


def _joined(
    index: Index,
    there: dict[bytes, tuple[int, int]],
    read: list[tuple[bytes, int, int, str]],
    rows: list[tuple[bytes, list[dict[str, object]]]],
) -> Index:
    """Return the index with files that were read, and without those that are gone or were read again."""
    import pyarrow as pa

    schemas, again = _schemas(index.root), {path for path, *_ in read}
    old = [(row["path"], row["bytes"], row["modified"], row["problem"]) for row in index.files.to_pylist()]
    files = sorted([row for row in old if row[0] in there and row[0] not in again] + read)
    place = {path: number for number, (path, *_) in enumerate(files)}
    moved = np.array([-1 if path in again else place.get(path, -1) for path, *_ in old], np.int32)
    of_old = moved[index.games["file"].to_numpy()]
    added = pa.Table.from_pylist(
        [{**one, "file": place[path], "repeat": False} for path, some in rows for one in some], schemas[1]
    )
    kept = index.games.set_column(0, schemas[1].field("file"), pa.array(of_old)).take(np.flatnonzero(of_old >= 0))
    both = pa.concat_tables([kept, added]).combine_chunks()
    games = both.take(np.argsort(both["file"].to_numpy(), kind="stable")).combine_chunks()
    table = pa.table(dict(zip(schemas[0].names, zip(*files, strict=True), strict=True)), schemas[0])
    grown = Index(index.root, table, games)
    return Index(
        index.root, table, games.set_column(games.num_columns - 1, schemas[1].field("repeat"), _repeats(grown))
    )


def _repeats(index: Index) -> "pa.Array[Any]":
    import pyarrow as pa

    seen, repeats, starts = set(), [], index.starts.tolist()
    for game, size in enumerate(index.games["size"].to_numpy().tolist()):
        events = index.events[starts[game] : starts[game + 1]].tobytes()
        name = hashlib.blake2b(events, digest_size=16, key=bytes([size])).digest()
        repeats.append(name in seen)
        seen.add(name)
    return pa.array(repeats, pa.bool_())


def _read(path: Path) -> tuple[list[dict[str, object]], str]:
    """Return the rows of a file's games of Go, and why others are not read."""
    rows: list[dict[str, object]] = []
    problems: list[str] = []
    for member, found in _records(path, problems):
        if isinstance(found, Reject):
            if found.reason != "other_game":
                problems.append(f"{path}: {found.detail}" if member else found.detail)
            continue
        try:
            events = write_events(found.width, found.variant, found.actions)
        except (ValueError, ZugwerkError) as error:
            problems.append(f"{path}: game {found.gid}, ply {error}, is not legal")
            continue
        rows.append(
            {
                "member": member.encode("utf-8", "replace").decode(),
                "number": found.gid,
                "size": found.width,
                "first_name": found.first_name,
                "second_name": found.second_name,
                "event": found.event,
                "winner": RESULTS[found.winner],
                "plies": len(found.actions),
                "events": events,
            }
        )
    more = f"; and {len(problems) - 1} more" if len(problems) > 1 else ""
    return rows, problems[0].encode("utf-8", "replace").decode() + more if problems else ""


def _records(path: Path, problems: list[str]) -> Iterator[tuple[str, GameRecord | Reject]]:
    """Yield the games of a file with the names of their files in a tar; add the error of a file that is none."""
    import pyarrow as pa

    try:
        if path.suffix.lower() == ARCHIVE:
            if not _may_hold_games(path):
                return
            table = read_table(path)
            games = table.filter(pa.array([game == "go" for game in table["game"].to_pylist()]))
            for batch in games.to_batches(max_chunksize=1_000):  # Python's numbers take ten times as much memory
                for row in batch.to_pylist():
                    yield "", record_of(row, path)
        elif path.suffix.lower() == SUFFIX:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES)
            for one in parse_sgf(data, 1, name=str(path), size=None):
                yield "", one if isinstance(one, Reject) else one.record
        else:
            for member, data in read_files(path):
                for one in parse_sgf(data, 1, name=member, size=None):
                    yield member, one if isinstance(one, Reject) else one.record
    except (ZugwerkError, OSError) as error:
        problems.append(str(error))


def _may_hold_games(path: Path) -> bool:
    """Return false for a sound Parquet file with other contents than records."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return "actions" in pq.read_schema(path).names
    except (pa.ArrowException, OSError):
        return True

"""Records that are not usable games, with the reason: `RecordError` while reading, `Reject` on disk.

Columns of a rejects file: ``gid`` int64; ``ply`` int32, the turn at which reading stopped (0 is the first), or -1 if it
stopped before the turns; ``reason``, one of `REASONS`; ``detail``, a sentence for people.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, written_aside
from pipeline_src.records.parquet import Rows, open_records
from pipeline_src.records.record import GameRecord

if TYPE_CHECKING:
    import pyarrow as pa

Reason = Literal[
    "http_status",  # the server answered with an error
    "empty",  # the body is empty
    "bad_text",  # a page or half a record; a move that cannot be read
    "ambiguous",  # a name imitates the format: several readings of the text are legal games, or none of several is
    "several_records",  # different games under one gid
    "other_game",
    "other_variant",
    "illegal_move",
    "contradiction",  # seats, record and final position do not agree
    "unfinished",  # nothing names a winner
    "too_short",
]
ROWS_PER_GROUP = 1_000_000
REASONS: tuple[Reason, ...] = get_args(Reason)


class RecordError(ZugwerkError):
    """A record is not a usable game."""

    def __init__(self, reason: Reason, detail: str, ply: int = -1) -> None:
        super().__init__(f"{reason}: {detail}" if ply < 0 else f"{reason} at ply {ply}: {detail}")
        self.reason: Reason = reason
        self.detail = detail
        self.ply = ply


@dataclasses.dataclass(frozen=True, slots=True)
class Reject:
    """One row of a rejects file."""

    gid: int
    ply: int
    reason: Reason
    detail: str


def schema() -> "pa.Schema":
    """Return the Arrow schema of a rejects file."""
    import pyarrow as pa

    columns: dict[str, pa.DataType] = {
        "gid": pa.int64(),
        "ply": pa.int32(),
        "reason": pa.string(),
        "detail": pa.string(),
    }
    return pa.schema(columns)


@contextmanager
def open_rejects(path: Path | str) -> Iterator[Rows]:
    """Begin a file of the rejects that are added; it is sorted by gid, and replaces the file at the end."""
    with written_aside(path) as aside, closing(Rows(aside, schema(), ROWS_PER_GROUP)) as rows:
        yield rows
        rows.finish()


class Read(Protocol):
    """A usable game."""

    @property
    def record(self) -> GameRecord:
        """The game."""


def sort_results(
    results: Iterable[Read | Reject],
    count: Callable[[], dict[str, Any]],
    source: Path | str,
    *,
    games: Path,
    rejects: Path,
    report: Path,
) -> None:
    """Write an archive of the games among some results, a file of the rejects, and a report.

    Args:
        results: what was read, one by one.
        count: returns the report after the last result; has ``rows``, ``games`` and ``rejects_by_reason``.
        source: where the results come from, for messages.
        games: path of the archive.
        rejects: path of the file of rejects.
        report: path of the report.

    Raises:
        ZugwerkError: not one usable game, or two with the same gid; an archive that was there stays.
    """
    with open_records(games) as kept:
        with open_rejects(rejects) as left:
            for result in results:
                if isinstance(result, Reject):
                    left.add(result)
                else:
                    kept.add(result.record)
        found = count()
        write_json(report, found)
        if not found["games"]:
            reasons = ", ".join(f"{n} {reason}" for reason, n in found["rejects_by_reason"].items() if n)
            raise ZugwerkError(f"{source}: not one usable game among {found['rows']} ({reasons}); see {rejects}")


def shown(text: str) -> str:
    """Return the beginning of a text from outside, quoted, printable and short, for a ``detail``."""
    if len(text) <= 40 and len(ascii(text)) <= 82:
        return ascii(text)
    start = text[:37]
    while len(ascii(start)) > 79:  # a control character takes four letters, others up to ten
        start = start[:-1]
    return ascii(start + "...")

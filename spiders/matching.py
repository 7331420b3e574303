"""Match records to games, for a page with all records of a player but without their numbers.

A record is matched to a line of the player's game list by opponent and number of plies, and only if that is certain:
for an opponent against whom list and page have the same numbers of plies, each as often, and there only for a number
that occurs once. All other games are fetched one by one.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from pipeline_src.records.littlegolem.text import parse_text
from pipeline_src.records.rejects import RecordError
from spiders.pages import GameList, Row

RECORDS_AT_ONCE = 100  # Number of records read before the event loop runs again


class _Record(NamedTuple):
    body: bytes
    nodes: int
    moves: int  # Nodes without a resignation: it is unknown which of the two the list counts


async def match_records(listed: GameList, bodies: Sequence[bytes]) -> dict[int, bytes]:
    """Records by gid, for the games whose record is certain. The event loop runs in between on a long page.

    Args:
        listed: the player's game list.
        bodies: the records on the player's page of records, one each.
    """
    rows: dict[str, list[Row]] = defaultdict(list)
    for row in listed.rows:
        rows[_comparable(row.opponent)].append(row)
    records: dict[str, list[_Record]] = defaultdict(list)
    for number, body in enumerate(bodies):
        if number % RECORDS_AT_ONCE == 0:
            await asyncio.sleep(0)
        try:
            opponent, record = _read(body, _comparable(listed.name))
        except RecordError:
            continue
        records[opponent].append(record)
    matched: dict[int, bytes] = {}
    for opponent, of_list in rows.items():
        matched |= _match(of_list, records[opponent])
    return dict(sorted(matched.items()))


def _match(rows: list[Row], records: list[_Record]) -> dict[int, bytes]:
    """Match the games against one opponent; none while one is in progress, which may have grown since."""
    if any(not row.result for row in rows):
        return {}
    listed = Counter(row.plies for row in rows)
    for plies in ([record.nodes for record in records], [record.moves for record in records]):
        if Counter(plies) == listed:
            body = {count: record.body for count, record in zip(plies, records, strict=True)}
            return {row.gid: body[row.plies] for row in rows if listed[row.plies] == 1 and row.plies >= 0}
    return {}


def _read(body: bytes, player: str) -> tuple[str, _Record]:
    """The opponent of ``player`` in a record, with the record."""
    text = parse_text(body)
    names = [_comparable(text.header.get(key, "")) for key in ("PB", "PW")]
    if player not in names:
        raise RecordError("bad_text", f"{player} did not play it")
    resigned = bool(text.nodes) and text.nodes[-1].value.strip().lower() == "resign"
    return names[names.index(player) - 1], _Record(body, len(text.nodes), len(text.nodes) - resigned)


def _comparable(name: str) -> str:
    """A name as in a Latin-1 record: question marks for other characters, blanks normalised."""
    return " ".join(name.encode("latin-1", errors="replace").decode("latin-1").split())

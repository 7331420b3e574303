"""Build a library from games or add games to one; and what each code makes of the patterns on the way.

The order of games changes nothing, except that of copies of a game the first one counts. The library of many games is
merged from those of `GAMES_AT_ONCE` each, which wait on disk.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.learning.arrays import ByHash, DiskRows, count_different, room
from pipeline_src.records.record import SOURCES, GameRecord
from pipeline_src.systems.joseki.code import (
    count_unresolved,
    earlier_codes,
    pattern_codes,
    symmetric_codes,
    windows_of_keys,
)
from pipeline_src.systems.joseki.corners import (
    BLACK,
    CHUNK,
    EMPTY,
    LONGEST,
    PASS,
    WHITE,
    Steps,
    chunks,
    fingerprint,
    walk,
)
from pipeline_src.systems.joseki.library import Library, prune
from pipeline_src.systems.joseki.merging import COUNTS, Merged, check_whole, merge, merge_all
from pipeline_src.systems.joseki.tables import NO_GAME, Tables, count_steps, empty_tables, forget_games, grown

WINNING_COLOUR = {"first": BLACK, "second": WHITE, "draw": EMPTY, None: EMPTY}
"""By a record's winner: in Go ``first`` is Black, also where White begins against handicap stones."""
GAMES_AT_ONCE = 5_000
STATES_AT_ONCE = 1 << 16


@dataclass
class Added:
    """Counts of games that were added or left out."""

    games: int = 0  # Number of games counted
    repeats: int = 0  # Number of games left out because a copy was counted before (`fingerprint`)
    illegal: list[tuple[int, int]] = field(default_factory=list)
    """(gid, ply) of games that were left out for an illegal move."""


class Chunk(NamedTuple):
    """Some games just added."""

    steps: Steps
    keys: npt.NDArray[np.uint64]  # [E, 4]: of the pattern that each step led to


class Part(NamedTuple):
    """A library of some of a builder's games."""

    library: Library
    first: npt.NDArray[np.int64]
    """[S]: which of all encodings of the builder was the first of the pattern, -1 where none is."""


class Builder:
    """A library that grows."""

    def __init__(self, library: Library | None = None, longest: int = LONGEST) -> None:
        """Start empty, with ``longest`` moves of a corner, or with a library as it is, which has its own number.

        Raises:
            ZugwerkError: it was pruned, so that its counts are not whole.
        """
        self.longest, self.added = longest if library is None else library.moves, Added()
        self._before, self._known = list[Library](), np.empty(0, np.uint64)
        if library is not None:
            check_whole(library)
            self._before, self._known = [library], library.fingerprints
        self._encodings = 0
        self._begin()

    def _begin(self) -> None:
        self._tables = empty_tables()
        self._games: dict[int, tuple[int, int]] = {}
        """Number and source of each game, by its fingerprint."""

    def add(self, records: Iterable[GameRecord]) -> Added:
        """Count games; those counted before and those with an illegal move are left out. Returns all added so far.

        Raises:
            ZugwerkError: a record of another game or size.
        """
        for _ in self.add_by_chunks(records):
            pass
        return self.added

    def add_by_chunks(self, records: Iterable[GameRecord]) -> Iterator[Chunk]:
        """Add games as `add` does, and yield the result after every `CHUNK` games."""
        for chunk in chunks(records, CHUNK):
            new: dict[int, GameRecord] = {}
            for record in chunk:
                name = fingerprint(record)
                if name in self._games or name in new or self._was_known(name):
                    self.added.repeats += 1
                else:
                    new[name] = record
            yield self._add(new)

    def _was_known(self, name: int) -> bool:
        at = int(np.searchsorted(self._known, np.uint64(name)))
        return at < len(self._known) and int(self._known[at]) == name

    def _add(self, games: dict[int, GameRecord]) -> Chunk:
        records = list(games.values())
        walked = walk(records, self.longest)
        count = len(walked.steps.game)
        # Both patterns of a step may be new: a capture from outside the corner changes a pattern between two steps.
        self._tables = grown(self._tables, 2 * count, count)
        winners = np.array([WINNING_COLOUR[record.winner] for record in records], np.int8)
        states = np.empty(count, np.int32)
        forget_games(self._tables)
        names = np.array(list(games), np.uint64)
        self._encodings = count_steps(self._tables, walked.steps, names, winners, self._encodings, states)
        refused = dict(walked.illegal)
        self.added.illegal += [(records[index].gid, ply) for index, ply in walked.illegal]
        counted = {name: record for i, (name, record) in enumerate(games.items()) if i not in refused}
        self._games |= {name: (record.gid, SOURCES.index(record.source)) for name, record in counted.items()}
        self.added.games += len(records) - len(refused)
        return Chunk(walked.steps, self._tables.keys[states])

    def take(self) -> Part:
        """Return the library of the games since the last call; they are known from now on, and the tables empty."""
        part = _frozen(self._tables, self._games, self.longest)
        self._known = np.union1d(self._known, part.library.fingerprints)
        self._begin()
        return part

    def library(self, fewest_games: int = 1) -> Library:
        """Return the library with all transitions, or with those of at least ``fewest_games`` games."""
        own = _frozen(self._tables, self._games, self.longest).library
        return prune(merge(*self._before, own) if self._before else own, fewest_games)


def _frozen(tables: Tables, games: dict[int, tuple[int, int]], moves: int) -> Part:
    states, transitions = (int(n) for n in tables.used)
    keys = tables.keys[:states]
    order = np.lexsort(keys.T[::-1])
    place = np.empty(states, np.int32)
    place[order] = np.arange(states, dtype=np.int32)
    origins = np.full(transitions, -1, np.int32)
    at, of = tables.head[:states].copy(), np.arange(states)
    while len(of):  # the chains of all states, one link at a time
        live = at >= 0
        at, of = at[live], of[live]
        origins[at] = place[of]
        at = tables.following[at]
    to, move = place[tables.to[:transitions]], tables.move[:transitions]
    by = np.lexsort((to, move, origins))
    names = np.array(sorted(games), np.uint64)
    samples = tables.samples[:transitions][by]
    library = Library(
        keys=keys[order],
        seen=tables.seen[:states][order],
        starts=np.searchsorted(origins[by], np.arange(states + 1)).astype(np.int32),
        move=move[by],
        to=to[by],
        **{name: getattr(tables, name)[:transitions][by] for name in COUNTS},
        samples=np.where(samples == NO_GAME, -1, np.searchsorted(names, samples)).astype(np.int32),
        plies=tables.plies[:transitions][by],
        fingerprints=names,
        gids=np.array([games[int(name)][0] for name in names], np.int64),
        sources=np.array([games[int(name)][1] for name in names], np.int8),
        moves=moves,
    )
    return Part(library, tables.first[:states][order])


Row = dict[str, str | float]


class Tally(NamedTuple):
    """A library, and counts on the way to it."""

    library: Library
    metrics: dict[str, Any]
    """``encodings`` are patterns after local moves, ``passes`` moves elsewhere; ``clashes`` and ``clashes_ours``
    encodings whose code was first another pattern's, ``clashing_patterns`` the patterns among them;
    ``clashes_unresolved`` encodings whose exact key was another pattern's; ``names_zobrist`` and ``names_gu`` the codes
    that earlier methods have for the same ``patterns``."""
    growth: list[Row]


def tally(
    records: Iterable[GameRecord], count: int, points: int, longest: int = LONGEST, folder: Path | None = None
) -> Tally:
    """Build a library of games.

    Args:
        records: the games, at least one.
        count: their number.
        points: rows of the growth, at most.
        longest: local moves of a corner sequence.
        folder: where work is kept, as for `room`.
    """
    builder, parts, ends, unresolved = Builder(longest=longest), list[Part](), list[int](), 0
    names = ByHash(folder), ByHash(folder)
    records, each = iter(records), -(-count // points)
    for _ in range(0, count, each):
        left = islice(records, each)
        while some := list(islice(left, GAMES_AT_ONCE)):
            for chunk in builder.add_by_chunks(some):
                played = chunk.steps.point != PASS
                unresolved += count_unresolved(chunk.steps.after[played], chunk.keys[played])
                for rows, codes in zip(names, earlier_codes(chunk.steps), strict=True):
                    rows.append(codes[played])
            parts.append(_on_disk(builder.take(), folder))
        ends.append(len(parts))
    merged = merge_all([part.library for part in parts], folder)
    library, clashes = merged.library, _clashes(merged, parts, folder)
    by_part: dict[str, Any] = {
        "games": [len(part.library.fingerprints) for part in parts],
        "encodings": [int(part.library.seen.sum()) for part in parts],
        "patterns": merged.new_states,
        "transitions": merged.new_transitions,
        "clashes": clashes["paper"].by_part,
        "clashes_ours": clashes["ours"].by_part,
    }
    sums = {name: np.cumsum(values).tolist() for name, values in by_part.items()}
    growth: list[Row] = [{name: values[end - 1] for name, values in sums.items()} for end in ends]
    zobrist, gu = (count_different(rows) for rows in names)
    metrics = {name: values[-1] for name, values in sums.items()} | {
        "repeats": builder.added.repeats,
        "illegal": len(builder.added.illegal),
        "patterns": int(np.count_nonzero(library.seen)),
        "passes": int(library.played.sum()) - sums["encodings"][-1],
        "clashing_patterns": clashes["paper"].patterns,
        "clashes_unresolved": unresolved,
        "names_zobrist": zobrist,
        "names_gu": gu,
    }
    return Tally(library, metrics, growth)


def build_library(records: Iterable[GameRecord], longest: int = LONGEST, folder: Path | None = None) -> Library:
    """Build a library of games, at least one, and count nothing; for the arguments see `tally`."""
    builder, parts, records = Builder(longest=longest), list[Library](), iter(records)
    while some := list(islice(records, GAMES_AT_ONCE)):
        builder.add(some)
        parts.append(_on_disk(builder.take(), folder).library)
    return merge_all(parts, folder).library


def _on_disk(part: Part, folder: Path | None) -> Part:
    def moved(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        rows = DiskRows(folder, array.dtype, array.shape[1:])
        rows.append(array)
        return rows.array()

    arrays: dict[str, Any] = {name: moved(array) for name, array in part.library.arrays().items()}
    return Part(replace(part.library, **arrays), moved(part.first))


class Clashes(NamedTuple):
    """Clashes of a code among the encodings of some parts."""

    by_part: list[int]  # Clashing encodings of each part
    patterns: int  # Number of clashing patterns, each counted once


def _clashes(merged: Merged, parts: list[Part], folder: Path | None) -> dict[str, Clashes]:
    """Clashes of both codes, which all forms of a pattern have in common: those of states give those of encodings."""
    keys = merged.library.keys
    first = room(folder, np.int64, (len(keys),))
    first[:] = -1
    for part, place in reversed(list(zip(parts, merged.places, strict=True))):
        seen = part.first >= 0
        first[place[seen]] = part.first[seen]
    codes = {name: ByHash(folder, state=np.int32, first=np.int64) for name in ("paper", "ours")}
    for at in range(0, len(keys), STATES_AT_ONCE):
        states = at + np.flatnonzero(first[at : at + STATES_AT_ONCE] >= 0)
        windows = windows_of_keys(keys[states])
        codes["paper"].append(pattern_codes(windows), state=states, first=first[states])
        codes["ours"].append(symmetric_codes(windows), state=states, first=first[states])
    found = {}
    for name, rows in codes.items():
        clashing = room(folder, np.bool_, (len(keys),))
        for some in rows.parts():
            clashing[clashing_states(some["hash"], some["state"], some["first"])] = True
        by_part = [
            int(part.library.seen[clashing[place]].sum()) for part, place in zip(parts, merged.places, strict=True)
        ]
        found[name] = Clashes(by_part, int(np.count_nonzero(clashing)))
    return found


def clashing_states(
    codes: npt.NDArray[np.uint64], states: npt.NDArray[np.int32], first: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    """Return those of some states [S] whose code [S] another state had earlier; ``first`` [S] is the time of each."""
    order = np.lexsort((first, codes))
    again = codes[order][1:] == codes[order][:-1]
    clashing: npt.NDArray[np.int32] = states[order][1:][again]
    return clashing

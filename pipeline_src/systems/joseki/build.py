"""Build a library from games or add games to one; and what each code makes of the patterns on the way.

The order of games changes nothing, except that of copies of a game the first one counts. The library of many games is
merged from those of `GAMES_AT_ONCE` each, which wait on disk.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, write_table
from pipeline_src.learning.arrays import ByHash, DiskRows, count_different, room
from pipeline_src.project.params import load
from pipeline_src.records.record import SOURCES, GameRecord, each_record, read_batches
from pipeline_src.systems.joseki.library import (
    NO_GAME,
    SAMPLES,
    SHAPES,
    Ints,
    Library,
    Tables,
    count_steps,
    empty_tables,
    forget_games,
    group_begins,
    grown,
    key_names,
    prune,
    save,
)
from pipeline_src.systems.joseki.params import JosekiBuildParams
from pipeline_src.systems.joseki.patterns import (
    BLACK,
    EMPTY,
    LONGEST,
    PASS,
    WHITE,
    Steps,
    chunks,
    count_unresolved,
    earlier_codes,
    fingerprint,
    pattern_codes,
    symmetric_codes,
    walk,
    windows_of_keys,
)

GAMES = Path("artifacts/records/joseki/games.parquet")
MODELS = Path("artifacts/models/joseki")
REPORTS = Path("artifacts/reports/joseki")
WORK = Path("work/joseki_build")
GROWTH_POINTS = 20
WINNING_COLOUR = {"first": BLACK, "second": WHITE, "draw": EMPTY, None: EMPTY}
"""By a record's winner: in Go ``first`` is Black, also where White begins against handicap stones."""
GAMES_AT_ONCE = 5_000
STATES_AT_ONCE = 1 << 16
RANGE = 1 << 17  # States of all libraries that are merged at a time
COUNTS = ("played", "games", "wins", "losses")  # Counts of each transition


def main() -> None:
    """Stage joseki_build: build the joseki library from games, and count the clashes of each code.

    Writes the whole library, which games can be added to, the one without rare moves, the metrics
    ``artifacts/reports/joseki/build.json``, the growth by games ``growth.csv``, and ``build.timings.json``.
    """
    params = load(JosekiBuildParams, "joseki_build")
    sources = Counter(source for table in read_batches(GAMES) for source in table["source"].to_pylist())
    if not sources:
        raise ZugwerkError(f"{GAMES}: no games; `dvc repro joseki_records` makes them")
    begin = time.perf_counter()
    WORK.mkdir(parents=True, exist_ok=True)
    found = tally(each_record(GAMES), sources.total(), GROWTH_POINTS, params.moves, WORK)
    tallied = time.perf_counter()
    library = prune(found.library, params.fewest_games)
    save(found.library, MODELS / "whole.joseki")
    save(library, MODELS / "library.joseki")
    write_table(REPORTS / "growth.csv", found.growth)
    kept = {"patterns": library.states, "transitions": library.transitions}
    metrics = found.metrics | {"kept": kept, "sources": {source: sources[source] for source in SOURCES}}
    write_json(REPORTS / "build.json", metrics)
    seconds = {"count": tallied - begin, "freeze_and_save": time.perf_counter() - tallied}
    write_json(REPORTS / "build.timings.json", {"seconds": seconds})


@dataclass
class Added:
    """Counts of games that were added or left out."""

    games: int = 0  # Number of games counted
    repeats: int = 0  # Number of games left out because a copy was counted before (`fingerprint`)
    illegal: list[tuple[int, int]] = field(default_factory=list)  # (gid, ply) of games left out for an illegal move


class Part(NamedTuple):
    """A library of some of a builder's games."""

    library: Library
    first: npt.NDArray[np.int64]  # [S]: which of all the builder's encodings was the pattern's first; -1: none


class Builder:
    """A library that grows."""

    def __init__(self, library: Library | None = None, longest: int = LONGEST) -> None:
        """Start empty, with ``longest`` moves of a corner, or with a library. Raises ZugwerkError: it was pruned."""
        self.longest, self.added = longest if library is None else library.moves, Added()
        self._before, self._known = list[Library](), np.empty(0, np.uint64)
        if library is not None:
            check_whole(library)
            self._before, self._known = [library], library.fingerprints
        self._encodings = 0
        self._begin()

    def _begin(self) -> None:
        self._tables = empty_tables()
        self._games: dict[int, tuple[int, int]] = {}  # Number and source of each game, by its fingerprint

    def add(self, records: Iterable[GameRecord]) -> Added:
        """Count games, but repeated and illegal ones; return all so far. Raises ZugwerkError: another game or size."""
        for _ in self.add_by_chunks(records):
            pass
        return self.added

    def add_by_chunks(self, records: Iterable[GameRecord]) -> Iterator[tuple[Steps, npt.NDArray[np.uint64]]]:
        """Add games as `add` does; yield the steps of every `CHUNK` games and the keys [E, 4] that they led to."""
        for chunk in chunks(records):
            new: dict[int, GameRecord] = {}
            for record in chunk:
                name = fingerprint(record)
                at = np.searchsorted(self._known, np.uint64(name))
                if name in self._games or name in new or name in self._known[at : at + 1]:
                    self.added.repeats += 1
                else:
                    new[name] = record
            yield self._add(new)

    def _add(self, games: dict[int, GameRecord]) -> tuple[Steps, npt.NDArray[np.uint64]]:
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
        return walked.steps, self._tables.keys[states]

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


# Merge libraries, sorted as they are, one range of keys after the other; the result is on disk.


class Merged(NamedTuple):
    """A library of L libraries."""

    library: Library
    places: list[Ints]  # For each library, int32 [S]: the states that its states are in the merged one
    new_states: npt.NDArray[np.int64]  # [L], number of states that no library before has
    new_transitions: npt.NDArray[np.int64]  # [L], number of transitions that no library before has


def check_whole(library: Library) -> None:
    """Test that a library can be merged or added to. Raises ZugwerkError: it was pruned, its counts are not whole."""
    if library.fewest_games > 1:
        what = f"a library without moves of fewer than {library.fewest_games} games"
        raise ZugwerkError(f"{what} cannot be added to or merged; use the whole library")


def merge(*libraries: Library, folder: Path | None = None) -> Library:
    """The library of all libraries' games; see `merge_all`."""
    return merge_all(libraries, folder).library


def merge_all(libraries: Sequence[Library], folder: Path | None = None) -> Merged:
    """Merge libraries; the order does not matter for the library. ``folder`` as for `room`.

    Raises:
        ZugwerkError: one was pruned, two count different numbers of moves, or two have games in common, which would
            count twice.
    """
    for library in libraries:
        check_whole(library)
    moves = [library.moves for library in libraries]
    if len(set(moves)) > 1:
        counts = " and ".join(map(str, moves))
        raise ZugwerkError(f"they count {counts} moves of a corner; build one again with joseki_build.moves")
    names = np.concatenate([library.fingerprints for library in libraries])
    order = np.argsort(names)
    if shared := int((names[order][1:] == names[order][:-1]).sum()):
        raise ZugwerkError(f"{shared} games are in both libraries and would count twice; add the other games anew")
    ends = np.cumsum([library.states for library in libraries])
    places: list[Ints] = np.split(room(folder, np.int32, (int(ends[-1]),)), ends[:-1])
    columns = {name: DiskRows(folder, kind, rest) for name, (kind, length, rest) in SHAPES.items() if length in "ST"}
    new = np.zeros((2, len(libraries)), np.int64)
    ranges = list(_ranges(libraries))
    for bounds in ranges:
        new[0] += _merge_states(libraries, bounds, places, columns)
    games = [np.append(np.searchsorted(names[order], one.fingerprints), -1).astype(np.int32) for one in libraries]
    starts = room(folder, np.int32, (columns["keys"].count + 1,))
    for bounds in ranges:
        new[1] += _merge_transitions(libraries, bounds, places, games, columns, starts)
    np.cumsum(starts, dtype=np.int32, out=starts)
    arrays: dict[str, Any] = {name: rows.array() for name, rows in columns.items()}
    library = Library(
        **arrays,
        starts=starts,
        fingerprints=names[order],
        gids=np.concatenate([library.gids for library in libraries])[order],
        sources=np.concatenate([library.sources for library in libraries])[order],
        moves=moves[0],
    )
    return Merged(library, places, *new)


Bounds = list[tuple[int, int]]  # States of each library, from the first to before the second


def _ranges(libraries: Sequence[Library]) -> Iterator[Bounds]:
    """Cut all libraries at the same keys, so that about `RANGE` states lie between two cuts."""
    every = max(1, RANGE // len(libraries))
    some = sorted(key.tobytes() for library in libraries for key in library.keys[every::every].astype(">u8"))

    def states_before(library: Library, cut: bytes) -> int:
        def name(state: int) -> bytes:
            return bytes(library.keys[state].astype(">u8").tobytes())

        return bisect_left(range(library.states), cut, key=name)

    cuts = [[states_before(library, cut) for library in libraries] for cut in some[:: len(libraries)]]
    ends = [library.states for library in libraries]
    for before, after in pairwise([[0] * len(libraries), *cuts, ends]):
        yield list(zip(before, after, strict=True))


def _merge_states(
    libraries: Sequence[Library], bounds: Bounds, places: list[Ints], columns: dict[str, DiskRows]
) -> npt.NDArray[np.int64]:
    """Write the states of a range and their places; return how many each library is the first to have."""
    keys = np.concatenate([library.keys[a:b] for library, (a, b) in zip(libraries, bounds, strict=True)])
    _, at, which = np.unique(key_names(keys), return_index=True, return_inverse=True)
    seen = np.zeros(len(at), np.int32)
    np.add.at(seen, which, np.concatenate([one.seen[a:b] for one, (a, b) in zip(libraries, bounds, strict=True)]))
    sizes = [b - a for a, b in bounds]
    for place, (a, b), some in zip(places, bounds, np.split(which, np.cumsum(sizes)[:-1]), strict=True):
        place[a:b] = columns["keys"].count + some
    columns["keys"].append(keys[at])
    columns["seen"].append(seen)
    return np.bincount(np.repeat(np.arange(len(libraries)), sizes)[at], minlength=len(libraries))


def _merge_transitions(
    libraries: Sequence[Library],
    bounds: Bounds,
    places: list[Ints],
    games: list[Ints],
    columns: dict[str, DiskRows],
    starts: Ints,
) -> npt.NDArray[np.int64]:
    """Write the transitions of a range of states; return how many each library is the first to have.

    ``starts`` [S + 1] counts the transitions of each state, one entry behind it.
    """
    parts = [slice(library.starts[a], library.starts[b]) for library, (a, b) in zip(libraries, bounds, strict=True)]

    def joined(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(one, name)[part] for one, part in zip(libraries, parts, strict=True)])

    each = zip(libraries, places, bounds, strict=True)
    origin = np.concatenate([np.repeat(place[a:b], np.diff(one.starts[a : b + 1])) for one, place, (a, b) in each])
    to = np.concatenate([place[one.to[part]] for one, place, part in zip(libraries, places, parts, strict=True)])
    move = joined("move")
    order = np.lexsort((to, move, origin))
    origin, move, to = origin[order], move[order], to[order]
    begins = group_begins(origin, move, to)
    columns["move"].append(move[begins])
    columns["to"].append(to[begins])
    for name in COUNTS:
        columns[name].append(np.add.reduceat(joined(name)[order], begins) if len(begins) else begins)
    found = np.concatenate([of[one.samples[part]] for one, of, part in zip(libraries, games, parts, strict=True)])
    samples, plies = _first_samples(found[order], joined("plies")[order], begins)
    columns["samples"].append(samples)
    columns["plies"].append(plies)
    np.add.at(starts, origin[begins] + 1, 1)
    owners = np.repeat(np.arange(len(libraries)), [part.stop - part.start for part in parts])
    return np.bincount(owners[order][begins], minlength=len(libraries))


def _first_samples(found: Ints, plies: npt.NDArray[np.int16], begins: npt.NDArray[np.int64]) -> tuple[Ints, Ints]:
    """The `SAMPLES` first games of each group of rows that begins at ``begins``, and the plies."""
    group = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(found)) * SAMPLES)
    kept = np.flatnonzero(found.ravel() >= 0)
    group, game, ply = group[kept], found.ravel()[kept], plies.ravel()[kept]
    order = np.lexsort((game, group))
    group, game, ply = group[order], game[order], ply[order]
    starts = group_begins(group)
    rank = np.arange(len(group)) - np.repeat(starts, np.diff(starts, append=len(group)))
    first = rank < SAMPLES
    samples, at = (np.full((len(begins), SAMPLES), -1, np.int32) for _ in range(2))
    samples[group[first], rank[first]], at[group[first], rank[first]] = game[first], ply[first]
    return samples, at


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
    """Build a library of ``count`` games, at least one, with at most ``points`` rows of growth.

    A corner has ``longest`` local moves at most; ``folder`` as for `room`.
    """
    builder, parts, ends, unresolved = Builder(longest=longest), list[Part](), list[int](), 0
    names = ByHash(folder), ByHash(folder)
    records, each = iter(records), -(-count // points)
    for _ in range(0, count, each):
        left = islice(records, each)
        while some := list(islice(left, GAMES_AT_ONCE)):
            for steps, keys in builder.add_by_chunks(some):
                played = steps.point != PASS
                unresolved += count_unresolved(steps.after[played], keys[played])
                for rows, codes in zip(names, earlier_codes(steps), strict=True):
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
        "clashes": clashes["paper"][0],
        "clashes_ours": clashes["ours"][0],
    }
    sums = {name: np.cumsum(values).tolist() for name, values in by_part.items()}
    growth: list[Row] = [{name: values[end - 1] for name, values in sums.items()} for end in ends]
    zobrist, gu = (count_different(rows) for rows in names)
    metrics = {name: values[-1] for name, values in sums.items()} | {
        "repeats": builder.added.repeats,
        "illegal": len(builder.added.illegal),
        "patterns": int(np.count_nonzero(library.seen)),
        "passes": int(library.played.sum()) - sums["encodings"][-1],
        "clashing_patterns": clashes["paper"][1],
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


def _clashes(merged: Merged, parts: list[Part], folder: Path | None) -> dict[str, tuple[list[int], int]]:
    """Clashing encodings of each part, and clashing patterns, by code, which all forms of a pattern share."""
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
        seen_by = zip((part.library.seen for part in parts), merged.places, strict=True)
        found[name] = [int(seen[clashing[place]].sum()) for seen, place in seen_by], int(np.count_nonzero(clashing))
    return found


def clashing_states(
    codes: npt.NDArray[np.uint64], states: npt.NDArray[np.int32], first: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    """Return those of some states [S] whose code [S] another state had earlier; ``first`` [S] is the time of each."""
    order = np.lexsort((first, codes))
    again = codes[order][1:] == codes[order][:-1]
    clashing: npt.NDArray[np.int32] = states[order][1:][again]
    return clashing

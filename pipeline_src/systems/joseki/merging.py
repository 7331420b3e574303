"""Merge libraries, sorted as they are, one range of keys after the other; the result is on disk."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.arrays import DiskRows, room
from pipeline_src.systems.joseki.library import SHAPES, Ints, Library, key_names
from pipeline_src.systems.joseki.tables import SAMPLES

STATES_AT_ONCE = 1 << 17
COUNTS = ("played", "games", "wins", "losses")  # Counts of each transition


class Merged(NamedTuple):
    """A library of L libraries."""

    library: Library
    places: list[Ints]  # For each library, int32 [S]: the states that its states are in the merged one
    new_states: npt.NDArray[np.int64]  # [L], number of states that no library before has
    new_transitions: npt.NDArray[np.int64]  # [L], number of transitions that no library before has


def check_whole(library: Library) -> None:
    """Test that a library can be merged or added to.

    Raises:
        ZugwerkError: it was pruned, so that its counts are not whole.
    """
    if library.fewest_games > 1:
        raise ZugwerkError(
            f"a library without moves of fewer than {library.fewest_games} games cannot be added to or merged; "
            "use the whole library"
        )


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
        raise ZugwerkError(
            f"they count {' and '.join(map(str, moves))} moves of a corner; build one again with joseki_build.moves"
        )
    names = np.concatenate([library.fingerprints for library in libraries])
    order = np.argsort(names)
    shared = int((names[order][1:] == names[order][:-1]).sum())
    if shared:
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
    """Cut all libraries at the same keys, so that about `STATES_AT_ONCE` states lie between two cuts."""
    every = max(1, STATES_AT_ONCE // len(libraries))
    some = sorted(key.tobytes() for library in libraries for key in library.keys[every::every].astype(">u8"))
    cuts = [[0] * len(libraries)]
    for cut in some[:: len(libraries)]:
        cuts.append([_states_before(library, cut) for library in libraries])
    cuts.append([library.states for library in libraries])
    for before, after in pairwise(cuts):
        yield list(zip(before, after, strict=True))


def _states_before(library: Library, cut: bytes) -> int:
    def name(state: int) -> bytes:
        return bytes(library.keys[state].astype(">u8").tobytes())

    return bisect_left(range(library.states), cut, key=name)


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

    origin = np.concatenate(
        [
            np.repeat(place[a:b], np.diff(one.starts[a : b + 1]))
            for one, place, (a, b) in zip(libraries, places, bounds, strict=True)
        ]
    )
    to = np.concatenate([place[one.to[part]] for one, place, part in zip(libraries, places, parts, strict=True)])
    move = joined("move")
    order = np.lexsort((to, move, origin))
    origin, move, to = origin[order], move[order], to[order]
    begins = _begins(origin, move, to)
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
    starts = _begins(group)
    rank = np.arange(len(group)) - np.repeat(starts, np.diff(starts, append=len(group)))
    first = rank < SAMPLES
    samples, at = (np.full((len(begins), SAMPLES), -1, np.int32) for _ in range(2))
    samples[group[first], rank[first]], at[group[first], rank[first]] = game[first], ply[first]
    return samples, at


def _begins(*columns: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Rows that differ from the row before in one of the columns, the first row included."""
    new = np.ones(len(columns[0]), np.bool_)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(new)

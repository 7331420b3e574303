"""Transposition table: what was found out about a position, under the whole 64-bit hash of it.

Flat arrays, in pairs of entries: the even one gives way to a search at least as deep, the odd one to anything. Entries
carry the number of the search that wrote them and are empty to every other, so that no search depends on earlier ones
and none has to clear the table.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.search.evaluator import WIN

EXACT, LOWER, UPPER = 0, 1, 2
"""What a stored value is: the value, a bound below it, or a bound above it."""
PROVEN = WIN - 500.0
"""Values beyond it, on either side, are games that end, counted from the root: ``WIN`` minus the plies to the end.

Positions that are settled but not over lie below it (`evaluator.settle`)."""


class Table(NamedTuple):
    """[E] each, E a power of two, or 0 for a search without a table."""

    keys: npt.NDArray[np.uint64]
    actions: npt.NDArray[np.int32]
    """Best action, or the one that refuted."""
    values: npt.NDArray[np.float32]
    """Seen from the side to move; plies to a win are counted from this position, not from the root."""
    generations: npt.NDArray[np.int32]
    """Number of the search that wrote the entry, from 1."""
    depths: npt.NDArray[np.int16]
    bounds: npt.NDArray[np.uint8]


ENTRY = np.dtype(list(zip(Table._fields, ("<u8", "<i4", "<f4", "<i4", "<i2", "u1"), strict=True)), align=True)
"""The columns lie side by side in memory, so that a probe waits for one line of it and not for six."""


def make_table(megabytes: float) -> Table:
    """An empty table of the largest power of two of entries that fit (at least 2); 0 megabytes give none."""
    entries = 0
    if megabytes > 0:
        entries = 2
        while entries * 2 * ENTRY.itemsize <= megabytes * 1e6:
            entries *= 2
    rows = np.empty(entries, ENTRY)
    rows.view(np.uint8).fill(0)  # now, so that the memory is there when a search needs it
    return Table(*(rows[name] for name in Table._fields))


@njit(cache=True)
def find(table: Table, key: Any, generation: int) -> int:
    """Index of the entry of a position, -1 if this search has none."""
    if table.keys.size == 0:
        return -1
    at = np.int64(key & np.uint64(table.keys.size - 1))
    for slot in (at, at ^ 1):
        if table.keys[slot] == key and table.generations[slot] == generation:
            return int(slot)
    return -1


@njit(cache=True)
def store(table: Table, key: Any, generation: int, depth: int, bound: int, value: float, action: int, ply: int) -> None:
    """Write what a search of ``depth`` plies at ``ply`` plies from the root has found."""
    if table.keys.size == 0:
        return
    even = np.int64(key & np.uint64(table.keys.size - 1)) & ~1
    slot = even + 1
    if table.keys[even] == key or table.generations[even] != generation or table.depths[even] <= depth:
        slot = even
    if table.keys[even + 1] == key and table.generations[even + 1] == generation:
        slot = even + 1  # never the same position twice
    if value > PROVEN:
        value += ply
    elif value < -PROVEN:
        value -= ply
    table.keys[slot] = key
    table.actions[slot] = action
    table.values[slot] = value
    table.generations[slot] = generation
    table.depths[slot] = depth
    table.bounds[slot] = bound


@njit(cache=True)
def value_at(table: Table, slot: int, ply: int) -> float:
    """Value of an entry for a position ``ply`` plies from the root."""
    value = float(table.values[slot])
    if value > PROVEN:
        return value - ply
    if value < -PROVEN:
        return value + ply
    return value

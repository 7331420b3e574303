"""Transposition table: results of searches by the full 64-bit hash of a position.

Entries come in pairs: a search that is at least as deep replaces the even one, any search replaces the odd one. An
entry has the number of the search that wrote it and counts as empty for all others, so that no search depends on
earlier ones, and the table is never cleared.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.search.evaluator import WIN

EXACT, LOWER, UPPER = 0, 1, 2
"""Kind of a stored value: exact, a lower bound, or an upper bound."""
PROVEN = WIN - 500.0
"""Larger absolute values are ends of games, counted from the root: ``WIN`` minus the plies to the end.

Positions that are settled but not over have smaller values (`evaluator.settle`)."""


class Table(NamedTuple):
    """[E] each, E a power of two, or 0 for a search without a table."""

    keys: npt.NDArray[np.uint64]
    actions: npt.NDArray[np.int32]
    """Best action, or the one that caused the cutoff."""
    values: npt.NDArray[np.float32]
    """Values of the side to move. Plies to a win are counted from this position, not from the root."""
    generations: npt.NDArray[np.int32]
    """Number of the search that wrote the entry, from 1."""
    depths: npt.NDArray[np.int16]
    bounds: npt.NDArray[np.uint8]


ENTRY = np.dtype(list(zip(Table._fields, ("<u8", "<i4", "<f4", "<i4", "<i2", "u1"), strict=True)), align=True)
"""The columns of an entry are adjacent in memory, so that a probe needs one cache line instead of six."""


def make_table(megabytes: float) -> Table:
    """Return an empty table with the largest power of two of entries that fit, at least 2; 0 megabytes give none."""
    entries = 0
    if megabytes > 0:
        entries = 2
        while entries * 2 * ENTRY.itemsize <= megabytes * 1e6:
            entries *= 2
    rows = np.empty(entries, ENTRY)
    rows.view(np.uint8).fill(0)  # touched now, so that the memory is there when a search needs it
    return Table(*(rows[name] for name in Table._fields))


@njit(cache=True)
def find(table: Table, key: Any, generation: int) -> int:
    """Return the index of a position's entry, -1 if this search has none."""
    if table.keys.size == 0:
        return -1
    at = np.int64(key & np.uint64(table.keys.size - 1))
    for slot in (at, at ^ 1):
        if table.keys[slot] == key and table.generations[slot] == generation:
            return int(slot)
    return -1


@njit(cache=True)
def store(table: Table, key: Any, generation: int, depth: int, bound: int, value: float, action: int, ply: int) -> None:
    """Write the result of a search of ``depth`` plies, at ``ply`` plies from the root."""
    if table.keys.size == 0:
        return
    even = np.int64(key & np.uint64(table.keys.size - 1)) & ~1
    slot = even + 1
    if table.keys[even] == key or table.generations[even] != generation or table.depths[even] <= depth:
        slot = even
    if table.keys[even + 1] == key and table.generations[even + 1] == generation:
        slot = even + 1  # each position once
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
    """Return the value of an entry for a position ``ply`` plies from the root."""
    value = float(table.values[slot])
    if value > PROVEN:
        return value - ply
    if value < -PROVEN:
        return value + ply
    return value

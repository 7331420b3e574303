"""Count clashes, encodings and patterns of the paper's joseki code for each reading that its text leaves open.

Run it on records of your own:

    python -m bench.strength.joseki_readings --games FOLDER_OR_TAR
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.strength.joseki import read
from pipeline_src.errors import run_main
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.joseki.canonical import canonical_keys
from pipeline_src.systems.joseki.corners import BOARD, CORNERS, PASS, SIDE
from pipeline_src.systems.joseki.pattern_code import count_clashes
from pipeline_src.systems.joseki.sequences import LONGEST, Steps, walk

Windows = npt.NDArray[np.int8]
Row = tuple[str, int, int, int, int, int, int]
_LINE = np.arange(1, SIDE + 1)
FIRST = np.zeros((SIDE, SIDE), np.int64)
FIRST[0] = FIRST[:, 0] = BOARD
"""Number that the neighbour code adds for each point: the base on the first line."""
NOTHING, TWICE, BORDERS = np.zeros_like(FIRST), FIRST.copy(), FIRST.copy()
TWICE[0, 0] += BOARD
BORDERS[-1] = BORDERS[:, -1] = BOARD


def main() -> None:
    """Print a table with a row for each reading."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, required=True, help="a folder or tar of SGF files")
    records, _ = read(parser.parse_args().games)
    print(
        "| reading | encodings | patterns | clashes | clashing patterns | equal stones: clashes | clashing patterns |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, *counts in table(records):
        print(f"| {name} | {' | '.join(f'{count:,}' for count in counts)} |")


def table(records: list[GameRecord]) -> Iterator[Row]:
    """Yield (reading, encodings, patterns, clashes, clashing patterns, and both of patterns with equal stones)."""
    steps = walk(records, 2 * LONGEST).steps
    moves, r, c = steps.point != PASS, steps.point // SIDE, steps.point % SIDE
    own = moves & ((r < SIDE - 1) | (steps.corner < 2)) & ((c < SIDE - 1) | (steps.corner % 2 == 0))
    inner = moves & (r < SIDE - 1) & (c < SIDE - 1)
    base = steps.after[_first(steps, moves, LONGEST)]
    yield "the product's: 20 local moves, captures made, first line adds 19 once", *count(base)
    for name, edge in (
        ("first line adds nothing", NOTHING),
        ("first line adds 19 for each border, 38 on the 1-1 point", TWICE),
        ("the tenth line adds 19 too", BORDERS),
    ):
        yield name, *count(base, edge)
    yield "code of no stones 0, not 1", *count(base, none=0)
    yield "four forms that differ in colour are two patterns", *count(base, recolour=False)
    empty = np.zeros((CORNERS * len(records), SIDE, SIDE), np.int8)
    yield "the empty corner encoded too", *count(np.concatenate([empty, base]))
    yield "21 local moves", *count(steps.after[_first(steps, moves, LONGEST + 1)])
    every = np.ones_like(moves)
    yield "a pass encoded too, not counted among the 20", *count(steps.after[_until(steps, moves, LONGEST)])
    yield "a pass counted among the 20, not encoded", *count(steps.after[_first(steps, every, LONGEST) & moves])
    passes = steps.after[_first(steps, every, LONGEST)]
    yield "a pass counted among the 20 and encoded", *count(passes)
    yield "a middle line belongs to one corner, its stones to both", *count(steps.after[_first(steps, own, LONGEST)])
    inside = steps.after[_first(steps, inner, LONGEST)].copy()
    inside[:, -1] = inside[:, :, -1] = 0
    yield "corners of 9x9, without the middle lines", *count(inside)
    yield "captured stones stay", *count(_uncaptured(steps, moves))
    yield "a pass counted and encoded, the empty corner too", *count(np.concatenate([empty, passes]))
    yield "corners of 9x9, the empty corner encoded too", *count(np.concatenate([empty, inside]))


def _order(steps: Steps, counted: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the number of counted steps in the corner of each step, itself included, int64 [E]."""
    numbers = np.empty(len(counted), np.int64)
    corner = steps.game.astype(np.int64) * CORNERS + steps.corner
    order = np.argsort(corner, kind="stable")
    sums = np.cumsum(counted[order])
    first = np.searchsorted(corner[order], corner[order])
    numbers[order] = sums - (sums[first] - counted[order][first])
    return numbers


def _first(steps: Steps, counted: npt.NDArray[np.bool_], longest: int) -> npt.NDArray[np.bool_]:
    return counted & (_order(steps, counted) <= longest)


def _until(steps: Steps, counted: npt.NDArray[np.bool_], longest: int) -> npt.NDArray[np.bool_]:
    """Return whether a step is before the end of the ``longest`` counted ones, or is a pass between them."""
    return _order(steps, counted) + ~counted <= longest


def _uncaptured(steps: Steps, moves: npt.NDArray[np.bool_]) -> Windows:
    """Return the windows of the first local moves, with all stones ever placed, the latest on each point."""
    windows, boards = [], dict[tuple[int, int], Windows]()
    for i in np.flatnonzero(_first(steps, moves, LONGEST)):
        board = boards.setdefault((int(steps.game[i]), int(steps.corner[i])), np.zeros((SIDE, SIDE), np.int8))
        board.flat[steps.point[i]] = steps.colour[i]
        windows.append(board.copy())
    return np.array(windows)


def count(
    windows: Windows, edge: npt.NDArray[np.int64] = FIRST, none: int = 1, recolour: bool = True
) -> tuple[int, int, int, int, int, int]:
    """Return the numbers of a row for encodings int8 [E, 10, 10]."""
    keys = canonical_keys(windows)
    if not recolour:  # the key of the black stones too: equal patterns of equal colours have both
        keys = np.hstack([keys, canonical_keys((windows == 1).astype(np.int8))])
    _, states = np.unique(keys, axis=0, return_inverse=True)
    states = states.ravel().astype(np.int32)
    codes = np.ones(len(windows), np.uint64)
    for stones in (windows == 1, windows == 2, windows > 0):
        codes *= colour_codes(stones, edge, none)
    clashes = count_clashes(codes, states)
    stones = np.sort(np.stack([(windows == colour).sum((1, 2)) for colour in (1, 2)], 1), 1)
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    equal = clashes.by_encoding & (stones == stones[first[which]]).all(1)
    _, begins = np.unique(states, return_index=True)
    of_equal = (int(equal.sum()), int(equal[begins].sum()))
    return len(windows), int(states.max()) + 1, clashes.encodings, clashes.patterns, *of_equal


def colour_codes(stones: npt.NDArray[np.bool_], edge: npt.NDArray[np.int64], none: int) -> npt.NDArray[np.uint64]:
    """Return K = A * B + C of sets of points bool [E, 10, 10], with ``edge`` added by A and ``none`` for no stones."""
    around = np.pad(stones, ((0, 0), (1, 1), (1, 1))).astype(np.int64)
    near = around[:, :-2, 1:-1] + around[:, 2:, 1:-1] + around[:, 1:-1, :-2] + around[:, 1:-1, 2:]
    a = np.where(stones, 1 + near + edge, 1).astype(np.uint64).prod((1, 2))
    deepest = [(stones * line).max(axis) for axis, line in ((2, _LINE), (1, _LINE[:, None]))]
    b = np.prod([np.where(one > 0, BOARD + one, 1).astype(np.uint64).prod(1) for one in deepest], axis=0)
    sides = []
    for one in deepest:
        held = one > 0
        sides.append(SIDE - held.argmax(1) - held[:, ::-1].argmax(1))
    c = (sides[0] * sides[1]).astype(np.uint64)
    return np.where(stones.any((1, 2)), a * b + c, np.uint64(none))


if __name__ == "__main__":
    run_main(main)

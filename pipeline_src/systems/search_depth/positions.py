"""Positions labelled with a search depth: arrays on disk, splits and input planes.

A data set is a folder of ``<field>.npy`` and ``manifest.json``; R rows by game and then by ply. Boards and ``n`` lie as
in `AmazonsState`: row 0 is rank 1, ``ravel()[s]`` is square s.

Input planes of the depth nets:

| inputs | planes |
| --- | --- |
| ``published`` | W_t * n, the paper's 10x10x1 |
| ``full`` | W_t * n and n, both / 8; the mover's amazons, the opponent's, arrows; W_t; log2(1 + expandable) / 12 |

Both are the same seen by either side, and turn with the board.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, written_aside
from pipeline_src.games.amazons import ARROW, COLOUR
from pipeline_src.learning.arrays import (
    MANIFEST,
    TEST,
    TRAIN,
    VALIDATION,
    ArrayFolder,
    assign_games,
    choose_samples,
    sha256_of,
)
from pipeline_src.learning.canonical import canonical_hashes

FOLDER = ArrayFolder("search depth positions", 1, ("positions", "size", "depths", "lowest", "highest"), "depth_label")
LABELS = ("reached", "needed")

FIELDS: dict[str, tuple[type[np.generic], int]] = {
    "n": (np.uint8, 2),
    "used": (np.float32, 0),
    "reached": (np.uint8, 0),
    "needed": (np.uint8, 0),
    "board": (np.int8, 2),
    "to_play": (np.int8, 0),
    "expandable": (np.int32, 0),
    "ply": (np.int16, 0),
    "game": (np.int32, 0),
    "nodes": (np.int64, 0),
    "nodes_by_depth": (np.int64, 1),
}  # Type of each array, and the axes of one row: 0 a number, 1 one a depth, 2 a board


@dataclass(frozen=True)
class DepthPositions:
    """Labelled positions on disk, memory-mapped and read-only."""

    n: npt.NDArray[np.uint8]
    """[R, H, W]: of each square, the layers at which a simulation through it came back; 0 where it is not empty."""
    used: npt.NDArray[np.float32]  # [R], share of its clock that the side to move had used: W_t = 1 - used
    reached: npt.NDArray[np.uint8]  # [R], layers that the search completed; within the classes
    needed: npt.NDArray[np.uint8]
    """[R], fewest layers whose turn is as good, by a deeper search, as that at ``reached``; within the classes."""
    board: npt.NDArray[np.int8]  # [R, H, W], 0 arrow, 1 empty, 2 Black, 3 White
    to_play: npt.NDArray[np.int8]  # [R], 0 White, 1 Black
    expandable: npt.NDArray[np.int32]  # [R], legal turns
    ply: npt.NDArray[np.int16]  # [R], turns played before
    game: npt.NDArray[np.int32]  # [R], which game
    nodes: npt.NDArray[np.int64]  # [R], nodes of the search
    nodes_by_depth: npt.NDArray[np.int64]
    """[R, D]: in column d - 1 the nodes when layer d was complete; 0 where it was not reached."""
    manifest: dict[str, Any]
    path: Path

    def __len__(self) -> int:
        return len(self.n)

    @property
    def classes(self) -> tuple[int, int]:
        """Lowest and highest label."""
        return self.manifest["lowest"], self.manifest["highest"]

    def label(self, name: str) -> npt.NDArray[np.uint8]:
        """One of `LABELS`, uint8 [R]."""
        return {"reached": self.reached, "needed": self.needed}[name]

    def planes(self, inputs: "Inputs", r: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Planes float32 [B, C, H, W] of rows [B], see `depth_planes`."""
        return depth_planes(inputs, self.n[r], self.used[r], self.board[r], self.to_play[r], self.expandable[r])


class Splits(NamedTuple):
    """Row numbers of each split, int64, ascending."""

    train: npt.NDArray[np.int64]
    validation: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]


def split_by_game(positions: DepthPositions, shares: tuple[float, float, float], seed: int) -> Splits:
    """Rows of train, validation and test: games are shared out whole, and no position is in two splits.

    A position that games of several splits came to, under any of the board's symmetries, stays in test, else in
    validation, and is in no other. ``shares`` are of the games, in any unit.

    Raises:
        ZugwerkError: too few games; names the data set.
    """
    games, which = np.unique(positions.game, return_inverse=True)
    try:
        splits = assign_games(games.astype(np.int64), shares, seed)[which]
    except ZugwerkError as error:
        raise ZugwerkError(f"{positions.path}: {error}; raise depth_label.games") from None
    movers = np.array(COLOUR, np.int8)[positions.to_play]
    try:
        hashes = canonical_hashes(np.ascontiguousarray(positions.board[:, ::-1]), movers)
    except ZugwerkError as error:
        raise FOLDER.damaged(positions.path / "board.npy", str(error)) from None
    stays = choose_samples(hashes, splits)
    return Splits(*(np.flatnonzero((splits == split) & stays) for split in (TRAIN, VALIDATION, TEST)))


def write_positions(path: Path | str, arrays: Mapping[str, npt.NDArray[Any]], manifest: Mapping[str, Any]) -> None:
    """Write a data set, aside and renamed; the same arrays give the same bytes.

    ``arrays`` are those of `FIELDS`, of its types, or of types that hold the same numbers; ``manifest`` has further
    entries, ``lowest`` and ``highest``, the classes, among them.

    Raises:
        ZugwerkError: an array is missing, of another length or shape, or holds a number that its type cannot; a label
            is outside the classes. Names the stage and the array.
    """
    if missing := [name for name in FIELDS if name not in arrays]:
        raise ZugwerkError(f"depth_label: {path}: no array {', '.join(missing)}")
    rows, size, depths = len(arrays["n"]), arrays["n"].shape[-1], arrays["nodes_by_depth"].shape[-1]
    typed = {}
    for name, (dtype, ndim) in FIELDS.items():
        found, shape = arrays[name], (rows, *((), (depths,), (size, size))[ndim])
        typed[name] = np.ascontiguousarray(found, np.dtype(dtype).newbyteorder("<"))
        held = found.dtype == dtype or dtype is np.float32 or np.array_equal(typed[name], found)
        if found.shape != shape or not held:
            raise ZugwerkError(f"depth_label: {path}/{name}.npy: {found.dtype} {found.shape} is no {dtype} {shape}")
    for label in LABELS:
        _check_classes(typed[label], Path(path) / f"{label}.npy", manifest["lowest"], manifest["highest"])
    with written_aside(path) as aside:
        aside.mkdir()
        for name, array in typed.items():
            np.save(aside / f"{name}.npy", array, allow_pickle=False)
        hashes = {f"{name}.npy": sha256_of(aside / f"{name}.npy") for name in typed}
        own = {"format": FOLDER.name, "version": FOLDER.version, "positions": rows, "size": size, "depths": depths}
        write_json(aside / MANIFEST, {**manifest, **own, "sha256": hashes})


def open_positions(path: Path | str) -> DepthPositions:
    """Map what `write_positions` wrote into memory. Raises ZugwerkError: none there, or damaged; names the file."""
    folder = Path(path)
    manifest = FOLDER.read_manifest(folder)
    rows, size, depths = manifest["positions"], manifest["size"], manifest["depths"]
    arrays = {
        name: FOLDER.map_array(folder / f"{name}.npy", dtype, (rows, *((), (depths,), (size, size))[ndim]))
        for name, (dtype, ndim) in FIELDS.items()
    }
    for label in LABELS:
        _check_classes(arrays[label], folder / f"{label}.npy", manifest["lowest"], manifest["highest"])
    if len(sides := arrays["to_play"]) and not 0 <= sides.min() <= sides.max() <= 1:
        raise FOLDER.damaged(folder / "to_play.npy", f"sides are 0 and 1, not {sides.min()} to {sides.max()}")
    return DepthPositions(**arrays, manifest=manifest, path=folder)


def _check_classes(labels: npt.NDArray[np.uint8], path: Path, lowest: int, highest: int) -> None:
    wrong = np.flatnonzero((labels < lowest) | (labels > highest))
    if len(wrong):
        raise ZugwerkError(
            f"{path}: row {wrong[0]} has label {labels[wrong[0]]}, outside the classes {lowest} to {highest} "
            f"({len(wrong)} such rows); make it again with `dvc repro -f depth_label`"
        )


Inputs = Literal["published", "full"]
PLANES: dict[Inputs, int] = {"published": 1, "full": 7}  # Planes C of each kind of input
LAYERS, LOG_TURNS = 8.0, 12.0  # Divisors that bring n and the logarithm of the number of turns to about 1


def depth_planes(
    inputs: Inputs,
    n: npt.NDArray[np.uint8],
    used: npt.NDArray[np.float32],
    board: npt.NDArray[np.int8],
    to_play: npt.NDArray[np.int8],
    expandable: npt.NDArray[np.int32],
) -> npt.NDArray[np.float32]:
    """Planes float32 [B, C, H, W] of B positions, given as rows of `DepthPositions`."""
    left = (1 - used.astype(np.float32))[:, None, None]
    weighed = n * left
    if inputs == "published":
        return weighed[:, None]
    planes = np.empty((len(n), PLANES[inputs], *n.shape[1:]), np.float32)
    own = np.array(COLOUR, np.int8)[to_play][:, None, None]
    planes[:, 0] = weighed / LAYERS
    planes[:, 1] = n / np.float32(LAYERS)
    planes[:, 2] = board == own
    planes[:, 3] = board == sum(COLOUR) - own
    planes[:, 4] = board == ARROW
    planes[:, 5] = left
    planes[:, 6] = (np.log2(1 + expandable.astype(np.float32)) / np.float32(LOG_TURNS))[:, None, None]
    return planes

"""The joseki library, a finite-state machine: corner patterns are states, moves played in them are transitions.

Frozen: sorted by key, and by move behind each state, so that the same games give the same arrays in any order and
by any mergers. `build` makes and merges libraries.

A library's file: ``zugwerk joseki library 3``, a line feed, the SHA-256 of all that follows (32 bytes), then compressed
(zlib): the length of a header (uint32), the header (JSON: the fewest games of a move, the moves of a
corner, each array's name, type and shape), the arrays, little-endian.
"""

import hashlib
import json
import math
import struct
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.records.record import SOURCES
from pipeline_src.systems.joseki.code import MOVES, WORDS
from pipeline_src.systems.joseki.corners import LONGEST, POINTS
from pipeline_src.systems.joseki.tables import SAMPLES, fill_slots

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Library:
    """S states, T transitions, G games. Arrays not to be changed."""

    keys: npt.NDArray[np.uint64]  # [S, 4], ascending
    seen: Ints  # [S]: how often a local move led to the pattern
    starts: Ints  # [S + 1]: a state's transitions are those from `starts[s]` to before `starts[s + 1]`
    move: npt.NDArray[np.int16]
    """[T]: in the canonical frame, colour * 101 + point, ascending in a state; point 100 is a pass."""
    to: Ints  # [T]: state that it leads to
    played: Ints  # [T]: how often it was played
    games: Ints  # [T]: in how many games
    wins: Ints  # [T]: how often its player won the game
    losses: Ints  # [T]: how often they lost it; drawn games and unknown results count as neither
    samples: Ints  # [T, 3]: games it was played in, as indices of `fingerprints`, -1 where there are fewer
    plies: npt.NDArray[np.int16]  # [T, 3]: where in them
    fingerprints: npt.NDArray[np.uint64]  # [G], ascending: which games were counted; none is counted twice
    gids: npt.NDArray[np.int64]  # [G]: their numbers where they came from
    sources: npt.NDArray[np.int8]  # [G]: where that is, as an index of `SOURCES`
    fewest_games: int = 1  # Transitions of fewer games were dropped; 1 if none were
    moves: int = LONGEST  # Local moves of each corner that were counted, at most

    @cached_property
    def slots(self) -> Ints:
        """[2^k]: hash table over the keys."""
        slots = np.full(1 << max(10, (2 * self.states - 1).bit_length()), -1, np.int32)
        fill_slots(slots, self.keys, self.states)
        return slots

    @property
    def states(self) -> int:
        """Number of patterns."""
        return len(self.keys)

    @property
    def transitions(self) -> int:
        """Number of moves between patterns."""
        return len(self.move)

    def games_by_source(self) -> dict[str, int]:
        """Number of games from each of `SOURCES`; those of ``engine`` are made by `made`, not played."""
        return dict(zip(SOURCES, np.bincount(self.sources, minlength=len(SOURCES)).tolist(), strict=True))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays of a file, by name."""
        return {name: getattr(self, name) for name in SHAPES}

    def origins(self) -> Ints:
        """State that each transition leaves, int32 [T]."""
        return np.repeat(np.arange(self.states, dtype=np.int32), np.diff(self.starts))


SHAPES: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "keys": ("u8", "S", (WORDS,)),
    "seen": ("i4", "S", ()),
    "starts": ("i4", "S+1", ()),
    "move": ("i2", "T", ()),
    "to": ("i4", "T", ()),
    "played": ("i4", "T", ()),
    "games": ("i4", "T", ()),
    "wins": ("i4", "T", ()),
    "losses": ("i4", "T", ()),
    "samples": ("i4", "T", (SAMPLES,)),
    "plies": ("i2", "T", (SAMPLES,)),
    "fingerprints": ("u8", "G", ()),
    "gids": ("i8", "G", ()),
    "sources": ("i1", "G", ()),
}
"""Type, length and further axes of each array."""


def key_names(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bytes_]:
    """Keys [S, 4] as strings of 32 bytes [S], in the same order."""
    return keys.astype(">u8").view("S32")[:, 0]


def check(library: Library) -> None:
    """Test what kernels rely on.

    Raises:
        ZugwerkError: names the contradiction.
    """
    lengths = {"S": library.states, "S+1": library.states + 1, "T": library.transitions, "G": len(library.fingerprints)}
    for name, (kind, length, rest) in SHAPES.items():
        array = getattr(library, name)
        if array.dtype != np.dtype(kind) or array.shape != (lengths[length], *rest):
            raise ZugwerkError(f"array {name!r} has the wrong type or shape: {array.dtype} {array.shape}")
    if not 1 <= library.moves <= np.iinfo(np.int8).max:
        raise ZugwerkError(f"{library.moves} moves of a corner")
    s, t, g = library.states, library.transitions, lengths["G"]
    names = key_names(library.keys)
    if twice := int((names[1:] == names[:-1]).sum()):
        raise ZugwerkError(f"{twice} patterns have two states each")
    black, white = library.keys[:, :2], library.keys[:, 2:]
    sound = {
        "keys": not (black & white).any()
        and int(library.keys.max(initial=0)) < 1 << (POINTS // 2)
        and bool((names[1:] > names[:-1]).all()),
        "starts": library.starts[0] == 0 and library.starts[-1] == t and bool((np.diff(library.starts) >= 0).all()),
        "move": within(library.move, 0, MOVES),
        "to": within(library.to, 0, s),
        "samples": within(library.samples, -1, g),
        "sources": within(library.sources, 0, len(SOURCES)),
        "fingerprints": bool((library.fingerprints[1:] > library.fingerprints[:-1]).all()),
    }
    for name, is_sound in sound.items():
        if not is_sound:
            raise ZugwerkError(f"array {name!r} has entries out of range")


def within(array: npt.NDArray[np.signedinteger], low: int, end: int) -> bool:
    """Whether all entries are from ``low`` to before ``end``."""
    return not array.size or bool(int(array.min()) >= low and int(array.max()) < end)


def prune(library: Library, fewest_games: int) -> Library:
    """The library without transitions of fewer games, nor the patterns that only they touched.

    One player's error must not become a joseki. What is dropped is lost: no games can be added afterwards.

    Raises:
        ZugwerkError: it was pruned harder already.
    """
    if fewest_games < library.fewest_games:
        raise ZugwerkError(f"already without moves of fewer than {library.fewest_games} games; build it again")
    kept = np.flatnonzero(library.games >= fewest_games)
    origins, to = np.searchsorted(library.starts, kept, "right") - 1, library.to[kept]
    used = np.zeros(library.states, bool)
    used[origins] = used[to] = True
    states = np.flatnonzero(used)
    arrays = {name: array[kept] if SHAPES[name][1] == "T" else array for name, array in library.arrays().items()}
    arrays |= {
        "keys": library.keys[states],
        "seen": library.seen[states],
        "starts": np.searchsorted(origins, np.append(states, library.states)).astype(np.int32),
        "to": np.searchsorted(states, to).astype(np.int32),
    }
    return Library(**arrays, fewest_games=fewest_games, moves=library.moves)


VERSION = 3
PIECE = 1 << 20  # Bytes compressed at a time
_NAME = b"zugwerk joseki library "


def save(library: Library, path: Path | str) -> None:
    """Write aside and rename; equal libraries give equal bytes."""
    arrays = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in library.arrays().items()}
    about = {
        "fewest_games": library.fewest_games,
        "moves": library.moves,
        "arrays": [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()],
    }
    header, packer, digest = json.dumps(about).encode(), zlib.compressobj(6), hashlib.sha256()
    parts: list[Any] = [
        struct.pack("<I", len(header)),
        header,
        *(np.ascontiguousarray(a).reshape(-1).view("u1") for a in arrays.values()),
    ]
    with written_aside(path) as aside, open(aside, "wb") as file:
        file.write(_NAME + b"%d\n" % VERSION)
        place = file.tell()
        file.write(digest.digest())

        def put(packed: bytes) -> None:
            digest.update(packed)
            file.write(packed)

        for part in parts:
            for at in range(0, len(part), PIECE):
                put(packer.compress(part[at : at + PIECE]))
        put(packer.flush())
        file.seek(place)
        file.write(digest.digest())


def load(path: Path | str) -> Library:
    """Read a library.

    Raises:
        ZugwerkError: no such file, no library, one of another version, a damaged one, or one that cannot be sound.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file; `dvc repro joseki_build` makes the project's library") from None
    name, newline, rest = data.partition(b"\n")
    if not newline or not name.startswith(_NAME):
        raise ZugwerkError(f"{path}: not a joseki library")
    if name != _NAME + b"%d" % VERSION:
        version = ascii(name[len(_NAME) :][:20].decode("latin-1"))
        raise ZugwerkError(f"{path}: a library of version {version}, this program reads {VERSION}; build it again")
    if hashlib.sha256(rest[32:]).digest() != rest[:32]:
        raise ZugwerkError(f"{path}: damaged, its checksum does not fit; build it again or take another copy")
    try:
        library = _unpacked(zlib.decompress(rest[32:]))
        check(library)
    except (zlib.error, struct.error, ValueError, KeyError, TypeError, IndexError) as error:
        raise ZugwerkError(f"{path}: an inconsistent library ({error}); build it again") from None
    return library


def _unpacked(data: bytes) -> Library:
    (length,) = struct.unpack_from("<I", data)
    at = 4 + length
    about = json.loads(data[4:at])
    arrays = {}
    for name, kind, shape in about["arrays"]:
        wanted, _, _ = SHAPES[name]
        if np.dtype(kind) != np.dtype(wanted).newbyteorder("<"):
            raise ValueError(f"array {name!r} is of type {kind}")
        count = math.prod(shape)
        values = np.frombuffer(data, kind, count, at).reshape(shape)
        arrays[name] = values.astype(np.dtype(wanted))
        at += values.nbytes
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes too many")
    return Library(**arrays, fewest_games=int(about["fewest_games"]), moves=int(about["moves"]))

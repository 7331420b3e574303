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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.jit import njit
from pipeline_src.records.record import SOURCES
from pipeline_src.systems.joseki.patterns import (
    LONGEST,
    MOVES,
    PASS,
    POINTS,
    WORDS,
    Key,
    Steps,
    canonical,
    canonical_move,
    mix,
)

Ints = npt.NDArray[np.int32]
SAMPLES = 3
"""Games kept with a transition: those with the smallest fingerprints, so that it does not matter who came first."""


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
        slots = empty_slots(self.states)
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
}  # Type, length and further axes of each array


def key_names(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bytes_]:
    """Keys [S, 4] as strings of 32 bytes [S], in the same order."""
    return keys.astype(">u8").view("S32")[:, 0]


def group_begins(*columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Rows that differ from the row before in one of the columns, the first row included."""
    new = np.ones(len(columns[0]), np.bool_)
    new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return np.flatnonzero(new)


def check(library: Library) -> None:
    """Test what kernels rely on. Raises ZugwerkError: names the contradiction."""
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
    if wrong := [name for name, is_sound in sound.items() if not is_sound]:
        raise ZugwerkError(f"array {wrong[0]!r} has entries out of range")


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
    bare = (np.ascontiguousarray(array).reshape(-1).view("u1") for array in arrays.values())
    parts: list[Any] = [struct.pack("<I", len(header)), header, *bare]
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
    """Read a library. Raises ZugwerkError: no such file, no library, of another version, damaged, or not sound."""
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


# The library while it is built: states in a hash table of whole keys, transitions in a chain behind each state.
#
# Flat arrays that kernels change in place; `grown` makes room before they do. Two patterns can meet in one slot of the
# table, never in one state: keys are compared whole.


NO_GAME = np.uint64(0xFFFFFFFFFFFFFFFF)
STATES, TRANSITIONS = 0, 1  # Entries of `used`


class Tables(NamedTuple):
    """Room for S states and T transitions."""

    used: npt.NDArray[np.int64]  # [2]: states and transitions there are
    slots: Ints  # [2^k], at least 2 S: state of a slot, -1 where it is free
    keys: npt.NDArray[np.uint64]  # [S, 4]
    seen: Ints  # [S]: how often a local move led to the pattern
    first: npt.NDArray[np.int64]  # [S]: which local move, of all that were counted, led to it first, -1 if none did
    head: Ints  # [S]: the state's first transition, -1 if it has none
    following: Ints  # [T]: the next transition of the same state, -1 at the end
    move: npt.NDArray[np.int16]  # [T]: in the canonical frame, see `canonical_move`
    to: Ints  # [T]: state that it leads to
    played: Ints  # [T]: how often it was played
    games: Ints  # [T]: in how many games
    wins: Ints  # [T]: how often its player won the game
    losses: Ints  # [T]: number of these games that the player lost. Draws and games without a result count as neither.
    last: Ints  # [T]: the game counted last, -1 if none of those being added
    samples: npt.NDArray[np.uint64]  # [T, 3]: fingerprints of games, ascending, NO_GAME where there are fewer
    plies: npt.NDArray[np.int16]  # [T, 3]: where in them


def empty_tables(states: int = 1024, transitions: int = 1024) -> Tables:
    """Return empty tables with room for these numbers of states and transitions."""
    ints = np.zeros((7, transitions), np.int32)
    return Tables(
        used=np.zeros(2, np.int64),
        slots=empty_slots(states),
        keys=np.zeros((states, WORDS), np.uint64),
        seen=np.zeros(states, np.int32),
        first=np.full(states, -1, np.int64),
        head=np.zeros(states, np.int32),
        move=np.zeros(transitions, np.int16),
        **dict(zip(("following", "to", "played", "games", "wins", "losses", "last"), ints, strict=True)),
        samples=np.full((transitions, SAMPLES), NO_GAME, np.uint64),
        plies=np.full((transitions, SAMPLES), -1, np.int16),
    )


def empty_slots(states: int) -> Ints:
    """Return a hash table, int32 [2^k], at most half full with so many keys."""
    return np.full(1 << max(10, (2 * states - 1).bit_length()), -1, np.int32)


def grown(tables: Tables, states: int, transitions: int) -> Tables:
    """Return tables with room for these numbers of further states and transitions, the same tables if possible."""
    need = (int(tables.used[STATES]) + states, int(tables.used[TRANSITIONS]) + transitions)
    room = (len(tables.keys), len(tables.move))
    if need[0] <= room[0] and need[1] <= room[1]:
        return tables
    bigger = empty_tables(*(max(new, 2 * old) if new > old else old for new, old in zip(need, room, strict=True)))
    for name in Tables._fields:
        if name != "slots":
            old, new = getattr(tables, name), getattr(bigger, name)
            new[: len(old)] = old
    fill_slots(bigger.slots, bigger.keys, int(bigger.used[STATES]))
    return bigger


@njit(cache=True)
def key_slot(slots: Ints, keys: npt.NDArray[np.uint64], key: Key) -> int:
    """The slot of a key: that of the state which has it, or the free one where it belongs."""
    hashed = mix(key[0] ^ mix(key[1] ^ mix(key[2] ^ mix(key[3] + np.uint64(1)))))
    mask = slots.size - 1
    slot = np.int64(hashed & np.uint64(mask))
    while slots[slot] >= 0:
        other = keys[slots[slot]]
        if other[0] == key[0] and other[1] == key[1] and other[2] == key[2] and other[3] == key[3]:
            break
        slot = (slot + 1) & mask
    return int(slot)


@njit(cache=True)
def fill_slots(slots: Ints, keys: npt.NDArray[np.uint64], states: int) -> int:
    """Put the first ``states`` keys into free slots; return how many had been there before, and were left out."""
    twice = 0
    for state in range(states):
        slot = key_slot(slots, keys, keys[state])
        if slots[slot] < 0:
            slots[slot] = state
        else:
            twice += 1
    return twice


@njit(cache=True, allocates=True)
def state_of(tables: Tables, key: Key) -> int:
    """State of a key, a new one if there was none."""
    slot = key_slot(tables.slots, tables.keys, key)
    if tables.slots[slot] < 0:
        state = tables.used[STATES]
        tables.used[STATES] += 1
        tables.keys[state] = key
        tables.head[state] = -1
        tables.slots[slot] = state
    return int(tables.slots[slot])


@njit(cache=True)
def transition_of(tables: Tables, state: int, move: int, to: int) -> int:
    """Transition of a state by a move that leads to ``to``, a new one if there was none.

    The state it leads to is part of its name: the captures of a move may depend on stones outside the corner.
    """
    at = tables.head[state]
    while at >= 0:
        if tables.move[at] == move and tables.to[at] == to:
            return int(at)
        at = tables.following[at]
    at = tables.used[TRANSITIONS]
    tables.used[TRANSITIONS] += 1
    tables.move[at], tables.to[at], tables.last[at] = move, to, -1
    tables.following[at] = tables.head[state]
    tables.head[state] = at
    return int(at)


@njit(cache=True)
def add_sample(tables: Tables, at: int, game: np.uint64, ply: int) -> None:
    """Keep a game with a transition if its fingerprint is among the smallest."""
    samples, plies = tables.samples[at], tables.plies[at]
    place = 0
    while place < SAMPLES and samples[place] < game:
        place += 1
    if place == SAMPLES:
        return
    if samples[place] == game:
        if game != NO_GAME:
            plies[place] = min(plies[place], ply)
        return
    for i in range(SAMPLES - 1, place, -1):
        samples[i], plies[i] = samples[i - 1], plies[i - 1]
    samples[place], plies[place] = game, ply


@njit(cache=True, allocates=True)
def count_steps(
    tables: Tables,  # with room for 2 E more states and E more transitions
    steps: Steps,  # E of them, by game
    games: npt.NDArray[np.uint64],  # [G], fingerprints of the steps' games
    winners: npt.NDArray[np.int8],  # [G], BLACK, WHITE, or 0 where there is none
    counted: int,  # local moves counted before
    states: Ints,  # [E], written: the state that each step led to
) -> int:
    """Add steps to the tables; return the number of local moves counted so far."""
    words, key = np.empty((2, 2, 2), np.uint64), np.empty(WORDS, np.uint64)
    for step in range(steps.game.size):
        game, colour = steps.game[step], steps.colour[step]
        forms = canonical(steps.before[step], key, words)
        state = state_of(tables, key)
        move = canonical_move(steps.point[step], colour, forms)
        to = state
        if steps.point[step] != PASS:
            canonical(steps.after[step], key, words)
            to = state_of(tables, key)
            if tables.first[to] < 0:
                tables.first[to] = counted
            counted += 1
            tables.seen[to] += 1
        states[step] = to
        at = transition_of(tables, state, move, to)
        tables.played[at] += 1
        if tables.last[at] != game:
            tables.last[at] = game
            tables.games[at] += 1
        if winners[game] == colour:
            tables.wins[at] += 1
        elif winners[game]:
            tables.losses[at] += 1
        add_sample(tables, at, games[game], steps.ply[step])
    return counted


@njit(cache=True)
def forget_games(tables: Tables) -> None:
    """Reset the indices of games, before games with new indices are added."""
    tables.last[: tables.used[TRANSITIONS]] = -1

"""The library while it is built: states in a hash table of whole keys, transitions in a chain behind each state.

Flat arrays that kernels change in place; `grown` makes room before they do. Two patterns can meet in one slot of the
table, never in one state: keys are compared whole.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit
from pipeline_src.systems.joseki.code import WORDS, Key, canonical, canonical_move, mix
from pipeline_src.systems.joseki.corners import PASS, Steps

SAMPLES = 3
"""Games kept with a transition: those with the smallest fingerprints, so that it does not matter who came first."""
NO_GAME = np.uint64(0xFFFFFFFFFFFFFFFF)
STATES, TRANSITIONS = 0, 1  # Entries of `used`

Ints = npt.NDArray[np.int32]


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

    def ints(count: int) -> Ints:
        return np.zeros(count, np.int32)

    return Tables(
        used=np.zeros(2, np.int64),
        slots=np.full(_slots(states), -1, np.int32),
        keys=np.zeros((states, WORDS), np.uint64),
        seen=ints(states),
        first=np.full(states, -1, np.int64),
        head=ints(states),
        following=ints(transitions),
        move=np.zeros(transitions, np.int16),
        to=ints(transitions),
        played=ints(transitions),
        games=ints(transitions),
        wins=ints(transitions),
        losses=ints(transitions),
        last=ints(transitions),
        samples=np.full((transitions, SAMPLES), NO_GAME, np.uint64),
        plies=np.full((transitions, SAMPLES), -1, np.int16),
    )


def _slots(states: int) -> int:
    return 1 << max(10, (2 * states - 1).bit_length())


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
    tables: Tables,
    steps: Steps,
    games: npt.NDArray[np.uint64],
    winners: npt.NDArray[np.int8],
    counted: int,
    states: Ints,
) -> int:
    """Add steps to the tables; return the number of local moves counted so far.

    Args:
        tables: with room for 2 E more states and E more transitions.
        steps: E of them, by game.
        games: uint64 [G], fingerprints of the steps' games.
        winners: int8 [G], BLACK, WHITE, or 0 where there is none.
        counted: number of local moves counted before.
        states: int32 [E], written: the state that each step led to.
    """
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

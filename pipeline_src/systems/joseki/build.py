"""Build a library from games, add games to one, merge two; and what each code makes of the patterns on the way.

The order of games changes nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import SOURCES, GameRecord
from pipeline_src.systems.joseki.corners import BLACK, CORNERS, EMPTY, PASS, WHITE
from pipeline_src.systems.joseki.library import Library, prune
from pipeline_src.systems.joseki.pattern_code import (
    Comparison,
    count_clashes,
    earlier_codes,
    pattern_codes,
    symmetric_codes,
)
from pipeline_src.systems.joseki.sequences import CHUNK, LONGEST, Steps, chunks, fingerprint, walk
from pipeline_src.systems.joseki.tables import (
    NO_GAME,
    SAMPLES,
    STATES,
    TRANSITIONS,
    Tables,
    add_sample,
    count_steps,
    empty_tables,
    forget_games,
    grown,
    state_of,
    transition_of,
)

WINNING_COLOUR = {"first": BLACK, "second": WHITE, "draw": EMPTY, None: EMPTY}
"""By a record's winner: in Go ``first`` is Black, also where White begins against handicap stones."""
COUNTS = ("played", "games", "wins", "losses")
"""Counts of each transition."""


@dataclass
class Added:
    """Counts of games that were added or left out."""

    games: int = 0
    """Number of games counted."""
    repeats: int = 0
    """Number of games left out because a game with the same moves was counted before."""
    illegal: list[tuple[int, int]] = field(default_factory=list)
    """(gid, ply) of games that were left out for an illegal move."""


class Chunk(NamedTuple):
    """Some games just added."""

    steps: Steps
    states: npt.NDArray[np.int32]
    """[E]: the builder's number of the state that each step led to."""


class Builder:
    """A library that grows."""

    def __init__(self, library: Library | None = None, longest: int = LONGEST) -> None:
        """Start empty, or with a library as it is.

        Raises:
            ZugwerkError: it was pruned, so that its counts are not whole.
        """
        self.longest = longest
        self.added = Added()
        self._tables = empty_tables()
        self._games: dict[int, tuple[int, int]] = {}
        """Number and source of each game, by its fingerprint."""
        if library is not None:
            self.absorb(library)

    @property
    def states(self) -> int:
        """Patterns so far."""
        return int(self._tables.used[STATES])

    @property
    def transitions(self) -> int:
        """Moves between them so far."""
        return int(self._tables.used[TRANSITIONS])

    def add(self, records: Iterable[GameRecord]) -> Added:
        """Count games; those counted before and those with an illegal move are left out. Returns all added so far.

        Raises:
            ZugwerkError: a record of another game or size.
        """
        for _ in self.add_by_chunks(records):
            pass
        return self.added

    def add_by_chunks(self, records: Iterable[GameRecord], size: int = CHUNK) -> Iterable[Chunk]:
        """Add games as `add` does, and yield the result after every ``size`` games."""
        for chunk in chunks(records, size):
            new: dict[int, GameRecord] = {}
            for record in chunk:
                name = fingerprint(record)
                if name in self._games or name in new:
                    self.added.repeats += 1
                else:
                    new[name] = record
            yield self._add(new)

    def _add(self, games: dict[int, GameRecord]) -> Chunk:
        records = list(games.values())
        walked = walk(records, self.longest)
        count = len(walked.steps.game)
        self._tables = grown(self._tables, count + CORNERS * len(records), count)
        winners = np.array([WINNING_COLOUR[record.winner] for record in records], np.int8)
        states = np.empty(count, np.int32)
        forget_games(self._tables)
        count_steps(self._tables, walked.steps, np.array(list(games), np.uint64), winners, states)
        refused = dict(walked.illegal)
        self.added.illegal += [(records[index].gid, ply) for index, ply in walked.illegal]
        counted = {name: record for i, (name, record) in enumerate(games.items()) if i not in refused}
        self._games |= {name: (record.gid, SOURCES.index(record.source)) for name, record in counted.items()}
        self.added.games += len(records) - len(refused)
        return Chunk(walked.steps, states)

    def absorb(self, library: Library) -> None:
        """Add what another library counted.

        Raises:
            ZugwerkError: it was pruned, or a game was counted on both sides, so that sums would be wrong.
        """
        if library.fewest_games > 1:
            raise ZugwerkError(
                f"a library without moves of fewer than {library.fewest_games} games cannot be added to or merged; "
                "use the whole library"
            )
        theirs = library.fingerprints.tolist()
        shared = sum(name in self._games for name in theirs)
        if shared:
            raise ZugwerkError(f"{shared} games are in both libraries and would count twice; add the other games anew")
        origins = zip(library.gids.tolist(), library.sources.tolist(), strict=True)
        self._games |= dict(zip(theirs, origins, strict=True))
        self._tables = grown(self._tables, library.states, library.transitions)
        _absorb(self._tables, library)

    def library(self, fewest_games: int = 1) -> Library:
        """Return the library with all transitions, or with those of at least ``fewest_games`` games."""
        return prune(_frozen(self._tables, self._games), fewest_games)


def merge(first: Library, second: Library) -> Library:
    """The library of both libraries' games.

    Raises:
        ZugwerkError: one was pruned, or they share games.
    """
    builder = Builder(first)
    builder.absorb(second)
    return builder.library()


def _absorb(tables: Tables, library: Library) -> None:
    states = [state_of(tables, key) for key in library.keys]
    tables.seen[states] += library.seen
    names = np.append(library.fingerprints, NO_GAME)[library.samples]
    origins = library.origins()
    for i in range(library.transitions):
        at = transition_of(tables, states[origins[i]], int(library.move[i]), states[library.to[i]])
        for name in COUNTS:
            getattr(tables, name)[at] += getattr(library, name)[i]
        for j in range(SAMPLES):
            add_sample(tables, at, names[i, j], library.plies[i, j])


def _frozen(tables: Tables, games: dict[int, tuple[int, int]]) -> Library:
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
    return Library(
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
    )


CODES = ("paper", "ours", "zobrist", "gu")
Row = dict[str, str | float]


def tally(builder: Builder, records: list[GameRecord], points: int) -> tuple[dict[str, Any], list[Row]]:
    """Add games to a builder.

    Args:
        builder: an empty one.
        records: the games, at least one.
        points: rows of the growth, at most.

    Returns:
        Counts, and rows of their growth. ``encodings`` are patterns after local moves, ``passes`` moves elsewhere;
        ``clashes`` and ``clashes_ours`` encodings whose code was first another pattern's, ``clashing_patterns`` the
        patterns among them; ``clashes_unresolved`` encodings whose exact key was another pattern's; ``names_zobrist``
        and ``names_gu`` the codes that earlier methods have for the same ``patterns``.
    """
    codes: dict[str, list[Any]] = {name: [] for name in CODES}
    states, sizes, comparison, passes = [], [], Comparison(), 0
    for chunk in builder.add_by_chunks(records, -(-len(records) // points)):
        played = chunk.steps.point != PASS
        windows, after = chunk.steps.after[played], chunk.states[played]
        zobrist, gu = earlier_codes(chunk.steps)
        found = (pattern_codes(windows), symmetric_codes(windows), zobrist[played], gu[played])
        for name, values in zip(CODES, found, strict=True):
            codes[name].append(values)
        states.append(after)
        comparison.add(windows, after)
        passes += int((~played).sum())
        sizes.append((builder.added.games, int(played.sum()), builder.states, builder.transitions))
    joined = {name: np.concatenate(values) for name, values in codes.items()}
    exact = np.concatenate(states)
    paper, ours = count_clashes(joined["paper"], exact), count_clashes(joined["ours"], exact)
    ends = np.cumsum([size[1] for size in sizes])
    growth: list[Row] = [
        {
            "games": games,
            "encodings": int(end),
            "patterns": patterns,
            "transitions": transitions,
            "clashes": int(paper.by_encoding[:end].sum()),
            "clashes_ours": int(ours.by_encoding[:end].sum()),
        }
        for (games, _, patterns, transitions), end in zip(sizes, ends, strict=True)
    ]
    metrics = {
        "games": builder.added.games,
        "repeats": builder.added.repeats,
        "illegal": len(builder.added.illegal),
        "encodings": len(exact),
        "patterns": len(np.unique(exact)),
        "transitions": builder.transitions,
        "passes": passes,
        "clashes": paper.encodings,
        "clashing_patterns": paper.patterns,
        "clashes_ours": ours.encodings,
        "clashes_unresolved": comparison.unresolved,
        "names_zobrist": len(np.unique(joined["zobrist"])),
        "names_gu": len(np.unique(joined["gu"])),
    }
    return metrics, growth

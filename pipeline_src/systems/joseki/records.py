"""The games of the joseki library: synthetic ones of textbook joseki, SGF files, or crawled ones."""

import dataclasses
import hashlib
import itertools
import math
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sgfmill import sgf_grammar

from pipeline_src import streams
from pipeline_src.arena.journal import Journal, each_kept, stage_journal
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.go import SIDE, GoState, initial_state, legal
from pipeline_src.games.kernels import play
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.records.go_games import parse_sgf, read_go
from pipeline_src.records.raw import list_shards, read_raw
from pipeline_src.records.record import REASONS, SOURCES, GameRecord, Reason, Reject, Source, Winner, sort_results
from pipeline_src.records.sgf import SgfGame, read_files
from pipeline_src.systems.joseki.params import JosekiRecordsParams, MadeGames

GAMES = Path("artifacts/records/joseki/games.parquet")
REJECTS = Path("artifacts/records/joseki/rejects.parquet")
REPORT = Path("artifacts/reports/joseki/records.json")
PAGES = Path("artifacts/raw/joseki/pages")
WORK = Path("work/joseki_records")
FILES_AT_ONCE = 10_000  # Files of a folder or tar that are in memory

Results = list[SgfGame | Reject]


def main() -> None:
    """Stage joseki_records: collect the games for the joseki library, with a file of rejects and their reasons.

    By ``joseki_records.source`` they are made of textbook joseki, read from a folder or tar of SGF files, or those
    that `crawl` fetched from LittleGolem. Writes ``games.parquet`` and ``rejects.parquet`` under
    ``artifacts/records/joseki/`` and the counts ``artifacts/reports/joseki/records.json``. Killed and run again, it
    makes or reads only the missing games: finished ones are kept under ``work/``.
    """
    params, seed = load(JosekiRecordsParams, "joseki_records"), load_value(int, "seed")
    identity = {"made": params.made.model_dump(), "seed": seed}
    counts = GameCounts()
    with stage_journal(WORK, __name__, identity) as journal:

        def results() -> Iterator[SgfGame | Reject]:
            for found in _results(params, seed, journal):
                result = _long_enough(found, params.min_plies)
                counts.add(result)
                yield result

        sort_results(results(), counts.report, params.source, games=GAMES, rejects=REJECTS, report=REPORT)
    shutil.rmtree(WORK)


def _results(params: JosekiRecordsParams, seed: int, journal: Journal) -> Iterator[SgfGame | Reject]:
    if params.source == "made":
        return _make(params.made, seed, journal)
    if params.source != "littlegolem":
        return _read(Path(params.source), journal)
    if not list_shards(PAGES):
        steps = "`zugwerk crawl joseki`, then python -m pipeline_src.stage systems.joseki.crawl"
        raise ZugwerkError(f"{PAGES}: no crawled games there; run {steps}")
    return (read_go(raw) for raw in read_raw(PAGES))


def _make(made: MadeGames, seed: int, journal: Journal) -> Iterator[SgfGame]:
    tasks, make = {str(number): (number,) for number in range(made.games)}, partial(make_some, made, seed)
    records = each_kept(make, tasks, load(Parallel, "parallel"), "games", journal, kind=GameRecord)
    return (SgfGame(record, EVENT, 0, 0, 0) for record in records)


def make_some(made: MadeGames, seed: int, tasks: list[tuple[int]]) -> list[GameRecord]:
    """The made games with these numbers."""
    return [record for (number,) in tasks for record in make_games(made, seed, number, 1)]


def _read(path: Path, journal: Journal) -> Iterator[SgfGame | Reject]:
    """The games of a folder or tar, numbered in its order."""
    parallel, gids = load(Parallel, "parallel"), itertools.count(FIRST_GID)
    files = enumerate(read_files(path))
    while tasks := {
        f"{at} {name} {hashlib.sha256(data).hexdigest()}": (name, data)
        for at, (name, data) in itertools.islice(files, FILES_AT_ONCE)
    }:
        for some in each_kept(read_some, tasks, parallel, "files", journal, kind=Results):
            yield from (_numbered(result, next(gids)) for result in some)


def read_some(files: list[tuple[str, bytes]]) -> list[Results]:
    """The games of each file (name, bytes)."""
    return [list(parse_sgf(data, name=name)) for name, data in files]


def _numbered(result: SgfGame | Reject, gid: int) -> SgfGame | Reject:
    if isinstance(result, Reject):
        return dataclasses.replace(result, gid=gid)
    return result._replace(record=dataclasses.replace(result.record, gid=gid))


def _long_enough(result: SgfGame | Reject, least: int) -> SgfGame | Reject:
    if isinstance(result, Reject) or (plies := len(result.record.actions)) >= least:
        return result
    return Reject(result.record.gid, plies, "too_short", f"{result.name}: {plies} plies; at least {least} are wanted")


# Synthetic games of textbook joseki.
#
# Textbook joseki are the SGF next to this module, each way from its root to a leaf one sequence, in the upper right
# corner, Black first; an empty move is one that is played elsewhere (tenuki). Made games play them in four corners,
# with tenuki, transpositions and mistakes. They are marked as synthetic: source ``engine``, event ``made``. The winner
# is random; each mistake more than the opponent's divides the odds by e.

SIZE = 19
FILE = Path(__file__).with_name("textbook.sgf")
ELSEWHERE = (-1, -1)  # Point in a sequence for a move in another part of the board
Moves = tuple[tuple[int, int], ...]
"""Points as (r, c), distances from the corner's two borders, the first line 1; Black first, the sides in turn."""


@cache
def textbook() -> tuple[Moves, ...]:
    """All sequences, in the file's order; sides in turn, so that a side playing twice has `ELSEWHERE` between."""
    found: list[Moves] = []
    for tree in sgf_grammar.parse_sgf_collection(FILE.read_bytes()):
        todo: list[tuple[Any, Moves]] = [(tree, ())]
        while todo:
            branch, before = todo.pop()
            moves = before
            for node in branch.sequence:
                for colour in "BW":
                    if colour in node:
                        if "BW"[len(moves) % 2] != colour:
                            moves += (ELSEWHERE,)
                        moves += (_point(node[colour][0].decode()),)
            todo += [(child, moves) for child in reversed(branch.children)]
            if not branch.children:
                found.append(moves)
    return tuple(found)


def _point(text: str) -> tuple[int, int]:
    """SGF's point in the upper right corner: row and column counted from there."""
    if not text:
        return ELSEWHERE
    return ord(text[1]) - ord("a") + 1, SIZE - (ord(text[0]) - ord("a"))


EVENT = "made"
FIRST_GID = 1
# By how many rows and columns a mistake misses.
MISSES = [(down, right) for down in range(-2, 3) for right in range(-2, 3) if (down, right) != (0, 0)]
NO_RESULT = 0.03  # Share of games without a result, as in real archives
TRIES = 40  # Points to try for a noise move before the side passes


@dataclass
class _Corner:
    """A joseki under way."""

    points: list[tuple[int, int]]  # Rows and columns on the board, or ELSEWHERE
    starter: int
    at: int = 0

    def turn(self) -> int:
        """The side to move next, -1 at the end."""
        return (self.starter + self.at) % 2 if self.at < len(self.points) else -1

    def awaits(self, side: int) -> bool:
        """Whether ``side`` is to place the next stone."""
        return self.turn() == side and self.points[self.at] != ELSEWHERE


def make_games(made: MadeGames, seed: int, first: int, count: int) -> list[GameRecord]:
    """Games ``first`` to ``first + count - 1`` of the archive of a seed; each depends on its own number alone."""
    return [_make_game(made, seed, number) for number in range(first, first + count)]


def _make_game(made: MadeGames, seed: int, number: int) -> GameRecord:
    rng = np.random.default_rng([seed, streams.JOSEKI_MADE, number])
    state = initial_state(SIZE)
    corners: list[_Corner | None] = [None] * 4
    actions: list[int] = []
    missed, last = [0, 0], -1
    for _ in range(int(rng.integers(made.plies // 2, made.plies + 1))):
        side = int(state.turn[SIDE])
        choice = _choose(rng, corners, side, last, made.tenuki)
        if choice >= 0 and corners[choice] is None:
            corners[choice] = _Corner(_placed(rng, choice, made.transposed), side)
        corner = corners[choice] if choice >= 0 else None
        action = -1
        if corner:
            row, column = corner.points[corner.at]
            corner.at += 1
            if rng.random() < made.mistakes:
                missed[side] += 1
                corner.points = corner.points[: corner.at]
                down, right = MISSES[int(rng.integers(len(MISSES)))]
                row, column = row + down, column + right
            if 0 <= row < SIZE and 0 <= column < SIZE and legal(state, row * SIZE + column):
                action = row * SIZE + column
            else:
                corner.points = corner.points[: corner.at]
        if action < 0:
            action = _noise(rng, state)
        for place, other in enumerate(corners):
            if other and place != choice and other.turn() == side and other.points[other.at] == ELSEWHERE:
                other.at += 1
        play(state, action)
        actions.append(action)
        last = choice
        if len(actions) > 1 and actions[-1] == actions[-2] == SIZE * SIZE:
            break
    winner: Winner | None = None
    if rng.random() >= NO_RESULT:
        winner = "first" if rng.random() < 1 / (1 + math.exp(missed[0] - missed[1])) else "second"
    gid = FIRST_GID + number
    return GameRecord("go", gid, "engine", "standard", SIZE, SIZE, tuple(actions), winner, event=EVENT)


def _choose(rng: np.random.Generator, corners: list[_Corner | None], side: int, last: int, tenuki: float) -> int:
    """The corner where ``side`` plays: most often where the last move was; -1 where none awaits it."""
    ready = [number for number, corner in enumerate(corners) if corner is None or corner.awaits(side)]
    if last in ready and rng.random() >= tenuki:
        return last
    others = [number for number in ready if number != last]
    return int(rng.choice(others)) if others else last if last in ready else -1


def _placed(rng: np.random.Generator, corner: int, transposed: float) -> list[tuple[int, int]]:
    """A joseki on the board's points of a corner (0 upper left, 1 upper right, 2 lower left, 3 lower right)."""
    sequences = textbook()
    weights = 1 / np.sqrt(np.arange(1, len(sequences) + 1))  # some are played more often than others
    moves: Moves = sequences[int(rng.choice(len(sequences), p=weights / weights.sum()))]
    order = list(moves)
    if len(order) > 2 and rng.random() < transposed:
        at = int(rng.integers(len(order) - 2))
        order[at], order[at + 2] = order[at + 2], order[at]
    mirrored = rng.random() < 0.5

    def place(point: tuple[int, int]) -> tuple[int, int]:
        row, column = point[::-1] if mirrored else point
        return SIZE - row if corner >= 2 else row - 1, SIZE - column if corner % 2 else column - 1

    return [point if point == ELSEWHERE else place(point) for point in order]


def _noise(rng: np.random.Generator, state: GoState) -> int:
    """A random legal point that is not surrounded, or a pass where none is found soon."""
    for action in rng.integers(SIZE * SIZE, size=TRIES):
        row, column = divmod(int(action), SIZE)
        around = state.board[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        if (around == 0).sum() > 2 and legal(state, int(action)):
            return int(action)
    return SIZE * SIZE


class GameCounts:
    """Counts by reason, source and result."""

    def __init__(self) -> None:
        self._sums = Counter(dict.fromkeys(("made", "handicap", "variations", "passes_added", "cut"), 0))
        self._reasons, self._sources, self._winners = Counter[Reason](), Counter[Source](), Counter[Winner | None]()
        self._plies = 0

    def add(self, result: SgfGame | Reject) -> None:
        """Count one game or reject."""
        if isinstance(result, Reject):
            self._reasons[result.reason] += 1
            return
        record = result.record
        self._sums["made"] += record.source == "engine" and record.event == EVENT
        self._sums["handicap"] += "handicap" in record.variant
        for name in ("variations", "passes_added", "cut"):
            self._sums[name] += getattr(result, name)
        self._plies += len(record.actions)
        self._sources[record.source] += 1
        self._winners[record.winner] += 1

    def report(self) -> dict[str, Any]:
        """Every known word is a key, so that two reports compare key by key.

        Returns:
            ``rows``, all records, = ``games`` + ``rejects``; ``made``, synthetic games; ``handicap``, games
            with handicap stones; ``variations``, lines other than the main ones; ``passes_added`` and ``cut``, as in
            `GoMoves`, in plies; ``no_result``, games without a winner; ``mean_plies`` and ``first_side_score``, null
            without games; the latter is Black's score of the games with a result.
        """
        games, rejects, winners = self._sources.total(), self._reasons.total(), self._winners
        decided = games - winners[None]
        return {
            "rows": games + rejects,
            "games": games,
            "rejects": rejects,
            "rejects_by_reason": {reason: self._reasons[reason] for reason in REASONS},
            "sources": {source: self._sources[source] for source in SOURCES},
            **self._sums,
            "no_result": winners[None],
            "mean_plies": self._plies / games if games else None,
            "first_side_score": (winners["first"] + winners["draw"] / 2) / decided if decided else None,
        }

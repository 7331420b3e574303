"""The library on moves of unseen games: accuracy compared with a baseline, and both look-ups side by side.

The baseline is the most frequent point at each move number. Moves that are equal under a symmetry of the pattern
count as one: in a corner with a symmetric pattern the two 3-4 points are one move. Only local moves are predicted, in
the corner where they were played.
"""

import time
import timeit
from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.score import Score, clustered_rate, rate
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, write_table, written_aside
from pipeline_src.games.go import initial_state, play_actions
from pipeline_src.games.rules import copy_state
from pipeline_src.project.params import load, load_value
from pipeline_src.records.record import GameRecord, each_record
from pipeline_src.systems.joseki.build import build_library
from pipeline_src.systems.joseki.library import Library, prune
from pipeline_src.systems.joseki.params import JosekiBuildParams, JosekiEvaluateParams
from pipeline_src.systems.joseki.patterns import (
    BOARD,
    PASS,
    POINTS,
    SIDE,
    Steps,
    Window,
    canonical_key,
    canonical_keys,
    canonical_move,
    chunks,
    each_steps,
    exact_fingerprint,
    fingerprint,
    mix,
    pattern_codes,
    select,
    symmetric_codes,
    walk,
)
from pipeline_src.systems.joseki.recommend import (
    NOT_FOUND,
    CodeIndex,
    board_svg,
    code_index,
    look_up,
    look_up_paper,
    rank_moves,
    recommend,
    recommendation_rows,
)

GAMES = Path("artifacts/records/joseki/games.parquet")
REPORTS = Path("artifacts/reports/joseki")
WORK = Path("work/joseki_evaluate")
SHOWN = 12  # Recommendations in the table and on the picture
TOP = 3


def main() -> None:
    """Stage joseki_evaluate: accuracy of the recommender on held-out games, and a comparison of both look-ups.

    Builds a library of some of the games as ``joseki_build`` does; of copies of a game the first one counts. Writes,
    under ``artifacts/reports/joseki/``, the metrics ``evaluate.json``, the accuracy by move number ``accuracy.csv``,
    the recommendations for a position of a held-out game ``recommend.csv`` and ``recommend.svg``, and the times
    ``evaluate.timings.json``.
    """
    build, params = load(JosekiBuildParams, "joseki_build"), load(JosekiEvaluateParams, "joseki_evaluate")
    seed = load_value(int, "seed")
    sides = np.array([is_held_out(record, params.held_out, seed) for record in each_record(GAMES)], bool)

    first = first_copies(each_record(GAMES))
    held, seen = first & sides, first & ~sides

    def games(held_out: bool) -> Iterator[GameRecord]:
        return compress(each_record(GAMES), held if held_out else seen)

    if not held.any() or not seen.any():
        raise ZugwerkError(f"{GAMES}: {len(sides)} games are too few to hold out {params.held_out} of them")
    WORK.mkdir(parents=True, exist_ok=True)
    tested = ask(games(False), games(True), build.moves, build.fewest_games, WORK)
    write_table(REPORTS / "accuracy.csv", number_rows(tested.pruned))
    positions = spread(each_steps(games(False), build.moves), tested.moves, params.positions)
    index = code_index(tested.whole)
    compared = compare(tested.whole, index, positions)
    unpruned = rates(tested.unpruned)
    metrics: dict[str, Any] = {
        "games": int(seen.sum()),
        "held_out": int(held.sum()),
        "moves": len(tested.pruned.rank),
        **{name: one.as_metrics() for name, one in rates(tested.pruned).items()},
        "whole": {name: unpruned[name].as_metrics() for name in ("hit_rate", "recommend_top1", "recommend_top3")},
        "lookups": {
            "found": rate(compared.found, compared.asked).as_metrics(),
            "found_by_paper": rate(compared.found_by_paper, compared.asked).as_metrics(),
            "strangers_by_paper": rate(compared.strangers, compared.named_by_paper).as_metrics(),
        },
    }
    write_json(REPORTS / "evaluate.json", metrics)
    show(prune(tested.whole, build.fewest_games), next(games(True)), params.shown_ply)
    write_json(REPORTS / "evaluate.timings.json", timings(tested.whole, index, positions))


def show(library: Library, record: GameRecord, ply: int) -> None:
    """The recommendations for a position of a game, as a table and as a picture."""
    state = copy_state(initial_state(BOARD, record.variant))
    actions = np.array(record.actions[:ply], np.int32)
    played = play_actions(state, actions, np.empty((len(actions) + 1, BOARD, BOARD), np.int8))
    found, side = recommend(library, state), "White" if state.turn[0] else "Black"
    write_table(REPORTS / "recommend.csv", recommendation_rows(found[:SHOWN]))
    title = f"{side} to move after {played} plies: how often each move was played, in %"
    last = int(actions[played - 1]) if played else -1
    text = board_svg(state.board, [one for one in found if one.actions][:SHOWN], last, title)
    with written_aside(REPORTS / "recommend.svg") as aside:
        aside.write_text(text, encoding="utf-8")


class Named(NamedTuple):
    """M local moves: rank of each, 0 the first, -1 not among the first three."""

    game: npt.NDArray[np.int32]  # [M]
    number: npt.NDArray[np.int8]  # [M]: of the move in its corner, from 1
    known: npt.NDArray[np.bool_]  # [M]: the library has the pattern with a move of this colour
    rank: npt.NDArray[np.int8]  # [M]: by the library
    baseline: npt.NDArray[np.int8]  # [M]: by how often each point was played at this move number, in any pattern


def is_held_out(record: GameRecord, share: float, seed: int) -> bool:
    """Whether a game is for testing, by its moves and the seed; `first_copies` leaves out copies on the other side."""
    return int(mix(np.uint64(exact_fingerprint(record)) ^ mix(np.uint64(seed)))) < share * 2.0**64


def first_copies(records: Iterable[GameRecord]) -> npt.NDArray[np.bool_]:
    """Whether each game is the first with its `fingerprint`, [G]; later ones are copies, not evidence of their own."""
    names = np.array([fingerprint(record) for record in records], np.uint64)
    first = np.zeros(len(names), bool)
    first[np.unique(names, return_index=True)[1]] = True
    return first


def point_counts(steps: Steps, longest: int) -> npt.NDArray[np.int64]:
    """How often each point or its mirror image was played at each move number, int64 [longest + 1, 100]."""
    played = steps.point != PASS
    counts = np.zeros((longest + 1, POINTS), np.int64)
    np.add.at(counts, (steps.number[played], steps.point[played]), 1)
    squares = counts.reshape(-1, SIDE, SIDE)
    return (squares + squares.transpose(0, 2, 1)).reshape(-1, POINTS)


def name_moves(library: Library, counts: npt.NDArray[np.int64], steps: Steps) -> Named:
    """Rank the moves of steps by the library and by `point_counts`."""
    orders = [np.argsort(-row, kind="stable") for row in counts]
    played = np.flatnonzero(steps.point != PASS)
    known, ranks = np.zeros(len(played), bool), [np.full(len(played), -1, np.int8) for _ in range(2)]
    named = Named(steps.game[played], steps.number[played], known, *ranks)
    for i, step in enumerate(played.tolist()):
        window, colour = steps.before[step], int(steps.colour[step])
        forms = canonical_key(window)[1]
        move = canonical_move(steps.point[step], colour, forms)
        ranked = [one.move for one in rank_moves(library, window, colour) if one.points != (PASS,)]
        named.known[i] = bool(ranked)
        if move in ranked[:TOP]:
            named.rank[i] = ranked.index(move)
        order = orders[int(named.number[i])]
        if move in (usual := _usual(window, order, colour, forms)):
            named.baseline[i] = usual.index(move)
    return named


def _usual(window: Window, order: npt.NDArray[np.int64], colour: int, forms: int) -> list[int]:
    """The first three points of ``order`` that are empty, as canonical moves, no two the same."""
    moves: list[int] = []
    for point in order:
        if not window[point // SIDE, point % SIDE]:
            move = canonical_move(point, colour, forms)
            if move not in moves:
                moves.append(move)
                if len(moves) == TOP:
                    break
    return moves


class Tested(NamedTuple):
    """A library of some games, asked for the moves of others."""

    whole: Library  # Library of the games seen, without a threshold
    moves: int  # Number of local moves of the games seen
    pruned: Named  # Moves named by the library without rare moves
    unpruned: Named  # Moves named by the whole library


def ask(
    seen: Iterable[GameRecord], held_out: Iterable[GameRecord], moves: int, fewest: int, folder: Path | None = None
) -> Tested:
    """Build a library and the baseline of the games ``seen``, ask for all local moves of the others; at least one each.

    A corner has ``moves`` local moves at most; moves of fewer than ``fewest`` games are dropped; ``folder`` as for
    `room`.
    """
    counts, played = np.zeros((moves + 1, POINTS), np.int64), 0

    def counted() -> Iterator[GameRecord]:
        nonlocal counts, played
        for chunk in chunks(seen):
            steps = walk(chunk, moves).steps
            counts, played = counts + point_counts(steps, moves), played + int((steps.point != PASS).sum())
            yield from chunk

    whole = build_library(counted(), moves, folder)
    libraries, asked = (prune(whole, fewest), whole), each_steps(held_out, moves)
    named = [[name_moves(library, counts, steps) for library in libraries] for steps in asked]
    return Tested(whole, played, *(join_named(parts) for parts in zip(*named, strict=True)))


def join_named(parts: Iterable[Named]) -> Named:
    """Moves of several sets of games as one."""
    return Named._make(map(np.concatenate, zip(*parts, strict=True)))


def rates(named: Named) -> dict[str, Score]:
    """Shares of moves, with intervals over games; ``either`` asks the baseline where the library has no move."""
    hits = {
        "hit_rate": named.known,
        "recommend_top1": named.rank == 0,
        "recommend_top3": named.rank >= 0,
        "baseline_top1": named.baseline == 0,
        "baseline_top3": named.baseline >= 0,
        "either_top3": np.where(named.known, named.rank, named.baseline) >= 0,
    }
    return {name: clustered_rate(hit, named.game) for name, hit in hits.items()}


def number_rows(named: Named) -> list[dict[str, str | float]]:
    """One row a move number in its corner: ``number``, ``moves``, the shares."""
    rows: list[dict[str, str | float]] = []
    for number in np.unique(named.number).tolist():
        of = Named._make(column[named.number == number] for column in named)
        rows.append({"number": number, "moves": len(of.rank)} | {name: one.value for name, one in rates(of).items()})
    return rows


class Compared(NamedTuple):
    """Comparison on positions of counted games, each with its played move."""

    asked: int
    found: int  # Number of positions with the played move among those found by the exact key
    found_by_paper: int  # Number of positions with the played move among those found by the code and its hints
    strangers: int  # Number of moves that the code finds but that were not played in the pattern
    named_by_paper: int  # Number of all moves that the code finds


def compare(library: Library, index: CodeIndex, steps: Steps) -> Compared:
    """Ask both for the moves of each step."""
    found = found_by_paper = strangers = named = 0
    for step in range(len(steps.point)):
        window, colour = steps.before[step], int(steps.colour[step])
        forms = canonical_key(window)[1]
        played = canonical_move(steps.point[step], colour, forms)
        ours = set(library.move[look_up(library, window, colour).transitions].tolist())
        points = look_up_paper(index, window, colour).tolist()
        theirs = {canonical_move(point, colour, forms) for point in points if point not in (NOT_FOUND, PASS)}
        found += played in ours
        found_by_paper += played in theirs
        strangers += len(theirs - ours)
        named += len(theirs)
    return Compared(len(steps.point), found, found_by_paper, strangers, named)


def spread(parts: Iterable[Steps], moves: int, count: int) -> Steps:
    """At most ``count`` of the ``moves`` local moves in some steps, evenly spaced, passes left out."""
    chosen, at, found = np.linspace(0, moves - 1, min(count, moves)).astype(int), 0, list[Steps]()
    for steps in parts:
        played = np.flatnonzero(steps.point != PASS)
        found.append(select(steps, played[chosen[(chosen >= at) & (chosen < at + len(played))] - at]))
        at += len(played)
    return Steps._make(np.concatenate(columns) for columns in zip(*found, strict=True))


def timings(library: Library, index: CodeIndex, steps: Steps) -> dict[str, float]:
    """Microseconds a pattern on one core: codes and keys in a compiled loop, look-ups called from Python."""
    windows, colours = steps.before, steps.colour.tolist()

    def each(look: Callable[[Any, Any, int], Any], where: Any) -> Callable[[], None]:
        def run() -> None:
            for window, colour in zip(windows, colours, strict=True):
                look(where, window, colour)

        return run

    tasks: dict[str, Callable[[], Any]] = {
        "encode_us": lambda: pattern_codes(windows),
        "encode_ours_us": lambda: symmetric_codes(windows),
        "canonical_us": lambda: canonical_keys(windows),
        "lookup_us": each(look_up, library),
        "lookup_paper_us": each(look_up_paper, index),
    }
    return {name: 1e6 * _seconds(task) / max(len(windows), 1) for name, task in tasks.items()}


def _seconds(task: Callable[[], Any]) -> float:
    """Return the CPU seconds of a task, the best of three runs after one that compiles."""
    task()
    return min(timeit.repeat(task, timer=time.process_time, repeat=3, number=1))

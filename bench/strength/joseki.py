"""Measure the joseki library on real games and write docs/measured/joseki.json.

The files' digests go to docs/measured/joseki_games.csv. The counts are of all games; the recommender is tested by
folds, each game held out once. The scaling builds libraries of up to 10,000 games: the real games on turned boards,
each continued from a random ply by another game. Example:

    python -m bench.strength.joseki --games FOLDER_OR_TAR --data "507 games of strong amateurs"
"""

import argparse
import hashlib
import random
import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from bench.measured import about
from pipeline_src.arena.score import rate
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.games.go import initial_state, legal
from pipeline_src.games.kernels import play
from pipeline_src.records.go_games import parse_sgf
from pipeline_src.records.record import GameRecord, Reject
from pipeline_src.records.sgf import read_files
from pipeline_src.systems.joseki.build import Builder, tally
from pipeline_src.systems.joseki.evaluate import (
    Named,
    ask,
    compare,
    first_copies,
    join_named,
    number_rows,
    rates,
    spread,
    timings,
)
from pipeline_src.systems.joseki.patterns import LONGEST, PASS, exact_fingerprint, walk
from pipeline_src.systems.joseki.recommend import code_index

OUT = Path("docs/measured/joseki.json")
FOLDS = 5
FEWEST_GAMES = 2
POSITIONS = 5_000
SCALES = (500, 1_000, 2_000, 5_000, 10_000)
SQUARES = np.arange(361).reshape(19, 19)


def main() -> None:
    """Read, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, required=True, help="a folder or tar of SGF files")
    parser.add_argument("--data", required=True, help="origin of the games, in words")
    parser.add_argument("--scales", type=int, nargs="*", default=SCALES, help="games of each library of the scaling")
    options = parser.parse_args()
    records, rejects = read(options.games)
    write_table(OUT.with_name("joseki_games.csv"), games_list(options.games))
    origin = about("make measure-joseki GAMES=FOLDER_OR_TAR", options.data, profile="laptop")
    made, more = measure(records)
    scaling = list(scale(records, options.scales))
    figures = {name: {"low": None, "high": None, "n": len(records)} | row | origin for name, row in made.items()}
    write_json(OUT, figures | {"rejects": rejects, **more, "scaling": scaling})
    for name, row in figures.items():
        print(f"{name}: {row['value']:.6g} ({row['low']} to {row['high']}, n {row['n']})")
    for step in scaling:
        print(step)


def read(path: Path) -> tuple[list[GameRecord], dict[str, int]]:
    """Return the games, and the number of rejected files by reason.

    Raises:
        ZugwerkError: no game can be used.
    """
    found = [one for name, data in read_files(path) for one in parse_sgf(data, name=name)]
    records = [one.record for one in found if not isinstance(one, Reject)]
    if not records:
        raise ZugwerkError(f"{path}: no usable game of 19x19")
    return records, dict(sorted(Counter(one.reason for one in found if isinstance(one, Reject)).items()))


def games_list(path: Path) -> list[dict[str, Any]]:
    """Return a row for each file with its SHA-256, by which others know that theirs are the same."""
    rows = [{"sha256": hashlib.sha256(data).hexdigest(), "file": Path(name).name} for name, data in read_files(path)]
    return sorted(rows, key=lambda row: (row["file"], row["sha256"]))


def measure(records: list[GameRecord]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the registry's figures, and the other numbers of the tables."""
    whole, counts, growth = tally(records, len(records), 20)
    steps = walk(records).steps
    index, positions = code_index(whole), spread([steps], int((steps.point != PASS).sum()), POSITIONS)
    times, compared = timings(whole, index, positions), compare(whole, index, positions)
    pruned, unpruned = folds(records)
    named, named_unpruned = rates(pruned), rates(unpruned)
    counted = ("games", "patterns", "encodings", "clashes", "clashes_ours", "clashes_unresolved")
    asked = ("recommend_top1", "recommend_top3", "baseline_top3", "hit_rate")
    timed = ("encode_us", "canonical_us", "lookup_us", "lookup_paper_us")
    figures: dict[str, dict[str, Any]] = {
        **{name: {"value": counts[name]} for name in counted},
        **{name: {"value": times[name], "n": len(positions.ply)} for name in timed},
        **{name: named[name].as_metrics() for name in asked},
    }
    more = {
        "counts": counts,
        "encode_ours_us": times["encode_ours_us"],
        "growth": growth,
        "accuracy": number_rows(pruned),
        "pruned": {name: one.as_metrics() for name, one in named.items()},
        "unpruned": {name: one.as_metrics() for name, one in named_unpruned.items()},
        "lookups": {
            "found": rate(compared.found, compared.asked).as_metrics(),
            "found_by_paper": rate(compared.found_by_paper, compared.asked).as_metrics(),
            "strangers_by_paper": rate(compared.strangers, compared.named_by_paper).as_metrics(),
        },
    }
    return figures, more


def folds(records: Sequence[GameRecord]) -> tuple[Named, Named]:
    """Return what libraries of the other folds recommend for each game's moves, with and without pruning."""
    order = sorted(compress(records, first_copies(records)), key=exact_fingerprint)
    pruned, unpruned = list[Named](), list[Named]()
    for fold in range(FOLDS):
        seen = [record for i, record in enumerate(order) if i % FOLDS != fold]
        tested = ask(seen, order[fold::FOLDS], LONGEST, FEWEST_GAMES)
        for kept, named in ((pruned, tested.pruned), (unpruned, tested.unpruned)):
            kept.append(named._replace(game=named.game * FOLDS + fold))
    return join_named(pruned), join_named(unpruned)


def scale(records: Sequence[GameRecord], sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Return time and memory of libraries by number of games, ascending, so that each peak is the library's own."""
    for size in sorted(sizes):
        games = [varied(records, number) for number in range(size)]
        begin = time.process_time()  # CPU time, so that the load of the machine has no effect
        builder = Builder()
        added = builder.add(games)
        library = builder.library()
        seconds = time.process_time() - begin
        yield {
            "games": added.games,
            "encodings": int(library.seen.sum()),
            "patterns": library.states,
            "transitions": library.transitions,
            "seconds": seconds,
            "ms_per_game": 1000 * seconds / size,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def varied(records: Sequence[GameRecord], number: int) -> GameRecord:
    """Return a game on a turned board, continued from a random ply by another game on a board turned differently."""
    rng = random.Random(number)
    base, other = records[number % len(records)], rng.choice(records)
    state, actions = initial_state(19), list[int]()
    cut = rng.randrange(4, 60)
    for plies in (base.actions[:cut], other.actions):
        place = _turned(rng)
        for action in plies:
            moved = place[action] if action < 361 else 361
            if moved < 361 and legal(state, moved) and len(actions) < 250:
                play(state, moved)
                actions.append(moved)
    return GameRecord("go", number, "file", "standard", 19, 19, tuple(actions), base.winner)


def _turned(rng: random.Random) -> list[int]:
    squares = np.rot90(SQUARES, rng.randrange(4))
    squares = squares.T if rng.random() < 0.5 else squares
    place = np.empty(361, int)
    place[squares.ravel()] = SQUARES.ravel()
    return [int(square) for square in place]


if __name__ == "__main__":
    run_main(main)

"""Stage joseki_records: collect the games for the joseki library, with a file of rejects and their reasons.

By ``joseki_records.source`` they are made of textbook joseki, read from a folder or tar of SGF files, or those that
`joseki_crawl` fetched from LittleGolem. Writes ``games.parquet`` and ``rejects.parquet`` under
``artifacts/records/joseki/`` and the counts ``artifacts/reports/joseki/records.json``. Killed and run again,
it makes or reads only the missing games: finished ones are kept under ``work/``.
"""

import dataclasses
import hashlib
import itertools
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pipeline_src.arena.journal import Journal, each_kept, stage_journal
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.records.go_moves import SgfGame
from pipeline_src.records.littlegolem.go import read_go
from pipeline_src.records.raw import list_shards, read_raw
from pipeline_src.records.record import GameRecord, Reject, sort_results
from pipeline_src.records.sgf import parse_sgf, read_files
from pipeline_src.systems.joseki.made import EVENT, GameCounts, make_games
from pipeline_src.systems.joseki.params import JosekiRecordsParams, MadeGames

GAMES = Path("artifacts/records/joseki/games.parquet")
REJECTS = Path("artifacts/records/joseki/rejects.parquet")
REPORT = Path("artifacts/reports/joseki/records.json")
PAGES = Path("artifacts/raw/joseki/pages")
WORK = Path("work/joseki_records")
FIRST_GID = 1
FILES_AT_ONCE = 10_000  # Files of a folder or tar that are in memory

Results = list[SgfGame | Reject]


def main() -> None:
    """Collect the games.

    Raises:
        ZugwerkError: bad params, a source that is not there or damaged, or not one usable game.
    """
    params, seed = load(JosekiRecordsParams, "joseki_records"), load_value(int, "seed")
    identity = {"made": params.made.model_dump(), "seed": seed}
    counts = GameCounts()
    with stage_journal(WORK, "pipeline_src.stages.joseki_records", identity) as journal:

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
    if params.source == "littlegolem":
        return _read_crawled()
    return _read(Path(params.source), journal)


def _make(made: MadeGames, seed: int, journal: Journal) -> Iterator[SgfGame]:
    tasks = {str(number): (number,) for number in range(made.games)}
    records = each_kept(
        partial(make_some, made, seed), tasks, load(Parallel, "parallel"), "games", journal, kind=GameRecord
    )
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


def _read_crawled() -> Iterator[SgfGame | Reject]:
    if not list_shards(PAGES):
        steps = "`zugwerk crawl joseki`, then python -m pipeline_src.stages.joseki_crawl"
        raise ZugwerkError(f"{PAGES}: no crawled games there; run {steps}")
    return (read_go(raw) for raw in read_raw(PAGES))


def _numbered(result: SgfGame | Reject, gid: int) -> SgfGame | Reject:
    if isinstance(result, Reject):
        return dataclasses.replace(result, gid=gid)
    return result._replace(record=dataclasses.replace(result.record, gid=gid))


def _long_enough(result: SgfGame | Reject, plies: int) -> SgfGame | Reject:
    if isinstance(result, Reject) or len(result.record.actions) >= plies:
        return result
    played = len(result.record.actions)
    return Reject(result.record.gid, played, "too_short", f"{result.name}: {played} plies; at least {plies} are wanted")


if __name__ == "__main__":
    run_main(main)

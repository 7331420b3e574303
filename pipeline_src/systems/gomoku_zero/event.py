"""Matches of Gomoku from balanced openings, kept while they are played: `gomoku_event`."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline_src.arena.balance import balanced_openings, central_cells
from pipeline_src.arena.event import Event
from pipeline_src.arena.fixtures import Board
from pipeline_src.arena.match import start_state
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import digest
from pipeline_src.systems.gomoku_zero import player
from pipeline_src.systems.gomoku_zero.params import GomokuOpenings


def gomoku_event(
    texts: Mapping[str, str],
    size: int,
    variant: str,
    chosen: GomokuOpenings,
    seed: Sequence[int],
    parallel: Parallel,
    group: int,
    work: Path,
) -> Event:
    """An event on a board of Gomoku.

    Args:
        texts: players' texts by their names.
        size: of the board.
        variant: of the rules.
        chosen: which openings.
        seed: openings and games depend on nothing else.
        parallel: how the games run.
        group: games of a task.
        work: finished groups of games are kept here, in a folder of the code that played them; others are removed.
    """
    keep = work / digest(__name__, player.__name__)
    for old in work.glob("*"):
        if old != keep:
            shutil.rmtree(old)
    keep.mkdir(parents=True, exist_ok=True)
    openings = balanced_openings(
        "gomoku",
        start_state("gomoku", size, variant),
        chosen.count,
        chosen.plies,
        [*seed, 0],
        chosen.judge,
        chosen.bound,
        central_cells(size, chosen.area),
    )
    return Event(Board("gomoku", size, variant), texts, openings, [*seed, 1], parallel, group, keep)

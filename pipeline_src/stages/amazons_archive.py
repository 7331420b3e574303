"""Play the engine games of the offline archive; seeded, so that any number of workers gives the same bytes.

Example: ``python -m pipeline_src.stages.amazons_archive``
"""

from dataclasses import replace

import numpy as np

from pipeline_src import streams
from pipeline_src.arena.game import Fixture, play
from pipeline_src.arena.openings import random_openings
from pipeline_src.arena.runner import Board
from pipeline_src.errors import run_main
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.project.params import load, load_value
from pipeline_src.records.parquet import write_records
from pipeline_src.records.record import GameRecord
from pipeline_src.systems.amazons_net.params import AmazonsArchive

OUT = "artifacts/raw/amazons/archive.parquet"
GROUP = 16
"""Games a task plays in lock step, all of one pairing."""
FIRST_GID, FIRST_PLID = 100_001, 1_001


def play_group(params: AmazonsArchive, seed: int, group: int) -> list[GameRecord]:
    """Play group number ``group`` of sixteen games, with one pairing and one start position."""
    stream = (seed, streams.AMAZONS_ARCHIVE, group)
    rng = np.random.default_rng(stream)
    first, second = (int(i) for i in rng.choice(len(params.players), 2, replace=False))
    board = Board(amazons.NAME, 10, "cross" if rng.random() < params.cross_share else "standard")
    count = min(GROUP, params.games - group * GROUP)
    openings = random_openings(amazons, board.start(), count, params.opening_plies, stream)
    games = [
        board.begin(Fixture(params.players[first], params.players[second], opening, (*stream, i, 1)))
        for i, opening in enumerate(openings)
    ]
    return [
        replace(
            board.record(played, FIRST_GID + group * GROUP + i),
            first_plid=FIRST_PLID + first,
            second_plid=FIRST_PLID + second,
        )
        for i, played in enumerate(play(games))
    ]


def main() -> None:
    """Load params, play, write."""
    params, seed = load(AmazonsArchive, "amazons_archive"), load_value(int, "seed")
    tasks = [(params, seed, group) for group in range(-(-params.games // GROUP))]
    groups = run_tasks(play_group, tasks, load(Parallel, "parallel"), "archive")
    write_records((record for group in groups for record in group), OUT)


if __name__ == "__main__":
    run_main(main)

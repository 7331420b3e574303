"""Stage amazons_archive: play the engine games of the offline archive, ``artifacts/raw/amazons/archive.parquet``.

They are seeded, so that any number of workers gives the same bytes. A run after a kill plays only the missing games:
finished ones are kept under ``work/``.
"""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src import streams
from pipeline_src.arena.game import SIDES, Fixture, play, random_openings
from pipeline_src.arena.journal import each_kept, stage_journal
from pipeline_src.arena.runner import Board
from pipeline_src.games import amazons
from pipeline_src.games.rules import to_play
from pipeline_src.parallel import Parallel
from pipeline_src.players.amazons import amazons_engine, make_evaluator
from pipeline_src.project.params import load, load_value
from pipeline_src.records.record import GameRecord, write_records
from pipeline_src.search.evaluator import evaluate
from pipeline_src.systems.amazons_net.params import AmazonsArchive

OUT = "artifacts/raw/amazons/archive.parquet"
WORK = Path("work/amazons_archive")
TURNS = 3  # Turns in a row at which a loser is behind when it resigns
GROUP = 16  # Games in a row of one pairing
FIRST_GID, FIRST_PLID = 100_001, 1_001


def play_games(params: AmazonsArchive, seed: int, tasks: list[tuple[int]]) -> list[GameRecord]:
    """Play the games with these numbers, of which sixteen in a row share their pairing and their start position."""
    numbers, found = [number for (number,) in tasks], dict[int, GameRecord]()
    for group in dict.fromkeys(number // GROUP for number in numbers):
        stream = (seed, streams.AMAZONS_ARCHIVE, group)
        rng = np.random.default_rng(stream)
        first, second = (int(i) for i in rng.choice(len(params.players), 2, replace=False))
        board = Board(amazons.NAME, 10, "cross" if rng.random() < params.cross_share else "standard")
        openings = random_openings(amazons, board.start(), GROUP, params.opening_plies, stream)
        texts = params.players[first], params.players[second]
        own = [number for number in numbers if number // GROUP == group]
        places = [number % GROUP for number in own]
        games = [board.begin(Fixture(*texts, openings[place], (*stream, place, 1))) for place in places]
        for number, played in zip(own, play(games), strict=True):
            record = resigned(board.record(played, FIRST_GID + number), board.start(), params.resign)
            found[number] = replace(record, first_plid=FIRST_PLID + first, second_plid=FIRST_PLID + second)
    return [found[number] for number in numbers]


def resigned(record: GameRecord, start: Any, bound: float) -> GameRecord:
    """Return the game up to where its loser resigns: at `TURNS` of its turns in a row it is ``bound`` squares behind.

    Nobody resigns a game that it wins, so no result changes. A bound of 0 is none.
    """
    if not bound:
        return record
    state, evaluator, behind, loser = start, make_evaluator(), 0, 1 - SIDES.index(record.winner)
    for ply, action in enumerate(record.actions):
        if to_play(state) == loser:
            behind = behind + 1 if evaluate(state, evaluator) < -bound else 0
            if behind == TURNS:
                return replace(record, actions=record.actions[:ply], resigned=True)
        state = amazons.play(state, action)
    return record


def main() -> None:
    """Load params, play, write."""
    params, seed = load(AmazonsArchive, "amazons_archive"), load_value(int, "seed")
    engine, tasks = amazons_engine(), {str(number): (number,) for number in range(params.games)}
    identity = {"params": params.model_dump(), "amazons_engine": engine.model_dump(), "seed": seed}
    with stage_journal(WORK, __name__, identity) as journal:
        games = each_kept(
            partial(play_games, params, seed),
            tasks,
            load(Parallel, "parallel"),
            "archive",
            journal,
            together=GROUP,
            kind=GameRecord,
        )
        write_records(games, OUT)
    shutil.rmtree(WORK)

"""Joseki board of the report: a position of a game with the library's recommendations."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipeline_src.games.go import SIDE, initial_state, play_actions
from pipeline_src.games.rules import copy_state
from pipeline_src.project.systems import PlyShown
from pipeline_src.records.record import read_records
from pipeline_src.report.examples import (
    SIDES,
    Candidate,
    Draw,
    Example,
    Panel,
    draw_game,
    ranks,
    rounded,
    square_names,
    within,
)
from pipeline_src.systems.joseki.library import load
from pipeline_src.systems.joseki.patterns import BOARD
from pipeline_src.systems.joseki.recommend import recommend

GAMES = Path("artifacts/records/joseki/games.parquet")
LIBRARY = Path("artifacts/models/joseki/library.joseki")
NAMED = 5  # Number of moves listed next to the board, which shows all


def boards(shown: PlyShown) -> Callable[[Draw], list[Example]]:
    """See `project.systems.Boards`."""
    return lambda rng: [joseki_example(shown.ply, rng("joseki"))]


def joseki_example(ply: int, rng: np.random.Generator) -> Example:
    """Return a position of a game of the library. Raises ZugwerkError: the records or the library are missing."""
    library = load(LIBRARY)
    missing = f"{GAMES}: no game with a move; `dvc repro joseki_records` makes them"
    record = draw_game(read_records(GAMES), ply, rng, missing)
    (ply,) = within([ply], record)
    state = copy_state(initial_state(BOARD, record.variant))
    actions = np.array(record.actions[:ply], np.int32)
    play_actions(state, actions, np.empty((ply + 1, BOARD, BOARD), np.int8))
    names = [*square_names("go", BOARD), "pass"]
    found = [one for one in recommend(library, state) if one.actions]
    on_board = [names[action] for action in record.actions[max(ply - 1, 0) : ply + 1]]
    last, played = on_board[:-1], on_board[-1]
    side = SIDES["go"][int(state.turn[SIDE])]
    return Example(
        system="joseki",
        name=f"joseki-ply-{ply}",
        title=f"What the library knows after {ply} moves, {side} to move",
        caption="Percentages are the shares of the moves played in a corner's pattern, moves elsewhere included. The "
        f"last move is marked; the next move of the game ({played}) is outlined in red. The library has "
        f"{len(library.gids):,} games, including this one.",
        game="go",
        panels=(
            Panel(
                label="share of each move",
                board=ranks("go", state.board),
                to_play=side,
                last=tuple(name for name in last if name != "pass"),
                played=(played,) if played != "pass" else (),
                heat={names[action]: rounded(one.share) for one in reversed(found) for action in one.actions},
                candidates=tuple(
                    Candidate(move=" or ".join(names[action] for action in one.actions), probability=rounded(one.share))
                    for one in found[:NAMED]
                ),
            ),
        ),
    )

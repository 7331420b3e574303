"""Matches of Gomoku from balanced openings: `gomoku_event`."""

from collections.abc import Mapping, Sequence

import pipeline_src.systems.gomoku_zero.player  # noqa: F401 - the texts of models name it
from pipeline_src.arena.balance import balanced_openings, central_cells, quick_games
from pipeline_src.arena.event import Event
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.runner import Board
from pipeline_src.parallel import Parallel
from pipeline_src.systems.gomoku_zero.evaluation_params import GomokuOpenings


def gomoku_event(
    texts: Mapping[str, str],
    board: Board,
    chosen: GomokuOpenings,
    seed: Sequence[int],
    parallel: Parallel,
    journal: Journal | None = None,
) -> Event:
    """An event on a board of Gomoku.

    Args:
        texts: players' texts by their names.
        board: on what.
        chosen: which openings.
        seed: openings and games depend on nothing else.
        parallel: how the games run.
        journal: keeps finished games.
    """
    cells = central_cells(board.size, chosen.area)
    limits = chosen.judge, chosen.bound, cells, quick_games(chosen.quick_games)
    openings = balanced_openings(board.game, board.start(), chosen.count, chosen.plies, [*seed, 0], *limits)
    return Event(board, texts, openings, [*seed, 1], parallel, journal=journal)

"""Growing boards' position of the report, with the policies of the net before and after its training on the board."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipeline_src.project.params import load_value
from pipeline_src.project.systems import PlyShown
from pipeline_src.records.record import read_records
from pipeline_src.report.examples import Draw, Example, check_model, draw_game, within
from pipeline_src.systems.gomoku_zero.boards import HEADLINE, example_of, panel_of, searched, state_of
from pipeline_src.systems.gomoku_zero.player import ZeroView
from pipeline_src.systems.growing_boards.params import BoardFiles, GrowingBoard, read_boards

GAMES = Path("artifacts/records/growing/matches.parquet")


def boards(shown: PlyShown) -> Callable[[Draw], list[Example]]:
    """Read the params; see `project.systems.Boards`."""
    board, simulations = read_boards()[-1], load_value(int, "report_positions.gomoku.simulations")
    return lambda rng: growing_examples(board, shown.ply, simulations, rng("growing"))


def growing_examples(board: GrowingBoard, ply: int, simulations: int, rng: np.random.Generator) -> list[Example]:
    """Return a position on the largest board as two nets see it. Raises ZugwerkError: a file is missing."""
    files = BoardFiles(board.size)
    missing = f"{GAMES}: no game of the best player; `dvc repro growing_evaluate` plays them"
    games = [record for record in read_records(GAMES) if record.event == HEADLINE]
    record = draw_game(games, ply, rng, missing)
    (ply,) = within([ply], record)
    state, panels = state_of(record, ply), []
    if board.before:
        carried = ZeroView(check_model(files.model(0), "growing_board"), 1).view(state)
        label = f"the {board.before}x{board.before} board's net, carried over"
        panels.append(panel_of(state, record, ply, label, carried.policy, carried.win_rate))
    view = ZeroView(check_model(files.best, "growing_board"), simulations).view(state)
    panels.append(panel_of(state, record, ply, "the final net", view.policy, view.win_rate))
    panels.append(searched(state, record, ply, "the final net, ", view, simulations))
    title = f"{board.size}x{board.size} after {ply} stones, {panels[0].to_play} to move"
    caption = "A game of the evaluation. Percentages on empty points are the policies of the net before and after its "
    caption += "training on this board, and the search's shares of visits. The move played is outlined in red."
    return [example_of("growing", f"growing-ply-{ply}", title, caption, panels)]

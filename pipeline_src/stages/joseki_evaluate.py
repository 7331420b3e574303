"""Stage joseki_evaluate: accuracy of the recommender on held-out games, and a comparison of both look-ups.

Reads ``artifacts/records/joseki/games.parquet`` and builds a library of some of the games as ``joseki_build`` does; of
copies of a game the first one counts. Writes, under ``artifacts/reports/joseki/``, the metrics ``evaluate.json``, the
accuracy by move number ``accuracy.csv``, the recommendations for a position of a held-out game ``recommend.csv`` and
``recommend.svg``, and the times ``evaluate.timings.json``.
"""

from collections.abc import Iterator
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.score import rate
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json, write_table, written_aside
from pipeline_src.games.go import initial_state, play_actions
from pipeline_src.games.go.board import copy_state
from pipeline_src.project.params import load, load_value
from pipeline_src.records.record import GameRecord, each_record
from pipeline_src.report.joseki_board import board_svg, recommendation_rows
from pipeline_src.systems.joseki.accuracy import (
    ask,
    compare,
    first_copies,
    is_held_out,
    number_rows,
    rates,
    spread,
    timings,
)
from pipeline_src.systems.joseki.corners import BOARD, each_steps
from pipeline_src.systems.joseki.library import Library, prune
from pipeline_src.systems.joseki.params import JosekiBuildParams, JosekiEvaluateParams
from pipeline_src.systems.joseki.recommend import code_index, recommend

GAMES = Path("artifacts/records/joseki/games.parquet")
REPORTS = Path("artifacts/reports/joseki")
WORK = Path("work/joseki_evaluate")
SHOWN = 12  # Recommendations in the table and on the picture


def main() -> None:
    """Load params, split, build, ask, write.

    Raises:
        ZugwerkError: bad params, or too few games.
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
    }
    metrics["lookups"] = {
        "found": rate(compared.found, compared.asked).as_metrics(),
        "found_by_paper": rate(compared.found_by_paper, compared.asked).as_metrics(),
        "strangers_by_paper": rate(compared.strangers, compared.named_by_paper).as_metrics(),
    }
    write_json(REPORTS / "evaluate.json", metrics)
    show(prune(tested.whole, build.fewest_games), next(games(True)), params.shown_ply)
    write_json(REPORTS / "evaluate.timings.json", timings(tested.whole, index, positions))


def show(library: Library, record: GameRecord, ply: int) -> None:
    """The recommendations for a position of a game, as a table and as a picture."""
    state = copy_state(initial_state(BOARD, record.variant))
    actions = np.array(record.actions[:ply], np.int32)
    played = play_actions(state, actions, np.empty((len(actions) + 1, BOARD, BOARD), np.int8))
    found = recommend(library, state)
    write_table(REPORTS / "recommend.csv", recommendation_rows(found[:SHOWN]))
    title = (
        f"{'White' if state.turn[0] else 'Black'} to move after {played} plies: how often each move was played, in %"
    )
    last = int(actions[played - 1]) if played else -1
    with written_aside(REPORTS / "recommend.svg") as aside:
        text = board_svg(state.board, [one for one in found if one.actions][:SHOWN], last, title)
        aside.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run_main(main)

"""Stage gomoku_evaluate: the published tables, the headline matches and the ratings of Gomoku's generations.

Reads the outputs of the generations of params.yaml: ``artifacts/models/gomoku/NN/{model,best}.pt`` and
``artifacts/reports/gomoku/generations/NN.{json,csv}``. Writes the games ``artifacts/records/gomoku/matches.parquet``
and, under ``artifacts/reports/gomoku/``, the metrics ``evaluate.json``, ``table1.csv`` to ``table4.csv``, ``elo.csv``,
``losses.csv``, and the last game of the match against the strongest opponent, ``game.svg``.

A run after a kill plays only the missing games: finished ones are kept under ``work/``.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src import streams
from pipeline_src.arena.game import PlayedGame
from pipeline_src.arena.journal import Journal, stage_journal
from pipeline_src.arena.match import BestOf, Pairing, Rules, pairings, records
from pipeline_src.arena.result import Match, Rating, first_side_share, rate_players
from pipeline_src.arena.runner import Board
from pipeline_src.arena.score import rate
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, read_table, write_json, write_table, written_aside
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import FILES
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_part, load_value
from pipeline_src.records.record import write_records
from pipeline_src.report.board_picture import LAST, STONES, BoardPicture
from pipeline_src.systems.gomoku_zero import evaluation as tables
from pipeline_src.systems.gomoku_zero.evaluation import gomoku_event
from pipeline_src.systems.gomoku_zero.files import GenerationFiles
from pipeline_src.systems.gomoku_zero.params import BEST, GomokuBoard, GomokuEvaluateParams, read_numbers

REPORTS = Path("artifacts/reports/gomoku")
GAMES = Path("artifacts/records/gomoku/matches.parquet")
WORK = Path("work/gomoku_evaluate")


class Outcome(NamedTuple):
    """All matches."""

    tables: dict[str, list[Match]]  # Matches of pairs by their purpose
    best_of: list[BestOf]  # Matches of table 4, which end when they are decided

    @property
    def matches(self) -> list[Match]:
        """All matches of pairs."""
        return [match for matches in self.tables.values() for match in matches]

    @property
    def games(self) -> list[tuple[str, list[PlayedGame]]]:
        """All games by purpose."""
        found = [(table, match.games) for table, matches in self.tables.items() for match in matches]
        return found + [("table4", match.games) for match in self.best_of]


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, a model or report of a generation is missing, or a text that names no player.
    """
    params, game = load(GomokuEvaluateParams, "gomoku_evaluate"), load_part(GomokuBoard, "gomoku_game")
    seed, parallel, numbers = load_value(int, "seed"), load(Parallel, "parallel"), read_numbers()
    reports = {number: read_json(GenerationFiles(number).report) for number in numbers}
    curves = {number: read_table(GenerationFiles(number).curves, tables.LOSSES) for number in numbers}
    board = Board(gomoku.NAME, game.size, game.variant)
    with stage_journal(WORK, "pipeline_src.stages.gomoku_evaluate", {}) as journal:
        outcome = play(params, board, numbers, seed, parallel, journal)
    champion = max((number for number in numbers if reports[number]["gate"]["accepted"]), default=None)
    ratings = rate_all(outcome, params, champion)
    write_tables(reports, [str(number) for number in params.rated(numbers)], outcome, ratings, params)
    write_table(REPORTS / "losses.csv", tables.loss_rows(curves))
    write_json(REPORTS / "evaluate.json", metrics(outcome, params, len(numbers), champion, ratings))
    last = outcome.tables["headline"][-1]
    shown = last.games[-1]
    with written_aside(REPORTS / "game.svg") as aside:
        title = f"{params.opponents[last.b].player} (black) against generation {numbers[-1]}: {shown.winner}"
        aside.write_text(_board_svg(shown.actions, game.size, title), encoding="utf-8")
    write_records(records(board, outcome.games), GAMES)
    shutil.rmtree(WORK)


def texts(params: GomokuEvaluateParams, numbers: list[int]) -> dict[str, str]:
    """The players' texts by name."""
    models = {str(number): GenerationFiles(number).model for number in params.rated(numbers)}
    best = GenerationFiles(numbers[-1]).best
    for path in (*models.values(), best):
        if not path.is_file():
            raise ZugwerkError(f"{path}: no such model; `python -m pipeline_src.stages.gomoku_cycle` makes it")
    opponents = {name: opponent.player for name, opponent in params.opponents.items()}
    return {name: params.model_text(path) for name, path in models.items()} | {BEST: params.best_text(best)} | opponents


def play(
    params: GomokuEvaluateParams, board: Board, numbers: list[int], seed: int, parallel: Parallel, journal: Journal
) -> Outcome:
    """All matches, or those that remain."""
    event = gomoku_event(
        texts(params, numbers),
        board,
        params.openings,
        [seed, streams.GOMOKU_EVALUATE],
        parallel,
        journal,
    )
    names = [str(number) for number in params.rated(numbers)]
    plan = [Pairing("headline", BEST, name, opponent.pairs) for name, opponent in params.opponents.items()]
    for name in names:
        plan += [Pairing("table3", name, other, params.table3_games // 2) for other in params.tables_against]
        plan.append(Pairing("anchor", name, params.anchor, params.anchor_pairs))
    plan += [Pairing("table2", a, b, params.table2_games // 2) for a, b in pairings(names)]
    found: dict[str, list[Match]] = {name: [] for name in ("table2", "table3", "headline", "anchor")}
    for pairing, match in zip(plan, event.play(plan), strict=True):
        found[pairing.table].append(match)
    meetings = [(name, other) for name in names for other in params.tables_against]
    return Outcome(found, event.play_best_of("table4", meetings, Rules(params.best_of, params.replays)))


def rate_all(outcome: Outcome, params: GomokuEvaluateParams, champion: int | None) -> dict[str, Rating]:
    """Ratings by name, of all matches but those of table 4.

    The best player is the model of the last generation that passed its gate, so their games count together, unless it
    has options of its own.
    """
    same = {BEST: str(champion)} if champion is not None and not params.headline_options else {}
    results = [match.standing.result(same.get(match.a, match.a), match.b) for match in outcome.matches]
    ratings = rate_players(results, params.anchor)
    return ratings | {name: ratings[other] for name, other in same.items()}


def write_tables(
    reports: dict[int, dict[str, Any]],
    names: list[str],
    outcome: Outcome,
    ratings: dict[str, Rating],
    params: GomokuEvaluateParams,
) -> None:
    """All CSV files."""
    rules = Rules(params.best_of, params.replays)
    write_table(REPORTS / "table1.csv", tables.gate_rows(reports))
    write_table(REPORTS / "table2.csv", tables.round_robin_rows(names, outcome.tables["table2"]))
    write_table(REPORTS / "table3.csv", tables.opponent_rows(outcome.tables["table3"]))
    write_table(REPORTS / "table4.csv", tables.best_of_rows(outcome.best_of, rules))
    write_table(REPORTS / "elo.csv", tables.elo_rows(names, ratings))


def metrics(
    outcome: Outcome, params: GomokuEvaluateParams, generations: int, champion: int | None, ratings: dict[str, Rating]
) -> dict[str, Any]:
    """The headline figures; ``best_of_five_won`` is the share of the rated models that won all their matches.

    With matches of another length it is left out.
    """
    rules = Rules(params.best_of, params.replays)
    won: dict[str, bool] = {}
    for match in outcome.best_of:
        won[match.a] = won.get(match.a, True) and match.won(rules) is True
    games = [game for _, some in outcome.games for game in some]
    return {
        **{f"score_vs_{match.b}": match.score.as_metrics() for match in outcome.tables["headline"]},
        **({"best_of_five_won": rate(sum(won.values()), len(won)).as_metrics()} if params.best_of == 5 else {}),
        "elo_last": ratings[BEST].as_metrics(),
        "generations": generations,
        "last_accepted": champion or 0,
        "games": len(games),
        "first_side_score": first_side_share(games),
        "mean_plies": sum(len(game.actions) for game in games) / len(games),
        "illegal": sum(game.ended != "board" for game in games),
    }


def _board_svg(actions: Sequence[int], size: int, title: str = "") -> str:
    """Return the position after the actions (row * size + column, row 0 the top, Black first) as SVG.

    The last stone has a red number.
    """
    picture = BoardPicture(size, FILES)
    for number, action in enumerate(actions, 1):
        side = (number - 1) % 2
        picture.piece(action, side)
        picture.text(action, str(number), LAST if number == len(actions) else STONES[1 - side])
    return picture.svg(title)


if __name__ == "__main__":
    run_main(main)

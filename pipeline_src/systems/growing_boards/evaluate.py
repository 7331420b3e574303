"""Strength of the largest board's models by generation."""

import shutil
from pathlib import Path

from pipeline_src import streams
from pipeline_src.arena.journal import stage_journal
from pipeline_src.arena.runner import Board, Pairing, records
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, read_table, write_json, write_table
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.records.record import write_records
from pipeline_src.systems.gomoku_zero import player
from pipeline_src.systems.gomoku_zero.evaluate import gomoku_event
from pipeline_src.systems.growing_boards.params import CURVE, BoardFiles, GrowingEvaluateParams, read_boards

REPORTS = Path("artifacts/reports/growing")
GAMES = Path("artifacts/records/growing/matches.parquet")
WORK = Path("work/growing_evaluate")
BEST, OPPONENT = "best", "opponent"
CHUNK = 8  # Batch size of the models' nets, for games in lock step


def main() -> None:
    """Stage growing_evaluate: the strength of the largest board's models by generation.

    Reads what growing_board left of every board. Writes the games of the matches and, under
    ``artifacts/reports/growing/``, the metrics ``evaluate.json``, ``strength.csv`` (scores by computing) and
    ``losses.csv`` (a row a generation of every board). A run after a kill plays only the missing games: finished ones
    are kept under ``work/``.
    """
    params, parallel = load(GrowingEvaluateParams, "growing_evaluate"), load(Parallel, "parallel")
    seed = load_value(int, "seed")
    boards = read_boards()
    board, files = boards[-1], BoardFiles(boards[-1].size)
    curves = {one.size: read_table(BoardFiles(one.size).curve, CURVE) for one in boards}
    before = int(read_json(BoardFiles(board.before).report)["multiply_adds_in_all"]) if board.before else 0
    spent = {0: before} if board.before else {}
    spent |= {int(float(row["generation"])): int(float(row["multiply_adds_in_all"])) for row in curves[board.size]}
    rated = [number for number in spent if number % params.every == 0 or number == max(spent)]
    models = {BEST: files.best, **{str(number): files.model(number) for number in rated}}
    texts = {OPPONENT: params.opponent, **{name: _text(path, params) for name, path in models.items()}}
    on, stream = Board(gomoku.NAME, board.size, board.variant), [seed, streams.GROWING_EVALUATE]
    with stage_journal(WORK, __name__, {}) as journal:
        event = gomoku_event(texts, on, params.openings, stream, parallel, journal)
        pairings = [Pairing("rated", str(number), OPPONENT, params.rated_pairs) for number in rated]
        best, *others = event.play([Pairing("headline", BEST, OPPONENT, params.pairs), *pairings])
    write_table(REPORTS / "losses.csv", [{"size": size, **row} for size, rows in curves.items() for row in rows])
    scores = zip(rated, (match.score.as_metrics() for match in others), strict=True)
    rows = [{"generation": number, "multiply_adds": spent[number], **score} for number, score in scores]
    write_table(REPORTS / "strength.csv", rows)
    reports = {str(one.size): read_json(BoardFiles(one.size).report) for one in boards}
    write_json(
        REPORTS / "evaluate.json",
        {
            "sizes": len(boards),
            "largest": board.size,
            "score_vs_mcts1000": best.score.as_metrics(),
            "generations": sum(report["generations"] for report in reports.values()),
            "multiply_adds_in_all": spent[max(spent)],
        },
    )
    write_records(records(on, [("headline", best.games), *(("rated", match.games) for match in others)]), GAMES)
    shutil.rmtree(WORK)


def _text(model: Path, params: GrowingEvaluateParams) -> str:
    if not model.is_file():
        raise ZugwerkError(f"{model}: no such model; `dvc repro growing_board` makes it")
    return f"{player.NAME}:{model},simulations={params.simulations},chunk={CHUNK}"

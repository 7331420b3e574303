"""Matches of Gomoku's generations: the published tables, the headline matches, ratings, and calibration."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pipeline_src.systems.gomoku_zero.player  # noqa: F401 - the texts of models name it
from pipeline_src import streams
from pipeline_src.arena.calibration import calibration_stage
from pipeline_src.arena.game import PlayedGame, balanced_openings, central_cells, quick_games
from pipeline_src.arena.journal import Journal, stage_journal
from pipeline_src.arena.result import Match, Rating, first_side_share, rate_players
from pipeline_src.arena.runner import BestOf, Board, Event, Pairing, Rules, cross_table, pairings, records
from pipeline_src.arena.score import rate
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import Row, read_json, read_table, write_json, write_table, written_aside
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import FILES
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_part, load_value
from pipeline_src.records.record import write_records
from pipeline_src.report.board_picture import LAST, STONES, BoardPicture
from pipeline_src.systems.gomoku_zero.params import (
    BEST,
    GenerationFiles,
    GomokuBoard,
    GomokuEvaluateParams,
    GomokuOpenings,
    read_numbers,
)

REPORTS = Path("artifacts/reports/gomoku")
GAMES = Path("artifacts/records/gomoku/matches.parquet")
WORK = Path("work/gomoku_evaluate")
LOSSES = ("step", "policy_loss", "value_loss")  # Columns of a generation's learning curve that `loss_rows` reads


def main() -> None:
    """Stage gomoku_evaluate: the published tables, the headline matches and the ratings of Gomoku's generations.

    Reads the outputs of the generations of params.yaml: ``artifacts/models/gomoku/NN/{model,best}.pt`` and
    ``artifacts/reports/gomoku/generations/NN.{json,csv}``. Writes the games of the matches and, under
    ``artifacts/reports/gomoku/``, the metrics ``evaluate.json``, ``table1.csv`` to ``table4.csv``, ``elo.csv``,
    ``losses.csv``, and the last game of the match against the strongest opponent, ``game.svg``. A run after a kill
    plays only the missing games: finished ones are kept under ``work/``.

    Raises:
        ZugwerkError: bad params, a model or report of a generation is missing, or a text that names no player.
    """
    params, game = load(GomokuEvaluateParams, "gomoku_evaluate"), load_part(GomokuBoard, "gomoku_game")
    seed, parallel, numbers = load_value(int, "seed"), load(Parallel, "parallel"), read_numbers()
    reports = {number: read_json(GenerationFiles(number).report) for number in numbers}
    curves = {number: read_table(GenerationFiles(number).curves, LOSSES) for number in numbers}
    board = Board(gomoku.NAME, game.size, game.variant)
    with stage_journal(WORK, __name__, {}) as journal:
        outcome = play(params, board, numbers, seed, parallel, journal)
    champion = max((number for number in numbers if reports[number]["gate"]["accepted"]), default=None)
    ratings, names = rate_all(outcome, params, champion), [str(number) for number in params.rated(numbers)]
    for name, rows in {
        "table1": gate_rows(reports),
        "table2": round_robin_rows(names, outcome.tables["table2"]),
        "table3": opponent_rows(outcome.tables["table3"]),
        "table4": best_of_rows(outcome.best_of, Rules(params.best_of, params.replays)),
        "elo": elo_rows(names, ratings),
        "losses": loss_rows(curves),
    }.items():
        write_table(REPORTS / f"{name}.csv", rows)
    write_json(REPORTS / "evaluate.json", metrics(outcome, params, len(numbers), champion, ratings))
    last = outcome.tables["headline"][-1]
    shown = last.games[-1]
    with written_aside(REPORTS / "game.svg") as aside:
        title = f"{params.opponents[last.b].player} (black) against generation {numbers[-1]}: {shown.winner}"
        aside.write_text(_board_svg(shown.actions, game.size, title), encoding="utf-8")
    write_records(records(board, outcome.games), GAMES)
    shutil.rmtree(WORK)


def calibrate() -> None:
    """Stage gomoku_calibration: whether the best player's win rates are right, by its games against itself.

    Reads the best model of the last generation; writes the metrics ``artifacts/reports/gomoku/calibration.json`` and
    the reliability curve ``calibration.csv``. Killed and run again, it plays only the missing games.

    Raises:
        ZugwerkError: bad params, or no or a damaged model.
    """
    game, model = load_part(GomokuBoard, "gomoku_game"), GenerationFiles(read_numbers()[-1]).best
    board = Board(gomoku.NAME, game.size, game.variant)
    calibration_stage(board, model, REPORTS, __name__, load(Parallel, "parallel"))


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


def texts(params: GomokuEvaluateParams, numbers: list[int]) -> dict[str, str]:
    """The players' texts by name."""
    models = {str(number): GenerationFiles(number).model for number in params.rated(numbers)}
    best = GenerationFiles(numbers[-1]).best
    for path in (*models.values(), best):
        if not path.is_file():
            raise ZugwerkError(
                f"{path}: no such model; `python -m pipeline_src.stage systems.gomoku_zero.self_play:cycle` makes it"
            )
    opponents = {name: opponent.player for name, opponent in params.opponents.items()}
    return {name: params.model_text(path) for name, path in models.items()} | {BEST: params.best_text(best)} | opponents


def play(
    params: GomokuEvaluateParams, board: Board, numbers: list[int], seed: int, parallel: Parallel, journal: Journal
) -> Outcome:
    """All matches, or those that remain."""
    stream = [seed, streams.GOMOKU_EVALUATE]
    event = gomoku_event(texts(params, numbers), board, params.openings, stream, parallel, journal)
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


def rate_all(outcome: Outcome, params: GomokuEvaluateParams, champion: int | None) -> dict[str, Rating]:
    """Ratings by name, of all matches but those of table 4.

    The best player is the model of the last generation that passed its gate, so their games count together, unless it
    has options of its own.
    """
    same = {BEST: str(champion)} if champion is not None and not params.headline_options else {}
    results = [match.standing.result(same.get(match.a, match.a), match.b) for match in outcome.matches]
    ratings = rate_players(results, params.anchor)
    return ratings | {name: ratings[other] for name, other in same.items()}


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


def gate_rows(reports: Mapping[int, Mapping[str, Any]]) -> list[Row]:
    """Table 1: each generation against the best player before it, from the reports by generation."""
    rows: list[Row] = []
    for number, report in reports.items():
        gate = report["gate"]
        counts = {name: gate[name] for name in ("wins", "draws", "losses")}
        rows.append({"generation": number, **counts, "score": gate["score"]["value"], "accepted": gate["accepted"]})
    return rows


def round_robin_rows(names: Sequence[str], matches: Iterable[Match]) -> list[Row]:
    """Table 2 in long form: a row for each player and opponent, and one with the opponent ``all``."""
    standings = {(match.a, match.b): match.standing for match in matches}
    return [
        {"generation": name, "opponent": other, **standing.row()}
        for name, other, standing in cross_table(names, standings)
    ]


def opponent_rows(matches: Iterable[Match]) -> list[Row]:
    """Table 3: each model against players that learn nothing, with the score's 95 % interval."""
    return [
        {"generation": match.a, "opponent": match.b, **match.standing.row()}
        | {"score": match.score.value, "low": match.score.low, "high": match.score.high}
        for match in matches
    ]


def best_of_rows(matches: Iterable[BestOf], rules: Rules) -> list[Row]:
    """Return table 4: best-of matches; ``won`` is also 0 for a match without a winner."""
    return [
        {"generation": match.a, "opponent": match.b, **vars(match.standing), "won": int(match.won(rules) is True)}
        for match in matches
    ]


def elo_rows(names: Iterable[str], ratings: Mapping[str, Rating]) -> list[Row]:
    """Elo by generation with its 95 % interval."""
    return [
        {"generation": name, "elo": ratings[name].elo, "low": ratings[name].low, "high": ratings[name].high}
        for name in names
    ]


def loss_rows(curves: Mapping[int, Sequence[Mapping[str, str]]]) -> list[Row]:
    """Figure 6: the losses over all iterations, from the learning curves by generation.

    ``iteration`` counts the steps of all generations; ``mean`` is that of the two losses.
    """
    rows: list[Row] = []
    before = 0.0
    for number, curve in curves.items():
        for entry in curve:
            policy, value = float(entry["policy_loss"]), float(entry["value_loss"])
            iteration = int(before + float(entry["step"]))
            losses = {"policy": policy, "value": value, "mean": (policy + value) / 2}
            rows.append({"generation": number, "iteration": iteration, **losses})
        before += float(curve[-1]["step"]) if curve else 0.0
    return rows


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

"""Whether the win rates of a net are right: it plays against itself, and each prediction is compared with the result.

In games between equals the side to move wins half the points over all turns, so a net that knows nothing scores a
Brier of 0.25 by always saying one half; one that does worse, or calls both sides of a game the likely winner, is wrong.
Only the first half of each game counts: most results are settled in the second, and being right there hides much.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.arena import runner
from pipeline_src.arena import score as scores
from pipeline_src.arena.game import POINTS, Fixture, PlayedGame, random_openings
from pipeline_src.arena.journal import Journal, stage_journal
from pipeline_src.arena.runner import Board, play_fixtures
from pipeline_src.arena.score import CalibrationBin, CalibrationParams, Score, clustered_mean, clustered_rate
from pipeline_src.files import write_json, write_table
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.search.mcts.puct_trees import EvaluateBatch, PuctTrees

CONSTANT = 0.25  # Brier score of always predicting one half
MOST_BIAS, MOST_AT_START = 0.1, 0.2
"""Largest distance of the mean prediction from the points scored, and of the two sides' win rates at the start, added,
from 1."""
SEARCHES = {"amazons": "puct", "gomoku": "zero"}  # Player that searches with a net, by game
OPENING_PLIES = 2  # Random plies before the net plays, so that games differ
ROWS = 64  # Positions that a net sees together
Floats = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Calibration:
    """Win rates of the side to move by a net alone, without a search, and the points of that side."""

    games: int
    scored: Score  # Points of the side to move over the turns
    brier: Score  # Mean squared error of the win rates
    bias: Score  # Mean win rate less points scored
    start: tuple[float, float]
    """Win rates of the first side at the start, and of the second side after the first one's move."""
    bins: tuple[CalibrationBin, ...]  # The reliability curve

    @property
    def predicted(self) -> float:
        """Mean win rate over the turns."""
        return self.scored.value + self.bias.value

    def faults(self) -> list[str]:
        """Describe the fault of the win rates; empty if they can be shown to a user."""
        found = []
        if not self.brier.low <= CONSTANT:
            found.append(f"its Brier score is {self.brier.value:.3f}, that of always saying one half {CONSTANT}")
        if abs(self.bias.value) > MOST_BIAS:
            found.append(f"it predicts {self.predicted:.3f} for the side to move, which scored {self.scored.value:.3f}")
        if abs(sum(self.start) - 1) > MOST_AT_START:
            first, second = self.start
            found.append(f"at the start the two sides' win rates are {first:.3f} and {second:.3f}, not 1 together")
        return found

    def as_metrics(self) -> dict[str, Any]:
        """Return the figures for a metrics file."""
        return {
            "value_brier": self.brier.as_metrics(),
            "value_bias": self.bias.as_metrics(),
            "start_first": self.start[0],
            "start_second": self.start[1],
            "games": self.games,
        }


def measure_calibration(
    board: Board, model: Path, params: CalibrationParams, seed: int, parallel: Parallel, journal: Journal | None = None
) -> Calibration:
    """Let the search with a net play against itself, once from the start and once from each random opening.

    The games depend on the net, the params and the ``seed``; a ``journal`` keeps those that are finished.

    Raises:
        ZugwerkError: no such model, or it plays on another board.
    """
    text, stream = f"{SEARCHES[board.game]}:{model},simulations={params.simulations}", (seed, streams.CALIBRATION)
    openings = random_openings(get_game(board.game), board.start(), params.games, OPENING_PLIES, [*stream, 0])
    fixtures = [Fixture(text, text, opening, (*stream, 1, i)) for i, opening in enumerate([(), *openings])]
    played = play_fixtures(board, fixtures, parallel, journal)
    turns = [(*turn, number) for number, game in enumerate(played) for turn in first_half(board, game)]
    states, points, numbers = zip(*turns, strict=True)
    player: Any = runner.player(board.game, text)  # both searches have their `Puct`
    return calibrate(net_win_rates(player.puct.evaluate_batch, states), np.array(points), np.array(numbers))


def calibration_stage(board: Board, model: Path, reports: Path, module: str, parallel: Parallel) -> None:
    """Measure by the params of the checkout and write ``calibration.json`` and ``.csv`` into the folder ``reports``.

    ``module`` is the stage's, whose code the finished games depend on. Errors are those of `measure_calibration`.
    """
    params, work = load(CalibrationParams, "calibration"), Path("work") / f"{reports.name}_calibration"
    with stage_journal(work, module, {}) as journal:
        found = measure_calibration(board, model, params, load_value(int, "seed"), parallel, journal)
    write_table(reports / "calibration.csv", scores.calibration_rows(found.bins))
    write_json(reports / "calibration.json", found.as_metrics())
    shutil.rmtree(work)


def first_half(board: Board, game: PlayedGame) -> list[tuple[Any, float]]:
    """Return the positions after a game's opening up to half its turns, each with the points of its side to move."""
    rules, opening = get_game(board.game), game.fixture.opening
    state, found = reduce(rules.play, opening, board.start(game.fixture.start)), []
    turns = game.actions[len(opening) :]
    for action in turns[: -(-len(turns) // 2)]:
        found.append((state, POINTS[game.winner][rules.to_play(state)]))
        state = rules.play(state, action)
    return found


def calibrate(win_rates: Floats, points: Floats, games: npt.NDArray[np.integer]) -> Calibration:
    """Compare win rates with points, each [T] and of the side to move, in ``games`` [T].

    The first two turns are the start of a game without an opening.
    """
    return Calibration(
        games=len(np.unique(games)),
        scored=clustered_rate(points, games),
        brier=clustered_mean((win_rates - points) ** 2, games),
        bias=clustered_mean(win_rates - points, games),
        start=(float(win_rates[0]), float(win_rates[1])),
        bins=tuple(scores.reliability(win_rates, points, games)),
    )


def net_win_rates(evaluate: EvaluateBatch, states: Sequence[Any]) -> npt.NDArray[np.float64]:
    """Return the win rates, float64 [T], of the sides to move in unfinished positions of one board, by a net alone."""
    rows = min(ROWS, len(states))
    trees, found = PuctTrees(states[0], rows, evaluate, nodes=1), np.empty(len(states))
    for at in range(0, len(states), rows):
        some = states[at : at + rows]
        targets = np.full(rows, -1, np.int32)
        targets[: len(some)] = 0
        for g, state in enumerate(some):
            trees.plant(g, state)
        trees.simulate(targets)
        found[at : at + rows] = [(1 + trees.raw_value(g)) / 2 for g in range(len(some))]
    return np.clip(found, 0, 1)

"""Win rates of nets against the results of their games against themselves."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline_src.arena import runner
from pipeline_src.arena.calibration import (
    Calibration,
    calibrate,
    first_half,
    measure_calibration,
    net_win_rates,
)
from pipeline_src.arena.game import Fixture, PlayedGame
from pipeline_src.arena.runner import Board
from pipeline_src.arena.score import CalibrationParams, calibration_rows, clustered_rate, reliability
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel
from pipeline_src.systems.amazons_net.nets import save_nets
from pipeline_src.systems.gomoku_zero.models import save_model
from tests.players.positions import small_nets, small_residual
from tests.systems.gomoku_zero.nets import SMALL, fresh

FEW = CalibrationParams(games=4, simulations=4)
ONE = Parallel(workers=1)
GAMES, POINTS = np.array([7, 7, 7, 9, 9, 9]), np.array([1, 0, 1, 0, 1, 0])


def test_reliability_by_hand():
    bins = reliability(np.array([0.0, 0.04, 0.31, 0.39, 0.35, 1.0]), POINTS, GAMES)
    assert [(b.predicted, b.observed.value, b.observed.n) for b in bins] == [
        (pytest.approx(0.02), 0.5, 2),
        (pytest.approx(0.35), pytest.approx(2 / 3), 3),
        (1.0, 0.0, 1),
    ]
    assert bins[1].observed == clustered_rate([1, 0, 1], [7, 9, 9])
    (row,) = calibration_rows(reliability(np.full(6, 0.25), POINTS, GAMES))
    assert list(row) == ["predicted", "observed", "low", "high", "turns"]
    assert (row["predicted"], row["observed"], row["turns"]) == (0.25, 0.5, 6)


def test_well_calibrated_forecaster_has_no_calibration_error():
    rng = np.random.default_rng(2)
    win_rate = rng.random(50_000)
    points, games = rng.random(50_000) < win_rate, np.arange(50_000)
    found = calibrate(win_rate, points, games)
    assert len(found.bins) == 10
    assert sum(b.observed.n for b in found.bins) == 50_000
    assert sum(b.observed.low <= b.predicted <= b.observed.high for b in found.bins) >= 8
    assert found.brier.value == pytest.approx(1 / 6, abs=0.005)
    assert abs(found.bias.value) < 0.01
    assert replace(found, start=(0.7, 0.35)).faults() == []


def some(win_rates, points):
    return calibrate(np.array(win_rates), np.array(points), np.repeat(np.arange(len(points) // 4), 4))


def test_each_kind_of_miscalibration_is_reported():
    games = [1, 0, 1, 0] * 20, [1, 0, 1, 0, 0, 1, 0, 1] * 40
    assert some([0.5] * 80, games[0]).faults() == []
    brier, bias, start = some([0.8] * 80, games[0]).faults()
    assert brier == "its Brier score is 0.340, that of always saying one half 0.25"
    assert bias == "it predicts 0.800 for the side to move, which scored 0.500"
    assert start == "at the start the two sides' win rates are 0.800 and 0.800, not 1 together"
    (brier,) = some([0.9, 0.1, 0.9, 0.1] * 80, games[1]).faults()
    assert brier == "its Brier score is 0.410, that of always saying one half 0.25"


def test_first_half_excludes_opening_and_takes_view_of_mover():
    board, state, actions = Board("amazons", 6), amazons.initial_state(6), []
    for _ in range(7):
        actions.append(int(amazons.legal_actions(state)[0]))
        state = amazons.play(state, actions[-1])
    game = PlayedGame(Fixture("a", "b", tuple(actions[:2]), (1,)), tuple(actions), "second")
    found = first_half(board, game)
    assert [(amazons.to_play(state), points) for state, points in found] == [(0, 0.0), (1, 1.0), (0, 0.0)]
    after = amazons.initial_state(6)
    for action in actions[:2]:
        after = amazons.play(after, action)
    assert np.array_equal(found[0][0].board, after.board)


@pytest.fixture
def models(tmp_path):
    save_nets(tmp_path / "nets.pt", small_residual(6))
    save_nets(tmp_path / "published.pt", small_nets(6))
    save_model(tmp_path / "zero.pt", fresh(SMALL["residual"]), variant="exact")
    return tmp_path


CASES = [("amazons", None, "nets.pt"), ("amazons", None, "published.pt"), ("gomoku", "exact", "zero.pt")]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("game", "variant", "name"), CASES)
def test_calibration_on_own_games_is_reproducible(models, game, variant, name, workers):
    board = Board(game, 6, variant)
    found = measure_calibration(board, models / name, FEW, 3, ONE)
    assert isinstance(found, Calibration)
    assert found.games == 5
    assert found == measure_calibration(board, models / name, FEW, 3, Parallel(workers=workers))
    assert found != measure_calibration(board, models / name, FEW, 4, ONE)
    start = board.start()
    player = runner.player(game, f"{'puct' if game == 'amazons' else 'zero'}:{models / name},simulations=4")
    assert found.start[0] == net_win_rates(player.puct.evaluate_batch, [start])[0]
    assert 0 < found.start[0] < 1
    assert found.bias.value == pytest.approx(found.predicted - found.scored.value)
    weighed = [(part.predicted, part.observed.n) for part in found.bins]
    assert found.predicted == pytest.approx(sum(p * n for p, n in weighed) / sum(n for _, n in weighed))


def test_batched_win_rates_equal_single_ones(models):
    state, states = amazons.initial_state(6), []
    while amazons.winner(state) is None:
        states.append(state)
        state = amazons.play(state, int(amazons.legal_actions(state)[-1]))
    evaluate = runner.player("amazons", f"puct:{models / 'published.pt'},simulations=4").puct.evaluate_batch
    together = net_win_rates(evaluate, states * 9)
    assert together.tolist() == [float(net_win_rates(evaluate, [state])[0]) for state in states] * 9


def test_net_for_other_board_size_is_refused(models):
    with pytest.raises(ZugwerkError, match="8x8 board, but this model plays on 6x6"):
        measure_calibration(Board("gomoku", 8, "exact"), models / "zero.pt", FEW, 3, ONE)

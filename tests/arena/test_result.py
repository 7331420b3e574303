"""Results: matches, scores, ratings, the sequential test, and whether win rates are right."""

import dataclasses
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src.arena import runner
from pipeline_src.arena.calibration import calibrate, first_half, measure_calibration, net_win_rates
from pipeline_src.arena.game import Fixture, PlayedGame
from pipeline_src.arena.result import SCALE, Match, Rating, Result, Sprt, expected_score, rate_players
from pipeline_src.arena.runner import Board
from pipeline_src.arena.score import (
    CalibrationParams,
    Score,
    calibration_rows,
    clustered_mean,
    clustered_rate,
    elo,
    pair_score,
    rate,
    reliability,
    wilson,
)
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel
from pipeline_src.systems.amazons_net.nets import save_nets
from pipeline_src.systems.gomoku_zero.models import save_model
from tests.players.positions import small_nets, small_residual
from tests.systems.gomoku_zero.small import SMALL, fresh

FIXTURE = Fixture("A", "B", (), ())


def test_points_go_to_the_right_player():
    ends = [("first",), ("second",), ("draw",), ("first", "illegal"), ("second", "illegal"), ("second",)]
    games = [PlayedGame(FIXTURE, (k,), *end) for k, end in enumerate(ends)]  # a moves first in even games
    match = Match.of("a", "b", games)
    assert match.games == games
    assert match.points == [(1.0, 1.0), (0.5, 0.0), (0.0, 1.0)]
    assert (match.standing.wins, match.standing.draws, match.standing.losses) == (3, 1, 2)
    assert (match.forfeits(0), match.forfeits(1)) == ({"illegal": 2}, {})
    assert match.score.value == pytest.approx(3.5 / 6)
    both = Match.of("a", "b", [PlayedGame(FIXTURE, (1,), "first", "illegal")] * 2)
    assert (both.forfeits(0).total(), both.forfeits(1).total()) == (1, 1)


def test_a_match_counts_for_the_right_player():
    def game(winner, times, ended="board", mover=0):
        fixture = dataclasses.replace(FIXTURE, opening=(1,) * mover)
        return PlayedGame(fixture, (1,) * (len(times) + mover), winner, ended, "", mover, times)

    played = {
        2: (game("second", (7.0, 30.0), "time"), game("second", (40.0, 9.0), "crash", 1)),
        0: (game("first", (1.0, 10.0, 3.0)), game("second", (20.0, 5.0))),
    }
    match = Match("a", "b", played, sprt=Sprt(0, 10))
    assert (match.standing.wins, match.standing.draws, match.standing.losses) == (3, 0, 1)
    assert match.pentanomial == (0, 0, 1, 0, 1)
    a, b = match.side(0), match.side(1)
    assert (a.mean_ms, a.max_ms) == (pytest.approx((1 + 3 + 5 + 7 + 40) / 5), 40)
    assert (b.mean_ms, b.max_ms) == (pytest.approx((10 + 20 + 30 + 9) / 4), 30)
    assert (a.first_max_ms, b.first_max_ms) == (40, 30)
    assert (a.moves_per_game, b.moves_per_game) == (5 / 4, 1)
    assert (a.forfeits, b.forfeits) == ({"time": 1}, {"crash": 1})
    assert match.first_side_score == 0.25
    assert match.test.pairs == 1  # pair 1 is missing, so that 2 cannot count yet
    found = json.loads(json.dumps(match.as_json(), allow_nan=False))
    assert found["sides"]["a"]["forfeits"] == {"time": 1}
    assert (found["games"], found["wins"], found["sprt"]["pairs"]) == (4, 3, 1)


@pytest.mark.parametrize(
    ("games", "words"),
    [
        ([("first", "illegal")] * 3 + [("second", "board")], "3 of 4 games were lost by forfeit by b (3 illegal)"),
        ([("second", "time"), ("second", "crash")], "2 of 2 games were lost by forfeit by a (1 crash, 1 time)"),
        ([("first", "time")] + [("first", "board")] * 3, ""),  # b would have lost without it
        ([("first", "board"), ("second", "board")], ""),
    ],
)
def test_deciding_forfeits_are_reported(games, words):
    def game(number, winner, ended):
        swapped = {"first": "second", "second": "first"}
        return PlayedGame(FIXTURE, (1,), swapped[winner] if number % 2 else winner, ended)  # the winner is a, or b

    match = Match.of("a", "b", [game(number, *one) for number, one in enumerate(games)])
    assert match.by_forfeit == words
    assert match.as_json()["by_forfeit"] == (words or None)


def test_empty_result_has_no_means():
    found = Match("a", "b", {}).as_json()
    means = dict.fromkeys(("mean_ms", "max_ms", "first_max_ms", "moves_per_game"))
    assert found["sides"]["a"] == means | {"forfeits": {}}
    assert (found["first_side_score"], found["plies_per_game"], found["games"]) == (None, None, 0)


def test_the_first_to_move_may_be_the_second_side():
    start = dataclasses.replace(FIXTURE, start="Q1*/q2/*** b", opening=(1, 2, 3))
    games = [PlayedGame(start, (1, 2, 3, 4), winner, mover=0) for winner in ("second", "second")]
    assert Match.of("a", "b", games).first_side_score == 1


def test_a_game_survives_the_journal():
    game = PlayedGame(Fixture("A", "B", (1, 2), (3, 4)), (1, 2, 5), "draw", "time", "x", 1, (1.5,), ((1, 0.5),))
    row = json.loads(json.dumps(dataclasses.asdict(game)))
    assert PlayedGame.from_json(row) == game


@pytest.mark.parametrize(("points", "games"), [(7.5, 10), (20, 20), (0, 3), (5, 10)])
def test_two_players_in_closed_form(points, games):
    """The score with one drawn game more, and the binomial error of its logit."""
    found = rate_players([Result("a", "b", points, games)], "b")
    share = (points + 0.5) / (games + 1)
    assert found["a"].elo == pytest.approx(elo(share), abs=1e-6)
    assert found["a"].error == pytest.approx(1 / (SCALE * math.sqrt((games + 1) * share * (1 - share))))
    assert found["b"] == Rating(0.0, 0.0, games)
    assert rate_players([Result("b", "a", games - points, games)], "b")["a"] == found["a"]


def test_without_virtual_games_a_chain_adds_up():
    """c is known through b alone: the differences add, and so do the variances."""
    found = rate_players([Result("a", "b", 30, 40), Result("b", "c", 24, 40)], "a", virtual=0)
    assert found["b"].elo == pytest.approx(-elo(30 / 40))
    assert found["c"].elo == pytest.approx(-elo(30 / 40) - elo(24 / 40))
    parts = [1 / (SCALE**2 * 40 * p * (1 - p)) for p in (30 / 40, 24 / 40)]
    assert found["c"].error ** 2 == pytest.approx(sum(parts))
    once = rate_players([Result("a", "b", 5, 8)], "b")
    assert rate_players([Result("a", "b", 2, 4), Result("b", "a", 1, 4)], "b") == once


def test_simulated_tournaments_are_covered_by_their_intervals():
    """True ratings lie within the 95 % intervals about that often, and the errors are those that happen."""
    truth = np.array([0.0, -300.0, 150.0, 400.0, 800.0])
    rng, inside, misses, errors = np.random.default_rng(5), [], [], []
    for _ in range(200):
        results = []
        for i in range(5):
            for j in range(i + 1, 5):
                p = 1 / (1 + 10 ** ((truth[j] - truth[i]) / 400))
                results.append(Result(str(i), str(j), float(rng.binomial(40, p)), 40))
        found = rate_players(results, "0")
        for i in range(1, 5):
            rating = found[str(i)]
            inside.append(rating.low <= truth[i] <= rating.high)
            misses.append(rating.elo - truth[i])
            errors.append(rating.error)
    assert 0.92 < np.mean(inside) < 0.98
    assert abs(np.mean(misses)) < 10
    assert np.std(misses) == pytest.approx(np.mean(errors), rel=0.1)


def test_perfect_score_has_large_finite_rating():
    results = [Result(str(i), str(j), 2, 2) for i in range(12) for j in range(i + 1, 12)]
    ratings = [rating.elo for rating in rate_players(results, "11").values()]
    assert ratings == sorted(ratings, reverse=True)
    assert 1000 < ratings[0] < 10_000
    assert all(math.isfinite(one.error) for one in rate_players([Result("a", "b", 10_000, 10_000)], "b").values())


@pytest.mark.parametrize(("results", "complaint"), [
    ([Result("a", "b", 1, 2)], "the anchor 'c' has no games"),
    ([Result("a", "b", 1, 2), Result("c", "d", 1, 2)], "links 'a', 'b' to the anchor 'c'"),
    ([Result("c", "c", 1, 2)], "against itself"),
])  # fmt: skip
def test_unratable_results_are_refused(results, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        rate_players(results, "c")


def test_a_coin_has_its_known_likelihood_ratio():
    """Pairs won or lost as a whole leave no freedom besides the mean: the ratio is the binomial one."""
    sprt = Sprt(0, 100)
    s1 = expected_score(100)
    by_hand = 60 * math.log(s1 / 0.5) + 40 * math.log((1 - s1) / 0.5)
    assert sprt.llr([40, 0, 0, 0, 60]) == pytest.approx(by_hand, abs=0.02)  # 3 unseen results at a thousandth each
    assert Sprt(-5, 5).llr([10, 20, 30, 25, 12]) == pytest.approx(-Sprt(-5, 5).llr([12, 25, 30, 20, 10]))
    assert Sprt(0, 5).llr([0] * 5) == 0
    bounds = math.log(0.1 / 0.95), math.log(0.9 / 0.05)  # Wald's
    assert Sprt(0, 5, 0.05, 0.1).bounds == pytest.approx(bounds)


def test_three_results_against_a_search_over_all_distributions():
    """The likeliest distribution over 0, 1/2 and 1 with a given mean has one free number, here tried out."""
    counts = (30, 0, 50, 0, 45)

    def best(mean):
        chances = ((x, 1 - x - (mean - x / 2), mean - x / 2) for x in (k / 100_000 for k in range(1, 100_000)))
        return max(
            30 * math.log(low) + 50 * math.log(half) + 45 * math.log(high)
            for half, low, high in chances
            if low > 0 and high > 0
        )

    expected = best(expected_score(20)) - best(expected_score(-10))
    assert Sprt(-10, 20).llr(counts) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("points", "verdict"), [([2.0], "H1"), ([0.0], "H0"), ([1.0], "H0")])
def test_stops_when_decided(points, verdict):
    sprt = Sprt(0, 200)
    found, llr, number = sprt.run(points * 200)
    assert found == verdict
    assert number < 200
    assert sprt.verdict(llr) == verdict
    before, _, all_of_them = sprt.run(points * (number - 1))
    assert (before, all_of_them) == ("undecided", number - 1)


def test_texts():
    assert Sprt.parse("0,10") == Sprt(0, 10, 0.05, 0.05)
    assert Sprt.parse("-5,5,0.1,0.2") == Sprt(-5, 5, 0.1, 0.2)
    for bad in ("", "5", "1,2,3", "a,b", "10,0", "0,nan", "0,1e9", "0,5,0,0.05", "0,5,0.05,0.7"):
        with pytest.raises(ZugwerkError, match="sprt"):
            Sprt.parse(bad)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [  # as scipy.stats.binomtest(successes, n).proportion_ci(method="wilson") prints them
        (0, 10, 0.0, 0.2775328),
        (1, 10, 0.0178762, 0.4041500),
        (5, 10, 0.2365931, 0.7634069),
        (10, 10, 0.7224672, 1.0),
        (81, 263, 0.2552885, 0.3662096),  # the worked example of Newcombe, Statistics in Medicine 17 (1998)
        (999, 1000, 0.9943574, 0.9998235),
    ],
)
def test_wilson_has_the_known_values(successes, n, low, high):
    found = rate(successes, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
    assert (found.value, found.n) == (successes / n, n)


@given(st.floats(0, 1), st.floats(1, 1e6))
def test_wilson_contains_the_rate_and_stays_between_0_and_1(p, n):
    low, high = wilson(p, n)
    assert 0 <= low <= p + 1e-12
    assert p - 1e-12 <= high <= 1


def test_zero_trials_give_the_full_interval():
    for score in (rate(0, 0), clustered_rate([], []), pair_score([])):
        assert math.isnan(score.value)
        assert (score.low, score.high, score.n) == (0, 1, 0)
    assert clustered_mean([], []).n == 0


@given(st.lists(st.booleans(), min_size=2, max_size=50), st.randoms())
def test_clustered_rate_is_wilson_where_every_cluster_is_one_trial(hits, rng):
    gids = rng.sample(range(1_000), len(hits))
    found, plain = clustered_rate(hits, gids), rate(sum(hits), len(hits))
    assert found.n == plain.n
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))


def test_clusters_that_agree_within_count_as_one_trial_each():
    games = 40
    hits = np.repeat(np.arange(games) % 4 == 0, 25)
    found = clustered_rate(hits, np.repeat(np.arange(games), 25))
    low, high = wilson(0.25, games * (1 - 1 / games) / (1 - 1 / (25 * games)))
    assert (found.value, found.low, found.high) == pytest.approx((0.25, low, high))
    assert found.n == 1_000


def test_mixed_clusters_count_at_most_their_number_of_trials():
    rng = np.random.default_rng(1)
    hits, games = rng.random(20_000) < 0.3, np.repeat(np.arange(400), 50)
    found, plain = clustered_rate(hits, games), rate(float(hits.sum()), hits.size)
    assert found.high - found.low == pytest.approx(plain.high - plain.low, rel=0.1)
    alike = np.tile([1.0, 0.0, 0.0, 1.0, 0.0, 0.5], 100)  # less scatter than independent trials would show
    scored = clustered_rate(alike, np.concatenate([[0], np.repeat(np.arange(100), 6)[:-1]]))
    assert (scored.low, scored.high) == pytest.approx(wilson(scored.value, 600))


def test_interval_of_one_game_is_wide():
    found = clustered_rate([1, 1, 0, 1], [5, 5, 5, 5])
    assert (found.value, found.low, found.high) == (0.75, *wilson(0.75, 1))
    mean = clustered_mean([1.0, 3.0], [5, 5])
    assert mean.value == 2
    assert math.isnan(mean.low)
    assert math.isnan(mean.high)


def test_clustered_mean_of_single_samples_is_the_usual_interval():
    values = np.array([0.5, 2.0, 1.5, 4.0])
    half = 1.959964 * values.std(ddof=1) / 2
    found = clustered_mean(values, [3, 1, 4, 2])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2 - half, 2 + half))


def test_clustered_mean_by_hand():
    """Games of 2 and 1 samples: mean 3, residuals (1 + 3) - 2 * 3 = -2 and 5 - 3 = 2, variance 2 * (4 + 4) / 9."""
    found = clustered_mean([1, 3, 5], [10, 10, 11])
    assert (found.value, found.n) == (3, 3)
    assert found.high - found.value == pytest.approx(1.959964 * 4 / 3)


def test_pairs_that_all_came_out_the_same_count_once_each():
    won = pair_score([(1.0, 1.0)] * 10)
    assert won == Score(1.0, wilson(1.0, 10)[0], 1.0, 20)
    split = pair_score([(1.0, 0.0)] * 10)
    assert (split.value, split.low, split.high) == (0.5, *wilson(0.5, 10))
    assert pair_score([(1.0, 0.5)]) == Score(0.75, *wilson(0.75, 1), 2)
    assert pair_score([(0.5, 0.5)] * 4).value == 0.5


@pytest.mark.parametrize(("score", "difference"), [(0.5, 0.0), (10 / 11, 400.0), (1 / 11, -400.0), (0.75, 190.848502)])
def test_elo(score, difference):
    assert elo(score) == pytest.approx(difference)


def test_elo_of_a_whitewash_is_infinite():
    value, low, high = pair_score([(1.0, 1.0)] * 10).elo()
    assert (value, high) == (math.inf, math.inf)
    assert low == pytest.approx(elo(wilson(1.0, 10)[0]))
    assert pair_score([(0.0, 0.0)] * 10).elo()[:2] == (-math.inf, -math.inf)


# Win rates of nets against the results of their games against themselves.


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

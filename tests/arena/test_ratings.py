import math

import numpy as np
import pytest

from pipeline_src.arena.result import SCALE, Rating, Result, rate_players
from pipeline_src.arena.score import elo
from pipeline_src.errors import ZugwerkError


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


def test_doubled_games_equal_two_results():
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

import math

import pytest

from pipeline_src.arena.result import Sprt, expected_score
from pipeline_src.errors import ZugwerkError


def test_bounds_are_walds():
    low, high = Sprt(0, 5, 0.05, 0.1).bounds
    assert low == pytest.approx(math.log(0.1 / 0.95))
    assert high == pytest.approx(math.log(0.9 / 0.05))


def test_a_coin_has_its_known_likelihood_ratio():
    """Pairs won or lost as a whole leave no freedom besides the mean: the ratio is the binomial one."""
    sprt = Sprt(0, 100)
    s1 = expected_score(100)
    by_hand = 60 * math.log(s1 / 0.5) + 40 * math.log((1 - s1) / 0.5)
    assert sprt.llr([40, 0, 0, 0, 60]) == pytest.approx(by_hand, abs=0.02)  # 3 unseen results at a thousandth each


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


def test_close_hypotheses_give_the_normal_approximation():
    """(s1 - s0) (2 mean - s0 - s1) N / (2 variance), for differences that are small compared with the scatter."""
    counts = (100, 300, 700, 350, 120)
    n = sum(counts)
    scores = (0, 0.25, 0.5, 0.75, 1)
    mean = sum(c * s for c, s in zip(counts, scores, strict=True)) / n
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, scores, strict=True)) / n
    s0, s1 = expected_score(0), expected_score(5)
    assert Sprt(0, 5).llr(counts) == pytest.approx((s1 - s0) * (2 * mean - s0 - s1) * n / (2 * variance), rel=0.02)


def test_the_ratio_turns_with_the_players():
    assert Sprt(-5, 5).llr([10, 20, 30, 25, 12]) == pytest.approx(-Sprt(-5, 5).llr([12, 25, 30, 20, 10]))
    assert Sprt(0, 5).llr([0] * 5) == 0


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

import pytest

from pipeline_src.learning.fit import rate_factor


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_rises_then_falls(schedule):
    factors = [rate_factor(schedule, step, 110, 10 / 110) for step in range(111)]
    assert factors[:10] == pytest.approx([(step + 1) / 11 for step in range(10)])
    assert factors[10] == 1
    assert factors[60] == pytest.approx(0.5)
    assert factors[110] == pytest.approx(0)
    assert factors[10:] == sorted(factors[10:], reverse=True)


def test_without_warmup_it_starts_at_the_top():
    assert rate_factor("linear", 0, 5, 0.0) == 1

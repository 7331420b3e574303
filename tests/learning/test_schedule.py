import pytest

from pipeline_src.learning.schedule import rate_factor


@pytest.mark.parametrize(("schedule", "halfway", "end"), [("constant", 1, 1), ("linear", 0.5, 0), ("cosine", 0.5, 0)])
def test_rises_then_falls(schedule, halfway, end):
    factors = [rate_factor(schedule, step, 110, 10 / 110) for step in range(111)]
    assert factors[:10] == pytest.approx([(step + 1) / 11 for step in range(10)])
    assert factors[10] == 1
    assert factors[60] == pytest.approx(halfway)
    assert factors[110] == pytest.approx(end)
    assert factors[10:] == sorted(factors[10:], reverse=True)


def test_without_warmup_it_starts_at_the_top():
    assert rate_factor("linear", 0, 5, 0.0) == 1


def test_an_unknown_schedule_is_refused():
    with pytest.raises(ValueError, match="'steps' is not one of constant"):
        rate_factor("steps", 5, 10, 0.0)

import pytest

from pipeline_src.search.limits import searching_seconds


@pytest.mark.parametrize(
    ("movetime", "seconds"), [(4, 0.003), (50, 0.046), (300, 0.285), (1000, 0.98), (60_000, 59.98)]
)
def test_a_search_is_told_to_end_before_its_time_is_over(movetime, seconds):
    assert searching_seconds(movetime) == pytest.approx(seconds)

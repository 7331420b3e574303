import threading
import time

import pytest

from pipeline_src.search.limits import Limit, SearchResult, Slices, StopFlag, repeated, searching_seconds


@pytest.mark.parametrize(
    ("movetime", "seconds"), [(4, 0.003), (50, 0.046), (300, 0.285), (1000, 0.98), (60_000, 59.98)]
)
def test_search_ends_before_its_time_is_over(movetime, seconds):
    assert searching_seconds(movetime) == pytest.approx(seconds)


FOUND = SearchResult(action=3, value=0.5, depth=2, nodes=10, pv=(3,), seconds=1.0)


def test_an_endless_search_repeats_its_last_report_with_new_nodes():
    told, enough = [], threading.Event()

    def on_info(found):
        told.append(found)
        if len(told) == 3:
            enough.set()

    with repeated(on_info, Limit(lines=2), lambda: 50) as tell:
        tell(FOUND)
        assert enough.wait(60)
    assert told[0] == FOUND
    assert [(one.action, one.nodes) for one in told[1:3]] == [(3, 50), (3, 50)]
    assert 1 < told[1].seconds < told[2].seconds


@pytest.mark.parametrize("limit", [Limit(depth=3), Limit(nodes=3), Limit(movetime_ms=3)])
def test_limited_search_reports_only_new_results(limit):
    told = []
    with repeated(told.append, limit, lambda: 50) as tell:
        assert tell == told.append


def test_slices_double_or_end_in_time_for_the_next_report():
    doubling, timed = Slices(4, timed=False), Slices(4, timed=True)
    for slices in (doubling, timed):
        ends = [slices.upto]
        for _ in range(3):
            slices._since = time.perf_counter()  # it took no time
            slices.extend()
            ends.append(slices.upto)
        assert ends == ([4, 8, 16, 32] if slices is doubling else [4, 12, 28, 60])
    timed._since -= 60  # a slice that took a minute
    timed.extend()
    assert timed.upto == 60 + 4


def test_a_time_beyond_all_clocks_ends_nothing():
    flag = StopFlag()
    with flag.after(1e300):
        time.sleep(0.05)  # a timer that fails has done so by then, which pytest reports
        assert not flag.raised[0]

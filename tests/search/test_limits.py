import random
import threading
import time

import pytest

from pipeline_src.search.limits import (
    Clock,
    Limit,
    SearchResult,
    Slices,
    StopFlag,
    expected_plies,
    movetime_ms,
    on_cpu_time,
    repeated,
    searching_seconds,
)


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


def test_time_on_a_busy_machine_is_that_of_this_process():
    flag = StopFlag()
    with on_cpu_time(True), flag.after(0.1):
        time.sleep(0.3)
        assert not flag.raised[0], "a sleep takes none"
        end = time.process_time() + 10
        while not flag.raised[0] and time.process_time() < end:
            pass
        assert flag.raised[0]
    flag.clear()
    with flag.after(0.01):
        time.sleep(0.5)
        assert flag.raised[0]


def play_game(own_ms, increment_ms, plies, lateness_ms=4.0, seed=0):
    """Both sides' times left and what each move was given, in a game of so many plies."""
    rng, left, given = random.Random(seed), [own_ms, own_ms], []
    for ply in range(plies):
        side = ply % 2
        legal = max(1, int(2000 * (1 - ply / plies) ** 3))
        clock = Clock(left[side], left[1 - side], increment_ms)
        time = movetime_ms(clock, ply, expected_plies(ply, legal))
        assert 0 < time <= max(0.5 * left[side], 1e-3)
        given.append(time)
        left[side] -= time + lateness_ms * rng.random()
        assert left[side] > 0, f"lost on time at ply {ply}"
        left[side] += increment_ms
    return left, given


@pytest.mark.parametrize("plies", [60, 76, 100])
@pytest.mark.parametrize(
    ("own", "increment"), [(900e3, 0), (60e3, 0), (1e3, 0), (60e3, 1e3), (1e3, 100), (30, 100), (900e3, 10e3)]
)
def test_no_game_is_lost_on_time(own, increment, plies):
    play_game(own, increment, plies)


@pytest.mark.parametrize("plies", [70, 92])
def test_time_is_used_mostly_in_the_middle_game(plies):
    left, given = play_game(900e3, 0, plies)
    assert max(left) < 0.25 * 900e3
    first, middle, last = given[:8], given[20:36], given[-8:]
    mean = [sum(times) / len(times) for times in (first, middle, last)]
    assert mean[1] > 1.4 * mean[0]
    assert mean[1] > 1.4 * mean[2]


def test_increments_are_spent():
    without, _ = play_game(60e3, 0, 80)
    _, given = play_game(60e3, 5e3, 80)
    assert sum(given) > 60e3 * 2 + 0.5 * 5e3 * 80
    assert min(without) > 0


@pytest.mark.parametrize("own", [0.01, 0.5, 3, 9, 11, 40, 200])
def test_an_almost_empty_clock_gives_less_than_is_on_it(own):
    for increment in (0.0, 100.0):
        assert 0 < movetime_ms(Clock(own, 1e3, increment), 30, 40) <= own / 2


def test_single_move_gets_at_most_a_safe_part():
    for played, expected in ((0, 80), (40, 40), (78, 2), (120, 16)):
        assert movetime_ms(Clock(100e3, 100e3), played, expected) <= 20e3


def test_movestogo_divides_the_time():
    times = [movetime_ms(Clock(10_000, 10_000, 0, moves), 0, 80) for moves in (1, 2, 4, 10, 40, 1000, None)]
    assert times[0] == 8000
    assert 3000 < times[1] <= 4000
    assert times == sorted(times, reverse=True)
    assert times[-2] == times[-1]
    assert movetime_ms(Clock(10, 10, 0, 1), 0, 80) <= 8


def test_more_moves_to_come_means_less_time_for_each():
    times = [movetime_ms(Clock(60e3, 60e3), 30, expected) for expected in (10, 20, 40, 80)]
    assert times == sorted(times, reverse=True)
    assert expected_plies(10, 2000) == 70
    assert expected_plies(79, 2000) == 16
    assert expected_plies(20, 3) == 6
    assert expected_plies(60, 1) == 2

"""The rehearsal at a seventh of its size."""

from functools import partial

import pytest

from tests.rehearsal.rehearse import REAL_DELAY_S, Rehearsal, gaps, results
from tests.spiders.sites import RESOLVING
from tests.starts import Start

DELAY_S = 0.01
NOTED_LATE_S = 0.05  # a thread notes a request some milliseconds after it came: the next gap looks shorter


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_rehearsal(tmp_path):
    rehearsal = Rehearsal(tmp_path, 1_400, 110, DELAY_S, slowly=6, begin=partial(Start, modules=RESOLVING))
    rehearsal.run()
    figures, rows = results(rehearsal)
    table = dict(rows)
    assert figures["games_equal"][0] == 1
    right, _, bad = table["bad games rejected for the right reason"].partition(" of ")
    assert right == bad
    assert figures["requests_per_new_game"][0] < 1.2
    assert figures["finished_games_asked_twice"][0] == 0
    assert figures["least_gap_s"][0] >= REAL_DELAY_S - NOTED_LATE_S
    assert min(gaps(rehearsal.asked[rehearsal.first :])) >= DELAY_S
    assert max(rehearsal.stops_alone) < 5
    assert "to ask of http://games.example" in rehearsal.said[0]

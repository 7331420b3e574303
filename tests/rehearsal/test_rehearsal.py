"""The rehearsal at a seventh of its size."""

from functools import partial

import pytest

from tests.rehearsal.rehearse import REAL_DELAY_S, Rehearsal, gaps, results
from tests.rehearsal.server import WRONG
from tests.spiders.sites import RESOLVING
from tests.starts import Start

DELAY_S = 0.01
NOTED_LATE_S = (
    0.05  # a busy machine's thread notes a request some milliseconds after it came: the next gap looks shorter
)


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


@pytest.mark.slow
def test_every_record_that_is_there_comes_whatever_is_redirected(tmp_path):
    """With failures, redirects of all kinds, and three kills; a wrong redirect costs its record until it is mended."""
    rehearsal = Rehearsal(tmp_path, 120, 16, DELAY_S, begin=partial(Start, modules=RESOLVING))
    server, before = rehearsal.run_redirected(moved=0.3, max_failures=0.5)
    site, said = rehearsal.site, rehearsal.said
    records = {gid: game.record()[1] for gid, game in site.games.items() if game.over and not game.bad}
    there = wanted(server, records)
    assert there < set(records)
    assert {gid: before.get(gid) for gid in there} == {gid: records[gid] for gid in there}
    assert "records failed, the last: http://games.example" in said[0]
    assert "the next crawl asks again" in said[0]
    after = rehearsal.stored()
    assert {gid: after.get(gid) for gid in records} == records
    assert after.keys() <= {gid for gid, game in site.games.items() if game.over}
    assert min(gaps(rehearsal.asked)) >= DELAY_S


def wanted(server, records):
    """The games whose record is sent, and that are in a list that is sent, before redirects are mended."""
    server.mended = False
    found = set()
    for gid in records:
        lists = (f"/jsp/info/player_game_list.jsp?gtid=amzn&plid={plid}" for plid in server.site.games[gid].players)
        if server.way_of(f"/servlet/sgf/{gid}/game{gid}.txt") not in WRONG and any(
            server.way_of(target) not in WRONG for target in lists
        ):
            found.add(gid)
    return found

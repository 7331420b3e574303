import pytest

from pipeline_src.arena.runner import Board
from pipeline_src.parallel import Parallel
from pipeline_src.systems.gomoku_zero import evaluate as event
from pipeline_src.systems.gomoku_zero.params import GomokuOpenings, data_words, origin_words


@pytest.mark.parametrize(("games", "nodes"), [(0, []), (3, [1500, 2250, 3375])])
def test_quick_judge_games_decide_which_openings_are_level(monkeypatch, games, nodes):
    asked = []
    monkeypatch.setattr(event, "balanced_openings", lambda *about: asked.append(about) or [])
    chosen = GomokuOpenings(count=2, plies=4, area=5, judge="engine:nodes=100", bound=400.0, quick_games=games)
    event.gomoku_event({}, Board("gomoku", 9, "freestyle"), chosen, [7], Parallel(workers=1))
    (about,) = asked
    assert about[2:7] == (2, 4, [7, 0], "engine:nodes=100", 400.0)
    assert about[-1] == nodes


@pytest.mark.parametrize(
    ("section", "words", "data"),
    [
        ({}, "", ""),
        ({"fours": 0}, "from nothing", "its own games"),
        ({"fours": 40}, "from nothing but fours", "its own games"),
    ],
)
def test_words_name_how_the_net_began(section, words, data):
    params = {"gomoku_self_play": section}
    assert (origin_words(params), data_words(params)) == (words, data)

import numpy as np
import pytest

from pipeline_src import streams
from pipeline_src.arena.openings import random_openings
from pipeline_src.games import amazons
from pipeline_src.games.amazons.board import EMPTY
from pipeline_src.project.params import load, load_value
from pipeline_src.search.limits import SearchResult
from pipeline_src.systems.search_depth.labels import DEPTHS, Labelled, label_games, needed_depth, nodes_by_depth
from pipeline_src.systems.search_depth.params import DepthGame, DepthLabelParams
from tests.layout.imports import ROOT
from tests.systems.search_depth import players as depth_players

PARAMS = DepthLabelParams(games=2, spent=0.5, judge_depth=1, tolerance=0.25)
GAME = depth_players.GAME.model_copy(update={"clock_ms": 100.0, "engine": "width=12,width3=6,width4=4,table_mb=1"})
STATE = amazons.initial_state()
ACTIONS = [int(action) for action in amazons.legal_actions(STATE)[:6]]


@pytest.fixture(scope="module")
def labelled():
    rng, openings = np.random.default_rng(0), []
    for _ in range(2):
        state, actions = amazons.initial_state(), []
        for _ in range(8):
            actions.append(int(rng.choice(amazons.legal_actions(state))))
            state = amazons.play(state, actions[-1])
        openings.append(actions)
    found = label_games(GAME, PARAMS, list(enumerate(openings, 5)), [1])
    return openings, Labelled([row for one in found for row in one.rows], sum(one.closed for one in found))


def test_each_position_is_told_as_it_was(labelled):
    _, found = labelled
    assert {row["game"] for row in found.rows} == {5, 6}
    for row in found.rows:
        state = amazons.board.from_board(row["board"], row["to_play"])
        assert len(amazons.legal_actions(state)) == row["expandable"] > 1
        assert ((row["n"] > 0) <= (row["board"] == EMPTY)).all()
        done = row["nodes_by_depth"] > 0
        assert done.sum() == min(row["reached"], DEPTHS)
        assert done[: row["reached"]].all()
        assert (np.diff(row["nodes_by_depth"][done]) >= 0).all()
        assert row["nodes_by_depth"].max() <= row["nodes"]
        assert GAME.lowest <= row["needed"] <= max(GAME.lowest, row["reached"])
    assert found.closed > 0


def test_the_clock_runs_down_and_begins_anywhere(labelled):
    openings, found = labelled
    begins = set()
    for game in (5, 6):
        for side in (0, 1):
            mine = [row for row in found.rows if (row["game"], row["to_play"]) == (game, side)]
            used = [row["used"] for row in mine]
            spent = np.array([row["nodes"] for row in mine]) / (GAME.clock_ms * GAME.nodes_per_ms)
            np.testing.assert_allclose(np.diff(used), spent[:-1], rtol=1e-6)
            assert mine[0]["ply"] - len(openings[game - 5]) in (0, 1)
            assert 0 <= used[0] < PARAMS.spent
            begins.add(used[0])
    assert len(begins) == 4


def test_a_game_depends_on_its_number_and_opening_alone(labelled):
    openings, found = labelled
    (alone,) = label_games(GAME, PARAMS, [(6, openings[1])], [1])
    rest = [row for row in found.rows if row["game"] == 6]
    assert len(alone.rows) == len(rest)
    for one, other in zip(alone.rows, rest, strict=True):
        for name, value in one.items():
            assert np.array_equal(value, other[name]), name


def reports(*rows):
    """(depth, which action, nodes), as a search reports them."""
    return [SearchResult(ACTIONS[which], 0.0, depth, nodes, (), 0.0) for depth, which, nodes in rows]


class Judge:
    """Finds a turn worth what it is told; of the position after it, so the sign turns."""

    def __init__(self, worth):
        self.worth = {amazons.to_fen(amazons.play(STATE, ACTIONS[which])): value for which, value in worth.items()}
        self.asked = []

    def needs(self, state):
        return []

    def search(self, state, limit, seed=0, on_info=None):
        self.asked.append(limit.depth)
        return SearchResult(0, -self.worth[amazons.to_fen(state)], 1, 1, (), 0.0)


@pytest.mark.parametrize(
    ("steps", "worth", "needed"),
    [
        ([(1, 0, 10), (2, 1, 20), (3, 1, 30), (4, 1, 40)], {}, 2),  # the same turn from depth 2 on
        ([(1, 0, 10), (2, 1, 20), (3, 2, 30), (4, 2, 40)], {1: 0.0, 2: 1.0}, 3),
        ([(1, 0, 10), (2, 1, 20), (3, 2, 30), (4, 2, 40)], {1: 0.9, 2: 1.0}, 2),  # as good, within the tolerance
        ([(1, 0, 10), (2, 1, 20), (3, 2, 30), (4, 3, 40)], {1: 0.0, 2: 2.0, 3: 1.0}, 3),  # a better one is as good
        ([(1, 0, 10), (2, 1, 20), (3, 2, 30), (4, 3, 40)], {1: 0.0, 2: 0.0, 3: 1.0}, 4),
        ([(1, 0, 10), (2, 1, 20), (3, 1, 30), (3, 2, 35)], {1: 0.0, 2: 1.0}, 3),  # cut off, after it found turn 2
        ([(1, 0, 10)], {}, 2),  # below the classes nothing is asked for
        ([(d, d - 1, d) for d in range(1, 7)], {1: 0.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 1.0}, 5),  # nor beyond them
    ],
)
def test_what_was_needed_is_the_least_depth_with_a_turn_as_good(steps, worth, needed):
    judge, steps = Judge(worth), reports(*steps)
    assert needed_depth(judge, STATE, steps, 2, 5, PARAMS) == needed
    assert set(judge.asked) <= {steps[-1].depth}  # one deeper than it got, the turn itself being the first ply


def test_nodes_are_those_when_a_depth_was_complete():
    found = nodes_by_depth(reports((1, 0, 10), (2, 0, 25), (3, 0, 70), (3, 1, 99)))
    assert found.tolist() == [10, 25, 70] + [0] * (DEPTHS - 3)


@pytest.mark.slow
def test_a_game_is_labelled_alike_whatever_games_came_before_it(monkeypatch):
    """Of two games of the laptop: an earlier count of regions must leave no trace in the evaluation."""
    monkeypatch.chdir(ROOT)
    params, game, seed = load(DepthLabelParams, "depth_label"), load(DepthGame, "depth_game"), load_value(int, "seed")
    seeds, start = [seed, streams.DEPTH_LABEL], amazons.initial_state(10)
    openings = random_openings(amazons, start, params.games, game.opening_plies, [*seeds, 0])
    games = [(number, openings[number]) for number in (95, 96)]
    alone, after = (
        label_games(game, params, games[1:], [*seeds, 1])[0],
        label_games(game, params, games, [*seeds, 1])[1],
    )
    assert [row["nodes"] for row in alone.rows] == [row["nodes"] for row in after.rows]

"""Labelled positions, how they are labelled, and the small search through the squares."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_src import streams, yaml12
from pipeline_src.arena.game import random_openings
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.games import amazons
from pipeline_src.games.amazons import EMPTY
from pipeline_src.games.rules import copy_state
from pipeline_src.learning.symmetry import transform_boards
from pipeline_src.players.amazons import make_evaluator
from pipeline_src.project.params import load, load_value
from pipeline_src.search.limits import SearchResult
from pipeline_src.systems.search_depth import label
from pipeline_src.systems.search_depth.label import DEPTHS, Labelled, label_games, needed_depth, nodes_by_depth
from pipeline_src.systems.search_depth.params import DepthGame, DepthLabelParams
from pipeline_src.systems.search_depth.player import SquareSearch
from pipeline_src.systems.search_depth.positions import (
    FIELDS,
    PLANES,
    depth_planes,
    open_positions,
    split_by_game,
    write_positions,
)
from tests.layout.imports import ROOT
from tests.players.positions import random_states
from tests.run_stage import check_kill
from tests.systems.search_depth.synthetic import GAME, HIGHEST, LOWEST, searcher, synthetic, write_synthetic

CLASSES = {"lowest": LOWEST, "highest": HIGHEST}
SHARES = (75.0, 10.0, 15.0)


def test_comes_back_as_it_was_written(tmp_path):
    arrays = write_synthetic(tmp_path / "depth")
    positions = open_positions(tmp_path / "depth")
    assert len(positions) == len(arrays["n"])
    assert positions.classes == (LOWEST, HIGHEST)
    for name, (dtype, _) in FIELDS.items():
        found = getattr(positions, name)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, arrays[name])
    np.testing.assert_array_equal(positions.label("needed"), arrays["needed"])
    write_synthetic(tmp_path / "again")
    for file in (tmp_path / "depth").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_wider_types_are_taken_where_the_numbers_fit(tmp_path):
    arrays = {name: a if a.dtype.kind == "f" else a.astype(np.int64) for name, a in synthetic(games=2).items()}
    write_positions(tmp_path / "depth", arrays, CLASSES)
    assert open_positions(tmp_path / "depth").n.dtype == np.uint8
    arrays["n"][3] = 256
    with pytest.raises(ZugwerkError, match=r"depth_label: .*n\.npy: int64 .* is no .*uint8"):
        write_positions(tmp_path / "depth", arrays, CLASSES)


@pytest.mark.parametrize("name", ["board", "game", "nodes_by_depth"])
def test_inconsistent_arrays_are_refused(tmp_path, name):
    arrays = synthetic(games=2)
    with pytest.raises(ZugwerkError, match=f"no array {name}"):
        write_positions(tmp_path, {k: v for k, v in arrays.items() if k != name}, CLASSES)
    with pytest.raises(ZugwerkError, match=f"depth_label: .*{name}.npy"):
        write_positions(tmp_path, {**arrays, name: arrays[name][:-1]}, CLASSES)


@pytest.mark.parametrize(("name", "value", "said"), [("to_play", 3, "sides are 0 and 1"), ("board", 66, "codes go")])
def test_numbers_that_no_position_has_name_file_and_stage(tmp_path, name, value, said):
    arrays = synthetic(games=20)
    arrays[name].flat[5] = value
    write_positions(tmp_path, arrays, CLASSES)
    with pytest.raises(ZugwerkError, match=rf"{name}\.npy: .*{said}.*depth_label"):
        split_by_game(open_positions(tmp_path), (75, 10, 15), seed=1)


def test_labels_outside_the_classes_name_file_and_stage(tmp_path):
    arrays = synthetic(games=2)
    arrays["needed"][5] = 8
    with pytest.raises(ZugwerkError, match=r"needed\.npy: row 5 has label 8, outside the classes 3 to 7.*depth_label"):
        write_positions(tmp_path / "depth", arrays, CLASSES)
    arrays["needed"][5] = 3
    write_positions(tmp_path / "depth", arrays, CLASSES)
    manifest = read_json(tmp_path / "depth/manifest.json")
    write_json(tmp_path / "depth/manifest.json", {**manifest, "highest": 5})
    with pytest.raises(ZugwerkError, match=r"reached\.npy: row \d+ has label [67], outside the classes 3 to 5"):
        open_positions(tmp_path / "depth")


def test_games_go_whole_into_one_split(tmp_path):
    write_synthetic(tmp_path / "depth")
    positions = open_positions(tmp_path / "depth")
    splits = split_by_game(positions, SHARES, seed=1)
    games = [set(positions.game[rows].tolist()) for rows in splits]
    assert [len(g) for g in games] == [30, 4, 6]
    assert not games[0] & games[1]
    assert not games[2] & (games[0] | games[1])
    assert sum(map(len, splits)) == len(positions)
    again = split_by_game(positions, SHARES, seed=1)
    assert all(map(np.array_equal, splits, again))


def test_a_position_of_two_games_stays_in_test(tmp_path):
    """Turned, too: a net that sees the board's symmetries would know it."""
    arrays = synthetic()
    write_positions(tmp_path / "a", arrays, CLASSES)
    splits = split_by_game(open_positions(tmp_path / "a"), SHARES, seed=1)
    train, validation, test = splits.train[0], splits.validation[0], splits.test[0]
    for row, symmetry in ((train, 1), (validation, 6)):
        arrays["board"][row] = transform_boards(arrays["board"][test][None], np.array([symmetry]))[0]
        arrays["to_play"][row] = arrays["to_play"][test]
    write_positions(tmp_path / "b", arrays, CLASSES)
    found = split_by_game(open_positions(tmp_path / "b"), SHARES, seed=1)
    assert set(splits.train) - set(found.train) == {train}
    assert set(splits.validation) - set(found.validation) == {validation}
    np.testing.assert_array_equal(found.test, splits.test)


def test_too_few_games_name_the_data_set(tmp_path):
    write_synthetic(tmp_path / "depth", games=2)
    with pytest.raises(ZugwerkError, match=r"depth: 2 games are too few .*raise depth_label\.games"):
        split_by_game(open_positions(tmp_path / "depth"), SHARES, seed=1)


NAMES = ("n", "used", "board", "to_play", "expandable")
ROWS = synthetic(games=2, plies=20)


def planes(inputs, **changed):
    return depth_planes(inputs, *({**ROWS, **changed}[name] for name in NAMES))


def test_the_paper_s_plane_is_time_left_times_layers():
    found = planes("published")
    assert found.dtype == np.float32
    for row in (0, 7, 33):
        expected = [[(1 - ROWS["used"][row]) * n for n in line] for line in ROWS["n"][row]]
        np.testing.assert_allclose(found[row, 0], expected, rtol=1e-6)


def test_both_sides_see_own_amazons_as_the_same():
    swapped = np.array([0, 1, 3, 2], np.int8)[ROWS["board"]]
    np.testing.assert_array_equal(planes("full"), planes("full", board=swapped, to_play=1 - ROWS["to_play"]))
    assert (planes("full")[:, 2:4].sum((2, 3)) == 4).all()
    assert not np.array_equal(planes("full"), planes("full", to_play=1 - ROWS["to_play"]))


@pytest.mark.parametrize("inputs", PLANES)
def test_positions_turn_with_the_board(inputs):
    which = np.arange(40) % 8
    turned = planes(inputs, n=transform_boards(ROWS["n"], which), board=transform_boards(ROWS["board"], which))
    for plane in range(PLANES[inputs]):
        np.testing.assert_array_equal(turned[:, plane], transform_boards(planes(inputs)[:, plane], which))


LABELLING = DepthLabelParams(games=2, spent=0.5, judge_depth=1, tolerance=0.25)
LONGER = GAME.model_copy(update={"clock_ms": 100.0, "engine": "width=12,width3=6,width4=4,table_mb=1"})
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
    found = label_games(LONGER, LABELLING, list(enumerate(openings, 5)), [1])
    return openings, Labelled([row for one in found for row in one.rows], sum(one.closed for one in found))


def test_each_position_equals_its_game(labelled):
    _, found = labelled
    assert {row["game"] for row in found.rows} == {5, 6}
    for row in found.rows:
        state = amazons.from_board(row["board"], row["to_play"])
        assert len(amazons.legal_actions(state)) == row["expandable"] > 1
        assert ((row["n"] > 0) <= (row["board"] == EMPTY)).all()
        done = row["nodes_by_depth"] > 0
        assert done.sum() == min(row["reached"], DEPTHS)
        assert done[: row["reached"]].all()
        assert (np.diff(row["nodes_by_depth"][done]) >= 0).all()
        assert row["nodes_by_depth"].max() <= row["nodes"]
        assert LONGER.lowest <= row["needed"] <= max(LONGER.lowest, row["reached"])
    assert found.closed > 0


def test_the_clock_runs_down_and_begins_anywhere(labelled):
    openings, found = labelled
    begins = set()
    for game in (5, 6):
        for side in (0, 1):
            mine = [row for row in found.rows if (row["game"], row["to_play"]) == (game, side)]
            used = [row["used"] for row in mine]
            spent = np.array([row["nodes"] for row in mine]) / (LONGER.clock_ms * LONGER.nodes_per_ms)
            np.testing.assert_allclose(np.diff(used), spent[:-1], rtol=1e-6)
            assert mine[0]["ply"] - len(openings[game - 5]) in (0, 1)
            assert 0 <= used[0] < LABELLING.spent
            begins.add(used[0])
    assert len(begins) == 4


def test_a_game_depends_on_its_number_and_opening_alone(labelled):
    openings, found = labelled
    (alone,) = label_games(LONGER, LABELLING, [(6, openings[1])], [1])
    rest = [row for row in found.rows if row["game"] == 6]
    assert len(alone.rows) == len(rest)
    for one, other in zip(alone.rows, rest, strict=True):
        for name, value in one.items():
            assert np.array_equal(value, other[name]), name


def reports(*rows):
    """(depth, which action, nodes), as a search reports them."""
    return [SearchResult(ACTIONS[which], 0.0, depth, nodes, (), 0.0) for depth, which, nodes in rows]


def judge_of(worth):
    """Finds a turn of a given value; the value of the position after it has the other sign."""
    after = {amazons.to_fen(amazons.play(STATE, ACTIONS[which])): value for which, value in worth.items()}
    asked = []

    def search(state, limit):
        asked.append(limit.depth)
        return SearchResult(0, -after[amazons.to_fen(state)], 1, 1, (), 0.0)

    return searcher(search, asked=asked)


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
def test_needed_depth_is_least_one_with_equally_good_turn(steps, worth, needed):
    judge, steps = judge_of(worth), reports(*steps)
    assert needed_depth(judge, STATE, steps, 2, 5, LABELLING) == needed
    assert set(judge.asked) <= {steps[-1].depth}  # one deeper than it got, the turn itself being the first ply


def test_nodes_are_those_when_a_depth_was_complete():
    found = nodes_by_depth(reports((1, 0, 10), (2, 0, 25), (3, 0, 70), (3, 1, 99)))
    assert found.tolist() == [10, 25, 70] + [0] * (DEPTHS - 3)


@pytest.mark.slow
def test_labels_are_independent_of_earlier_games(monkeypatch):
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


STATES = random_states(24, size=6)
SEARCH = SquareSearch(make_evaluator(), simulations=6, plies=100)


@given(st.sampled_from(range(len(STATES))), st.integers(0, 1 << 62))
def test_it_counts_layers_of_empty_squares_and_leaves_the_position(which, seed):
    state = STATES[which]
    before = copy_state(state)
    layers, cost = SEARCH.search(state, seed)
    assert layers.shape == state.board.shape
    assert layers.dtype == np.uint8
    assert (layers[state.board != EMPTY] == 0).all()
    assert layers.max() <= (state.board == EMPTY).sum()  # each ply fills a square
    assert cost >= 2 * SEARCH.simulations  # a turn is two steps
    for now, then in zip(state, before, strict=True):
        assert np.array_equal(now, then)
    again, same = SEARCH.search(state, seed)
    assert np.array_equal(layers, again)
    assert cost == same


def test_the_only_turn_is_one_layer_of_one_square():
    state = amazons.from_fen("***/Q1*/**q w")  # a2-b2 with the arrow back, and Black cannot move
    layers, cost = SEARCH.search(state, 1)
    assert layers.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert cost == 2 * SEARCH.simulations


def test_squares_that_no_amazon_reaches_have_none():
    state = amazons.from_fen("6/6/6/******/Q2*2/1q1*2 w")
    layers, _ = SEARCH.search(state, 3)
    assert (layers[3:] == 0).all()
    assert (layers[:2, 4:] == 0).all()
    assert layers[1, 1] > 0


def test_a_tree_alone_gets_deeper_with_more_simulations():
    state = amazons.initial_state(6)
    deepest = [SquareSearch(make_evaluator(), simulations, 0).search(state, 5)[0].max() for simulations in (2, 1000)]
    assert deepest[0] <= 2 < deepest[1]


def test_random_plies_add_layers_and_cost():
    found = [SquareSearch(make_evaluator(), 40, plies).search(amazons.initial_state(), 1) for plies in (0, 5)]
    (shallow, cheap), (deep, dear) = found
    assert shallow.max() < deep.max() <= shallow.max() + 6
    assert dear >= cheap + 40 * 5
    assert (deep > 0).sum() > (shallow > 0).sum()


LABEL = {"games": 4, "spent": 0.4, "judge_depth": 1, "tolerance": 0.25}
PARAMS = {
    "seed": 1,
    "parallel": {"workers": 1},
    "amazons_engine": {},
    "depth_game": GAME.model_dump(),
    "depth_label": LABEL,
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(yaml12.dump(PARAMS))
    return tmp_path


def made(folder):
    report = (folder / label.REPORT).read_bytes()
    return {path.name: path.read_bytes() for path in sorted((folder / label.OUT).iterdir())}, report


def test_the_positions_are_counted_and_clipped_into_the_classes(project):
    label.main()
    positions, report = open_positions(label.OUT), read_json(label.REPORT)
    assert len(positions) == report["positions"] == sum(report["reached"].values()) == sum(report["needed"].values())
    assert positions.classes == (GAME.lowest, GAME.highest)
    assert report["games"] == len(np.unique(positions.game)) == 4
    found = {int(depth): count for depth, count in report["reached"].items()}
    assert report["clipped_up"] == sum(count for depth, count in found.items() if depth < GAME.lowest) > 0
    assert report["clipped_down"] == sum(count for depth, count in found.items() if depth > GAME.highest)
    lowest = int((positions.reached == GAME.lowest).sum())
    assert lowest == report["clipped_up"] + found.get(GAME.lowest, 0)
    assert report["left_out"]["closed"] > 0
    assert positions.manifest["simulations"] == GAME.simulations
    assert (project / "artifacts/reports/depth/label.timings.json").exists()
    assert not label.WORK.exists()


def test_killed_run_resumes_to_the_same_bytes(project, monkeypatch):
    def run():
        label.main()
        return made(project)

    check_kill(monkeypatch, run)


def test_games_without_a_choice_are_an_error(project, monkeypatch):
    monkeypatch.setattr(label, "label_games", lambda _game, _params, games, _seed: [Labelled(closed=1)] * len(games))
    with pytest.raises(ZugwerkError, match=r"raise depth_label\.games"):
        label.main()

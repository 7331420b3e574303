import math

import pytest
import yaml

from pipeline_src.report.charts import SYSTEMS, charts
from pipeline_src.report.charts.gomoku import rated_hours
from pipeline_src.report.charts.reading import Estimate
from tests.report.charts.project import FILES, GOMOKU, by_name, intervals, points, series, write


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    write(folder)
    return by_name(chart for system in SYSTEMS for chart in charts(system, folder))


def axes_of(chart):
    return chart.figure.axes


def rows_of(axes):
    """Words on the left -> points beside them, of one series."""
    places = {place: label.get_text() for place, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
    (container,) = axes.containers
    return {places[y]: x for x, y in points(container[0])}


def test_amazons_nets_by_epoch(found):
    moves, arrows, winners = axes_of(found["amazons-learning"])
    assert {name: [y for _, y in line] for name, line in series(moves).items()} == {
        "soft argmax": [0.125, 0.5],
        "residual": [0.25, 0.5],
    }
    assert [y for _, y in series(arrows)["residual"]] == [0.25, 0.5]
    assert [y for _, y in series(winners)["residual"]] == [0.5, 0.75]
    assert [round(x) for x, _ in series(winners)["residual"]] == [1, 2]


def test_amazons_phases_and_calibration_have_intervals(found):
    moves, _, turns = axes_of(found["amazons-phases"])
    assert [y for _, y in series(moves)["one ply"]] == [0.5, 0.2]
    assert [y for _, y in series(turns)["residual"]] == [0.1, 0.4]
    assert intervals(moves.containers[0]) == [(0.2, 0.4), (0.5, 0.7)]
    assert [label.get_text() for label in turns.get_xticklabels()] == ["0 to 19", "from 50"]
    (calibration,) = axes_of(found["amazons-calibration"])
    assert series(calibration)["residual"] == [(0.1, 0.2), (0.9, 1.0)]
    assert intervals(calibration.containers[0]) == [(0.1, 0.3), (0.8, 1.0)]


def test_amazons_matches(found):
    assert rows_of(*axes_of(found["amazons-matches"])) == {"Amazons-Net v one ply": 0.25, "mine": 0.75}
    assert rows_of(*axes_of(found["amazons-engine-doublings"])) == {"100 ms v 50 ms": 0.7, "200 ms v 100 ms": 0.6}
    assert rows_of(*axes_of(found["amazons-engine-matches"])) == {"alphabeta, 100,000 nodes\nv one ply": 0.99}


def test_gomoku_losses_and_gates(found):
    (losses,) = axes_of(found["gomoku-losses"])
    assert series(losses)["policy"] == [(20, 4.5), (40, 4.0), (60, 3.5)]
    assert series(losses)["mean"] == [(20, 2.75), (40, 2.25), (60, 2.0)]
    (gates,) = axes_of(found["gomoku-gates"])
    assert series(gates)["became the best player"] == [(1, 0.75), (3, 0.6)]
    assert series(gates)["did not"] == [(2, 0.45)]  # half a point for a draw
    low, high = intervals(gates.containers[0])[0]
    assert (low, high) == pytest.approx((0.531, 0.888), abs=1e-3)  # Wilson's, 15 of 20


def test_gomoku_elo_by_generation_and_over_hours(found):
    (elo,) = axes_of(found["gomoku-elo"])
    assert series(elo)["rated models"] == [(1, -100.5), (3, 50)]
    assert intervals(elo.containers[0]) == [(-200, 0), (0, 100)]
    (hours,) = axes_of(found["gomoku-elo-hours"])
    assert series(hours)["rated models"] == [(1, -100.5), (4.5, 50)]
    assert "hours" in hours.get_xlabel()


@pytest.mark.parametrize(
    ("player", "words"), [("mcts:playouts=1000", "MCTS with 1,000 playouts"), ("mcts:playouts=64", "mcts:playouts=64")]
)
def test_elo_names_the_player_that_made_its_zero(tmp_path, player, words):
    write(tmp_path)
    section = {"anchor": "weak", "opponents": {"weak": {"player": player}}}
    path = f"{GOMOKU}/elo.csv"
    lock = {"gomoku_evaluate": {"params": {"params.yaml": {"gomoku_evaluate": section}}, "outs": [{"path": path}]}}
    (tmp_path / "dvc.lock").write_text(yaml.safe_dump({"stages": lock}))
    captions = {chart.name: chart.caption for chart in charts("gomoku", tmp_path)}
    assert f"; {words} is 0." in captions["gomoku-elo"]
    assert f"; {words} is 0." in captions["gomoku-elo-hours"]


def test_hours_add_up_over_generations_that_are_not_rated_too(tmp_path):
    write(tmp_path)
    assert rated_hours(tmp_path) == {1.0: Estimate(-100.5, -200.0, 0.0), 4.5: Estimate(50.0, 0.0, 100.0)}


def test_ratings_of_more_generations_than_there_are_now_have_no_hours(tmp_path):
    write(tmp_path)
    (tmp_path / GOMOKU / "elo.csv").write_text("generation,elo,low,high\n1,1,0,2\n4,1,0,2\n")
    names = by_name(charts("gomoku", tmp_path))
    assert "gomoku-elo" in names
    assert "gomoku-elo-hours" not in names


def test_without_one_generations_times_elo_is_by_generation_alone(tmp_path):
    write(tmp_path, [name for name in FILES if not name.endswith("02.timings.json")])
    names = by_name(charts("gomoku", tmp_path))
    assert "gomoku-elo" in names
    assert "gomoku-elo-hours" not in names


def test_gomoku_tables_2_and_3(found):
    (robin,) = axes_of(found["gomoku-round-robin"])
    assert [label.get_text() for label in robin.get_yticklabels()] == ["1", "3"]
    assert [label.get_text() for label in robin.get_xticklabels()] == ["1", "3", "all"]
    assert [text.get_text() for text in robin.texts] == ["", "0.5", "0.5", "1.5", "", "1.5"]
    shares = robin.collections[0].get_array().filled(math.nan).ravel().tolist()
    assert shares == pytest.approx([math.nan, 0.25, 0.25, 0.75, math.nan, 0.75], nan_ok=True)
    (baselines,) = axes_of(found["gomoku-baselines"])
    assert [y for _, y in series(baselines)["minimax"]] == [0.25, 0.75]
    assert [y for _, y in series(baselines)["alphabeta4"]] == [0, 0.5]


def test_growing_boards(found):
    (strength,) = axes_of(found["growing-strength"])
    assert points(strength.containers[0][0]) == [(1, 0.5), (3, 0.75)]
    (losses,) = axes_of(found["growing-losses"])
    lines = [points(line) for line in losses.lines if len(line.get_xdata()) and line.get_color() == "#0072b2"]
    assert lines == [[(0.5, 3), (1, 2)], [(3, 2.5)]]
    assert [text.get_text() for text in losses.texts] == ["6x6", "9x9"]
    (against,) = axes_of(found["growing-against-scratch-6-9"])
    assert series(against)["grown"] == [(0.2, 0.4), (0.6, 0.8)]
    assert series(against)["from scratch"] == [(1, 0.5)]
    assert len(against.containers) == 3  # a line for each seed


def test_joseki(found):
    (growth,) = axes_of(found["joseki-growth"])
    assert series(growth)["patterns"] == [(50, 200), (100, 350)]
    assert series(growth)["patterns, published"] == [(507, 27_686)]
    (real,) = axes_of(found["joseki-growth-measured"])
    assert series(real)["encodings"] == [(10, 90)]
    (accuracy,) = axes_of(found["joseki-accuracy"])
    assert series(accuracy)["top-1 accuracy"] == [(1, 0.5), (2, 0.25)]
    (scaling,) = axes_of(found["joseki-scaling"])
    assert series(scaling)["measured"] == [(500, 0.1), (2000, 0.5)]
    assert (scaling.get_xscale(), scaling.get_yscale()) == ("log", "log")
    assert "1,000" in [label.get_text() for label in scaling.get_xticklabels()]


def test_depth_nets(found):
    (learning,) = axes_of(found["depth-learning"])
    assert series(learning) == {"smote": [(50, 0.25), (100, 0.375)]}  # no model that was not evaluated
    (balance,) = axes_of(found["depth-balance"])
    assert [bar.get_width() for bar in balance.patches] == [0.25, 0.5, 0.5, 0.75]
    assert [text.get_text() for text in balance.texts] == ["0.25", "0.50", "0.50", "0.75"]
    (confusion, empty) = axes_of(found["depth-confusion"])
    assert [label.get_text() for label in confusion.get_xticklabels()] == ["3", "10"]
    assert [text.get_text() for text in confusion.texts] == ["6", "2", "", "5"]
    assert confusion.collections[0].get_array().ravel().tolist() == [0.75, 0.25, 0, 1]
    assert not empty.get_visible()


def test_depth_matches_of_both_kinds_beside_the_published_score(found):
    (axes,) = axes_of(found["depth-matches"])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ours v table", "cnn v depth3"]
    found_series = series(axes)
    assert [x for x, _ in found_series["committed, many games"]] == [0.6]
    assert [x for x, _ in found_series["last dvc repro"]] == [0.5, 0.75]
    assert found_series["published, 0.734"] == [(0.734, -0.5), (0.734, 0.5)]  # beside the match against the table alone


def test_moves_that_few_games_came_to_are_left_out(found):
    assert series(*axes_of(found["depth-by-move"])) == {"ours": [(3, 4.0), (4, 4.5)]}
    assert series(*axes_of(found["depth-clock"])) == {"ours": [(3, 0.0), (4, 0.25)]}

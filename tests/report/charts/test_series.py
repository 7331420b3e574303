import pytest

from pipeline_src.report.charts import charts, drawn
from pipeline_src.systems.gomoku_zero.charts import rated_hours
from tests.report.charts.project import FILES, GOMOKU, by_name, intervals, series, values, write
from tests.report.project import report


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    write(folder)
    return by_name(chart for system in drawn() for chart in charts(system, folder))


def test_amazons_nets_by_epoch(found):
    chart = found["amazons-learning"]
    assert series(chart, "top-1 accuracy, move (from, to)") == {
        "soft argmax": [(1, 0.125), (2, 0.5)],
        "residual": [(1, 0.25), (2, 0.5)],
    }
    assert series(chart, "top-1 accuracy, arrow given the move")["residual"] == [(1, 0.25), (2, 0.5)]
    assert series(chart, "value accuracy")["residual"] == [(1, 0.5), (2, 0.75)]


def test_amazons_phases_and_calibration_have_intervals(found):
    turns = [row for row in found["amazons-phases"].rows if row["panel"] == "top-1 accuracy, whole turn"]
    ends = {(row["series"], row["name"]): (row["value"], row["low"], row["high"]) for row in turns}
    assert ends["residual", "0 to 19"] == (0.1, 0, 0.2)
    assert ends["residual", "from 50"] == (0.4, 0.3, 0.5)
    assert ends["one ply", "from 50"] == (0.1, 0, 0.2)
    calibration = found["amazons-calibration"]
    assert series(calibration)["residual"] == [(0.1, 0.2), (0.9, 1.0)]
    assert intervals(calibration, "residual") == [(0.1, 0.3), (0.8, 1.0)]
    assert series(calibration)["residual against itself"] == [(0.4, 0.5)]
    assert series(found["gomoku-calibration"]) == {None: [(0.3, 0.4)]}


def test_amazons_matches(found):
    assert values(found["amazons-matches"]) == {"Amazons-Net v one ply": 0.25, "mine": 0.75}
    assert values(found["amazons-engine-doublings"]) == {"100 ms v 50 ms": 0.7, "200 ms v 100 ms": 0.6}
    assert values(found["amazons-engine-matches"]) == {"alphabeta, 100,000 nodes v one ply": 0.99}


def test_gomoku_losses_and_gates(found):
    losses, gates = found["gomoku-losses"], found["gomoku-gates"]
    assert series(losses)["policy"] == [(20, 4.5), (40, 4.0), (60, 3.5)]
    assert series(losses)["mean"] == [(20, 2.75), (40, 2.25), (60, 2.0)]
    assert series(gates)["became the best player"] == [(1, 0.75), (3, 0.6)]
    assert series(gates)["did not"] == [(2, 0.45)]  # half a point for a draw
    assert intervals(gates, "became the best player")[0] == pytest.approx(
        (0.531, 0.888), abs=1e-3
    )  # Wilson's, 15 of 20


def test_gomoku_elo_by_generation_and_over_hours(found):
    elo, hours = found["gomoku-elo"], found["gomoku-elo-hours"]
    assert series(elo) == {None: [(1, -100.5), (3, 50)]}
    assert intervals(elo) == intervals(hours) == [(-200, 0), (0, 100)]
    assert series(hours) == {None: [(1, -100.5), (4.5, 50)]}
    assert "hours" in hours.spec["encoding"]["x"]["title"]


@pytest.mark.parametrize(
    ("player", "words"), [("mcts:playouts=1000", "MCTS with 1,000 playouts"), ("mcts:playouts=64", "mcts:playouts=64")]
)
def test_elo_names_the_player_at_zero(tmp_path, player, words):
    write(tmp_path)
    section = {"anchor": "weak", "opponents": {"weak": {"player": player}}}
    report(tmp_path, "gomoku/evaluate.json", {}, gomoku_evaluate=section)
    captions = {chart.name: chart.caption for chart in charts("gomoku", tmp_path)}
    assert f"; {words} is 0." in captions["gomoku-elo"]
    assert f"; {words} is 0." in captions["gomoku-elo-hours"]


def test_hours_include_unrated_generations(tmp_path):
    write(tmp_path)
    assert [(row["hours"], row["elo"]) for row in rated_hours(tmp_path)] == [(1.0, -100.5), (4.5, 50.0)]


def test_ratings_of_removed_generations_have_no_hours(tmp_path):
    write(tmp_path)
    (tmp_path / GOMOKU / "elo.csv").write_text("generation,elo,low,high\n1,1,0,2\n4,1,0,2\n")
    names = by_name(charts("gomoku", tmp_path))
    assert "gomoku-elo" in names
    assert "gomoku-elo-hours" not in names


def test_elo_is_by_generation_alone_if_times_are_missing(tmp_path):
    write(tmp_path, [name for name in FILES if not name.endswith("02.timings.json")])
    names = by_name(charts("gomoku", tmp_path))
    assert "gomoku-elo" in names
    assert "gomoku-elo-hours" not in names


def test_gomoku_tables_2_and_3(found):
    robin, baselines = found["gomoku-round-robin"], found["gomoku-baselines"]
    cells = [(row["label"], row["chosen"], row["count"], row["share_of_label"]) for row in robin.rows]
    assert cells == [
        ("1", "1", None, None),
        ("1", "3", 0.5, 0.25),
        ("1", "all", 0.5, 0.25),
        ("3", "1", 1.5, 0.75),
        ("3", "3", None, None),
        ("3", "all", 1.5, 0.75),
    ]
    assert series(baselines) == {"minimax": [(1, 0.25), (3, 0.75)], "alphabeta4": [(1, 0), (3, 0.5)]}


def test_growing_boards(found):
    assert series(found["growing-strength"]) == {None: [(1, 0.5), (3, 0.75)]}
    losses, against = found["growing-losses"], found["growing-against-scratch-6-9"]
    assert series(losses)["policy"] == [(0.5, 3), (1, 2), (3, 2.5)]
    assert [row["dash"] for row in losses.rows if row["series"] == "value"] == ["6x6", "6x6", "9x9"]
    assert series(against)["grown"] == [(0.2, 0.4), (0.6, 0.8), (0.7, 0.6)]
    assert series(against)["from scratch"] == [(1, 0.5)]
    assert [row["dash"] for row in against.rows] == ["seed 1", "seed 1", "seed 2", "seed 1"]


def test_joseki(found):
    growth, scaling = found["joseki-growth"], found["joseki-scaling"]
    assert series(growth)["patterns"] == [(50, 200), (100, 350)]
    assert series(growth)["patterns, published"] == [(507, 27_686)]
    assert series(found["joseki-growth-measured"])["encodings"] == [(10, 90)]
    assert series(found["joseki-accuracy"])["top-1 accuracy"] == [(1, 0.5), (2, 0.25)]
    assert series(scaling)["measured"] == [(500, 0.1), (2000, 0.5)]
    assert series(scaling)["as many games, as much time"] == [(500, 0.1), (2000, pytest.approx(0.4))]
    assert scaling.spec["encoding"]["x"]["scale"]["type"] == "log"


def test_depth_nets(found):
    assert series(found["depth-learning"]) == {"smote": [(50, 0.25), (100, 0.375)]}  # no model that was not evaluated
    balance, confusion = found["depth-balance"], found["depth-confusion"]
    assert values(balance, "macro F1") == {"smote": 0.25, "ours (always 3)": 0.5}
    assert values(balance, "accuracy") == {"smote": 0.5, "ours (always 3)": 0.75}
    assert [row.get("low") for row in balance.rows if row["series"] == "accuracy"] == [0.375, None]
    cells = [(row["label"], row["chosen"], row["count"], row["share_of_label"]) for row in confusion.rows]
    assert cells == [("3", "3", 6, 0.75), ("3", "10", 2, 0.25), ("10", "3", None, 0), ("10", "10", 5, 1)]


def test_depth_matches_of_both_kinds_with_the_published_score(found):
    chart = found["depth-matches"]
    assert list(dict.fromkeys(row["name"] for row in chart.rows)) == ["ours v table", "cnn v depth3"]
    assert values(chart, "committed, many games") == {"ours v table": 0.6}
    assert values(chart, "last dvc repro") == {"ours v table": 0.5, "cnn v depth3": 0.75}
    assert values(chart, "published") == {"ours v table": 0.734}  # together with the match against the table


def test_an_empty_cell_is_a_gap(tmp_path):
    write(tmp_path)
    path = tmp_path / "artifacts/reports/amazons/train/residual.csv"
    path.write_text(path.read_text().replace("2.0,0.5,0.5,0.75", "2.0,,0.5,0.75\n,0.5,0.5,0.75"))
    chart = by_name(charts("amazons", tmp_path))["amazons-learning"]
    assert series(chart, "top-1 accuracy, move (from, to)")["residual"] == [(1, 0.25), (2, None)]


def test_moves_of_few_games_are_left_out(found):
    assert series(found["depth-by-move"]) == {"ours": [(3, 4.0), (4, 4.5)]}
    assert series(found["depth-clock"]) == {"ours": [(3, 0.0), (4, 0.25)]}

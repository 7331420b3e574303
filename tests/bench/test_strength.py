"""Strength measurements write their figures, with small boards, short clocks and few games."""

import hashlib
import json
import sys
from pathlib import Path

import pytest

from bench.strength import (
    amazons_engine,
    amazons_net,
    gomoku_engine,
    gomoku_zero,
    growing_boards,
    joseki,
    levels,
    search_depth,
)
from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_table
from pipeline_src.players.packaged import ladders
from pipeline_src.records.go_games import write_sgf
from pipeline_src.records.record import GameRecord, write_records
from pipeline_src.report.figures import REGISTRY
from tests.systems.joseki.games import random_record
from tests.systems.search_depth.test_match import (
    PARAMS,
    project,  # noqa: F401, a fixture
)

MATCHES = {
    "one_ply": ("one_ply", "random", 4, 1),
    "doubling_a": ("random", "random", 4, 2),
    "fast": ("random", "random", 2, 3),
    "learned": ("one_ply", "one_ply:noise=9", 4, 4),
}


@pytest.fixture
def play(tmp_path, monkeypatch):
    monkeypatch.setattr(amazons_engine, "MATCHES", MATCHES)
    monkeypatch.setattr(amazons_engine, "WORK", tmp_path / "work")
    monkeypatch.setattr(amazons_engine, "OUT", tmp_path / "measured.json")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["strength", "--workers", "1", "--moves", "20", *words])
        amazons_engine.main()
        return json.loads((tmp_path / "measured.json").read_text())

    return run


def test_chosen_matches_are_played_and_others_read_from_journals(play, capsys):
    first = play("--only", "one_ply", "--games", "2")
    assert list(first["matches"]) == ["one_ply"]
    assert first["score_vs_one_ply"]["n"] == 2
    assert first["score_vs_one_ply"]["value"] == 1.0
    capsys.readouterr()
    both = play("--only", "fast")
    assert capsys.readouterr().out.startswith("fast: random against random")
    assert both["matches"]["one_ply"]["games"] == 2
    assert both["illegal_moves"]["n"] == both["time_losses"]["n"] == 4
    assert both["illegal_moves"]["value"] == 0
    whole = play()
    assert {name: match["games"] for name, match in whole["matches"].items()} == {
        name: games for name, (_, _, games, _) in MATCHES.items()
    }
    assert set(whole) - {"matches"} <= set(REGISTRY["amazons_engine"])
    assert whole["late_moves"]["n"] == 20
    assert whole["learned_evaluation_elo"]["n"] == 4


def test_net_search_is_measured_on_all_boards(tmp_path, monkeypatch):
    matches = {"puct_100": ("one_ply", "random", 4, 10), "puct_6x6": ("one_ply", "random", 2, 6)}
    monkeypatch.setattr(amazons_net, "MATCHES", matches)
    monkeypatch.setattr(amazons_net, "WORK", tmp_path / "work")
    monkeypatch.setattr(amazons_net, "OUT", tmp_path / "measured.json")
    monkeypatch.setattr("sys.argv", ["strength", "--workers", "1"])
    amazons_net.main()
    found = json.loads((tmp_path / "measured.json").read_text())
    assert set(found) - {"matches"} <= set(REGISTRY["amazons_net"])
    assert found["puct_vs_alphabeta"]["value"] == 1.0
    assert {name: match["games"] for name, match in found["matches"].items()} == {"puct_100": 4, "puct_6x6": 2}


PLAYERS = "random", "random"
GOMOKU_MATCHES = {
    "score_vs_previous_15": (*PLAYERS, 7, "freestyle", 4),
    "fifth_of_the_time": (*PLAYERS, 7, "freestyle", 2),
}
WON = {"size": 7, "variant": "freestyle-4", "actions": [24, 31, 23, 30], "plies": 3}


@pytest.fixture
def measure_gomoku(tmp_path, monkeypatch):
    monkeypatch.setattr(gomoku_engine, "MATCHES", GOMOKU_MATCHES)
    monkeypatch.setattr(gomoku_engine, "NAMES", [*GOMOKU_MATCHES, "late_moves", "renju_suite"])
    monkeypatch.setattr(gomoku_engine, "WORK", tmp_path / "work")
    monkeypatch.setattr(gomoku_engine, "OUT", tmp_path / "measured.json")
    monkeypatch.setattr(gomoku_engine, "JUDGE", "engine:nodes=50")
    monkeypatch.setattr(gomoku_engine, "BOUND", 2000.0)
    monkeypatch.setattr(gomoku_engine, "QUICK_GAMES", 0)

    def run(*words):
        monkeypatch.setattr("sys.argv", ["strength", *words])
        gomoku_engine.main()
        return json.loads((tmp_path / "measured.json").read_text())

    return run


def test_partial_runs_add_to_the_file(measure_gomoku, tmp_path, monkeypatch):
    positions = tmp_path / "positions.jsonl"
    positions.write_text("\n".join(json.dumps(WON | {"plies": plies}) for plies in (3, 12)))
    first = measure_gomoku("--positions", str(positions), "--only", "-")
    assert first["forced_wins_9"]["value"] == first["forced_wins_15"]["value"] == 1.0
    assert "forced_wins_25" not in first
    then = measure_gomoku("--only", "15", "--games", "2")
    assert then["score_vs_previous_15"]["n"] == 2
    assert then["forced_wins_9"] == first["forced_wins_9"]
    monkeypatch.setattr(gomoku_engine, "NAMES", [*GOMOKU_MATCHES])
    whole = measure_gomoku()
    games = {name: found["games"] for name, found in whole["matches"].items()}
    assert games == {"score_vs_previous_15": 4, "fifth_of_the_time": 2}
    assert set(whole) - {"matches"} <= set(REGISTRY["gomoku_engine"])


def test_all_known_renju_positions_are_right(measure_gomoku):
    assert measure_gomoku("--only", "renju_suite")["renju_suite"]["value"] == 1.0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_brain_is_timed_while_another_process_is_busy(measure_gomoku):
    brain = f"'{sys.executable}' -m pipeline_src.cli gomoku brain --player random"
    row = measure_gomoku("--only", "late", "--moves", "30", "--brain", brain)["late_moves"]
    assert row["n"] == 30
    assert 0 < row["median_ms"] <= row["p99_ms"] <= row["longest_ms"]
    assert row["most_memory_mib"] > 20


OPPONENTS = {
    "mcts1000": {"player": "mcts:playouts=1000", "pairs": 2},
    "minimax": {"player": "minimax:depth=2", "pairs": 1},
    "alphabeta2": {"player": "alphabeta:depth=2", "pairs": 1},
    "alphabeta4": {"player": "alphabeta:depth=4", "pairs": 1},
}
NAMES = {name for name, figure in REGISTRY["gomoku_zero"].items() if figure.stage != "gomoku_calibration"}
EVALUATE = {"opponents": OPPONENTS, "simulations": 64, "options": "chunk=8", "headline_options": "solver=200"}
ELO = {"value": 100.0, "low": 60.0, "high": 140.0, "n": 10}


def record(gid, winner, names, event):
    first, second = names
    return GameRecord(
        "gomoku", gid, "engine", "freestyle", 9, 9, (), winner, first_name=first, second_name=second, event=event
    )


def run(folder, seed, winners, elo=100.0):
    """A folder as a run leaves it; ``winners`` are those of the games against MCTS, w for ours; all others lost."""
    reports = folder / gomoku_zero.REPORT.parent / "generations"
    reports.mkdir(parents=True)
    (folder / "params.yaml").write_text(
        yaml12.dump(
            {"seed": seed, "gomoku_generations": {"02": {"before": "01"}}, "gomoku_evaluate": EVALUATE},
            sort_keys=False,
        )
    )
    metrics = {"generations": 2, "elo_last": ELO | {"value": elo}, "best_of_five_won": {"value": 0.5, "n": 4}}
    (folder / gomoku_zero.REPORT).write_text(json.dumps(metrics))
    for number in (1, 2):
        (reports / f"{number:02d}.json").write_text(json.dumps({"self_play": {"games": 50}}))
        (reports / f"{number:02d}.timings.json").write_text(json.dumps({"seconds": {"self_play": 900, "train": 900}}))
    games = []
    for opponent in OPPONENTS.values():
        for i in range(2 * opponent["pairs"]):
            won = winners[i] if opponent is OPPONENTS["mcts1000"] else "l"
            names = ("zero:x", opponent["player"]) if i % 2 == 0 else (opponent["player"], "zero:x")
            winner = "draw" if won == "d" else "first" if (won == "w") == (i % 2 == 0) else "second"
            games.append(record(len(games) + 1, winner, names, "headline"))
    games.append(record(len(games) + 1, "first", ("zero:x", "zero:y"), "table2"))
    write_records(games, folder / gomoku_zero.GAMES)
    return folder


def test_runs_are_pooled_into_all_figures(tmp_path):
    found = gomoku_zero.figures([run(tmp_path / "a", 1, "wwwd"), run(tmp_path / "b", 2, "wlww", 300.0)])
    assert set(found) == NAMES
    assert found["score_vs_mcts1000"]["value"] == 6.5 / 8
    assert found["score_vs_mcts1000"]["n"] == 8
    assert found["score_vs_minimax"]["value"] == 0
    assert found["train_hours"]["value"] == 1.0
    assert found["self_play_games_per_hour"]["value"] == 200
    assert found["best_of_five_won"]["n"] == 8
    assert found["elo_last"]["value"] == 200
    assert found["elo_last"]["high"] - 200 == pytest.approx(1.959964 * 100)  # the runs differ by more than their errors


def test_a_collected_run_is_kept_with_the_laptops_run(tmp_path, monkeypatch):
    monkeypatch.setattr(gomoku_zero, "OUT", tmp_path / "measured.json")
    laptop, paper = run(tmp_path / "a", 1, "wwww"), run(tmp_path / "b", 7, "llll")
    for words in (["--collect", str(laptop)], ["--profile", "paper", "--collect", str(paper), "--hardware", "one GPU"]):
        monkeypatch.setattr("sys.argv", ["strength", *words])
        gomoku_zero.main()
    found = json.loads((tmp_path / "measured.json").read_text())
    assert found["score_vs_mcts1000"]["value"] == 1.0
    assert found["score_vs_mcts1000"]["profile"] == "laptop"
    assert found["score_vs_mcts1000"]["player"] == "net with solver=200, 64 simulations"
    assert found["best_of_five_won"]["player"] == "bare net, 64 simulations"
    assert found["score_vs_mcts1000"]["code"] is None  # a folder that does not say
    of_paper = found["runs"]["paper"]
    assert of_paper["figures"]["score_vs_mcts1000"]["value"] == 0.0
    assert of_paper["figures"]["score_vs_mcts1000"]["hardware"] == "one GPU"
    assert list(of_paper["seeds"]) == ["7"]


def test_games_of_other_params_are_refused(tmp_path):
    folder = run(tmp_path / "a", 1, "wwww")
    text = (folder / "params.yaml").read_text().replace("playouts=1000", "playouts=999")
    (folder / "params.yaml").write_text(text)
    with pytest.raises(ZugwerkError, match="not the games of"):
        gomoku_zero.figures([folder])


GAMES = [random_record(seed) for seed in range(15)]


def test_every_figure_is_measured_and_rejects_are_counted(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "games"
    folder.mkdir()
    for number, game in enumerate(GAMES):
        (folder / f"{number}.sgf").write_bytes(write_sgf(game))
    (folder / "bad.sgf").write_bytes(b"(;SZ[19];B[d")
    monkeypatch.setattr(joseki, "OUT", tmp_path / "joseki.json")
    words = ["joseki", "--games", str(folder), "--data", "random games", "--scales", "10", "20"]
    monkeypatch.setattr(sys, "argv", words)
    joseki.main()
    found = json.loads((tmp_path / "joseki.json").read_text())
    assert set(REGISTRY["joseki"]) <= set(found)
    assert found["games"]["value"] == 15
    assert found["games"]["data"] == "random games"
    assert found["rejects"] == {"bad_text": 1}
    assert found["clashes_unresolved"]["value"] == 0
    listed = read_table(tmp_path / "joseki_games.csv")
    assert len(listed) == 16
    digest = hashlib.sha256((folder / "bad.sgf").read_bytes()).hexdigest()
    assert {"file": "bad.sgf", "sha256": digest} in listed
    assert [step["games"] for step in found["scaling"]] == [10, 20]
    assert found["recommend_top3"]["n"] == found["encodings"]["value"]  # each move is held out once
    assert "clashes_ours: 0" in capsys.readouterr().out


TEXTS = ["random", "one_ply:noise=9", "one_ply"]
LEVELS = [{"name": text, "player": text, "elo": 0.0, "low": 0.0, "high": 0.0, "games": 1, "ms": 1.0} for text in TEXTS]
LADDER = {"game": "amazons", "size": 6, "variant": "standard", "anchor": "one_ply", "openings": "random:2"}


@pytest.fixture
def measure_levels(tmp_path, monkeypatch):
    file, measured = tmp_path / "levels.yaml", tmp_path / "measured.json"
    file.write_text(yaml12.dump({"ladders": [LADDER | {"levels": LEVELS}, LADDER | {"size": 8, "levels": LEVELS}]}))
    measured.write_text('{"illegal_moves": {"value": 0}}')
    monkeypatch.setattr(levels, "FILE", file)
    monkeypatch.setattr(levels, "WORK", tmp_path / "work")
    monkeypatch.setattr(levels, "MEASURED", {"amazons": measured})

    def run(*words):
        monkeypatch.setattr("sys.argv", ["levels", *words])
        levels.main()
        return ladders(file=file), json.loads(measured.read_text())

    yield run
    ladders.cache_clear()


def test_ladder_writes_elo_into_table_and_measurements(measure_levels):
    (six, eight), measured = measure_levels("--only", "amazons-6", "--games", "8")
    assert [level.elo for level in eight.levels] == [0, 0, 0], "only the chosen ladder is played"
    elos = [level.elo for level in six.levels]
    assert elos == sorted(elos)
    assert elos[-1] == 1500, "the anchor"
    assert [level.games for level in six.levels] == [12, 16, 12]
    assert all(level.ms > 0 for level in six.levels)
    figure = measured["levels_6_standard"]
    assert figure["value"] == pytest.approx(elos[-1] - elos[0], abs=1)
    assert figure["low"] < figure["value"] < figure["high"]
    assert figure["command"] == "make measure-levels"
    assert set(measured) - {"levels", "illegal_moves"} <= set(REGISTRY["amazons_engine"])
    assert measured["illegal_moves"] == {"value": 0}, "other figures stay"
    rows = measured["levels"]["amazons-6-standard"]
    assert [(row["a"], row["b"], row["wins"] + row["draws"] + row["losses"]) for row in rows] == [
        ("one_ply:noise=9", "random", 8),
        ("one_ply", "one_ply:noise=9", 8),
        ("one_ply", "random", 4),
    ]


# The committed measurement, with a clock of next to nothing and a net that learnt nothing.


DEPTH_MATCHES = {
    "cnn_table": ("cnn", "table", 4),
    "cnn_deepening": ("cnn", "deepening", 2),
    "hand_cnn_halves": ("cnn", "cnn_halves", 2),
    "hand_cnn_steps": ("cnn", "cnn_steps", 4),
    "curve_cnn_depth3": ("cnn", "depth3", 2),
    "curve_cnn_share20": ("cnn", "share20", 2),
}
FIGURES = {"unbeaten_vs_fixed", "wins_vs_fixed", "mean_margin", "time_outs", "score_vs_iterative_deepening"}
PUBLISHED = {"cnn_unbeaten_vs_fixed", "cnn_score_vs_iterative_deepening"}
CURVE = {"cnn_unbeaten_vs_depth3", "cnn_margin_vs_depth3"}
HAND = {"unbeaten_vs_hand_table", "cnn_unbeaten_vs_hand_table"}


@pytest.fixture
def play_depth(project, monkeypatch):  # noqa: F811 - the fixture
    players = {"cnn": "depth=cnn,model={paper}", "deepening": ""}
    match = PARAMS["depth_match"] | {
        "players": players,
        "matches": {"one": {"a": "cnn", "b": "deepening", "pairs": 1}},
    }
    (project / "params.yaml").write_text(yaml12.dump(PARAMS | {"profile": "night", "depth_match": match}))
    monkeypatch.setattr(search_depth, "MATCHES", DEPTH_MATCHES)
    monkeypatch.setattr(search_depth, "PILOT_PAIRS", 1)
    monkeypatch.setattr(search_depth, "HEADLINE", "cnn")

    def run(*words):
        monkeypatch.setattr("sys.argv", ["strength", "--workers", "1", *words])
        search_depth.main()
        return json.loads(search_depth.OUT.read_text())

    return run


def test_figures_come_from_the_matches_and_finished_games_are_kept(play_depth, monkeypatch):
    part = play_depth("--only", "cnn_table", "--games", "2")
    assert set(part["matches"]) == {"cnn_table"}
    missing = {"command": "make measure-search_depth ONLY=curve_cnn_share20"}
    assert part["curve"]["cnn_share20"] == missing, "a missing point says what makes it"
    assert part["unbeaten_vs_fixed"]["n"] == 2
    whole = play_depth()
    assert set(whole) - {"matches", "tables", "curve"} == FIGURES | PUBLISHED | HAND | CURVE
    assert set(whole["matches"]) == {name for name in DEPTH_MATCHES if not name.startswith("curve_")}
    assert whole["curve"]["cnn_depth3"]["spent"]["value"] > 0
    assert whole["unbeaten_vs_fixed"]["n"] == whole["time_outs"]["n"] == 4
    assert whole["score_vs_iterative_deepening"]["value"] == whole["matches"]["cnn_deepening"]["score"]["value"]
    assert whole["cnn_unbeaten_vs_hand_table"]["n"] == 2 + 4
    assert whole["tables"]["cnn"]["options"].startswith("depth=table,lowest=3")
    again = "zugwerk profile night && dvc repro depth_train && make measure-search_depth"
    assert whole["mean_margin"]["command"] == again
    assert whole["cnn_margin_vs_depth3"]["command"] == f"{again} ONLY=curve_cnn_depth3"
    monkeypatch.setattr("pipeline_src.arena.runner.play", None)  # nothing may be played
    assert play_depth("--only", "cnn_") == whole, "other matches are read from the journal"
    assert play_depth("--only", "curve_cnn_depth3") == whole


def learnt(seconds, early=False, short=False):
    return growing_boards.Run(seconds, 1e9 * seconds, early, short)


def test_growth_is_a_share_of_both_counts():
    found = growing_boards.compared(
        {"grown": [learnt(10), learnt(40)], "scratch": [learnt(80), learnt(20, early=True)]}
    )
    assert [found[key]["value"] for key in ("share", "share_of_multiply_adds")] == pytest.approx([0.5, 0.5])
    assert found["grown"]["value"] == pytest.approx(20)
    assert (found["scratch"]["early"], found["scratch"]["short"]) == (1, 0)


def test_law_leaves_out_boards_with_bounds_only():
    opponents = growing_boards.LINES_OPPONENTS

    def rows(*runs, games=growing_boards.LINES_GAMES, hardware="a core"):
        row = growing_boards.compared({"scratch": list(runs)}) | {"games": games, "hardware": hardware}
        return dict.fromkeys(opponents, row)

    doubling = {str(size): rows(learnt(2.0**size), learnt(1.1 * 2.0**size)) for size in (9, 11, 15)}
    bounds = {"6": rows(learnt(1.0, early=True)), "20": rows(learnt(9.0, short=True))}
    against_one = {"13": {opponents[1]: rows(learnt(2.0**13))[opponents[1]]}}
    fewer_games = {"7": rows(learnt(9.0), games=100)}
    laws = growing_boards.law(doubling | bounds | against_one | fewer_games)
    assert laws[opponents[1]]["scratch"]["boards"] == [9, 11, 13, 15]
    found = laws[opponents[0]]
    assert found["scratch"]["boards"] == [9, 11, 15]
    assert found["scratch"]["value"] == pytest.approx(2)
    same = {key: found["scratch"][key] for key in ("value", "low", "high", "n")}
    assert found["scratch"]["of_multiply_adds"] == pytest.approx(same)
    assert 1.9 < found["scratch"]["low"] < 2 < found["scratch"]["high"] < 2.1
    assert list(found) == ["scratch"]
    assert growing_boards.law(bounds) == {}
    apart = {size: {name: row | {"hardware": size} for name, row in met.items()} for size, met in doubling.items()}
    assert growing_boards.law(apart) == {}
    slower = {"19": rows(*(learnt(3 * seconds * 2.0**19) for seconds in (1, 1.1)), hardware="a slow core")}
    slower |= {"6-15": rows(*(learnt(3 * seconds * 2.0**15) for seconds in (1, 1.1)), hardware="a slow core")}
    both = growing_boards.law(doubling | slower)[opponents[0]]["scratch"]
    assert both["value"] == pytest.approx(2)
    assert (both["boards"], both["n"], both["of_multiply_adds"]["n"]) == ([9, 11, 15, 19], 10, 8)

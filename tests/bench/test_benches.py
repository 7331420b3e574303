"""The runner of benchmarks, and the programs and solvers that they measure against."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest

from bench import run
from bench.connect_four import Solver, against, judge, random_opening, share
from bench.hostile import READERS, Attack, attack, tars
from bench.measure import changes, committed, notable
from bench.othello import CORNER, AlphaBeta, evaluate
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.game import load_game
from pipeline_src.records.raw import RawGame

ROW = {"ours": 2.0, "ratio": None, "reference": None, "reference_name": None, "unit": "s"}


def row(name, ours, ratio=None, unit="games/s"):
    return ROW | {"name": name, "ours": ours, "ratio": ratio, "unit": unit}


def test_committed_rows_belong_to_benchmarks():
    sources = "".join((run.FOLDER / f"{name}.py").read_text() for name in run.benches())
    for one in json.loads((run.FOLDER / "results.json").read_text()):
        assert f'"{one["name"]}"' in sources or one["name"].startswith("selfplay_")


def test_words_choose_benchmarks():
    assert run.benches(["gomoku_r", "s_eng"]) == ["amazons_engine", "gomoku_rules"]
    with pytest.raises(ZugwerkError, match=r"no benchmark with 'chess' in its name; there are: amazons_data, "):
        run.benches(["s_eng", "chess"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A bench folder with earlier results and three benchmarks, of which ``two`` fails."""
    package = tmp_path / "bench"
    package.mkdir()
    (package / "one.py").write_text(f"\ndef measure():\n    return [{ROW | {'name': 'new'}}]\n")
    (package / "two.py").write_text("\ndef measure():\n    raise OSError('no compiler')\n")
    (package / "absent.py").write_text(f"\ndef measure():\n    return [{ROW | {'name': 'old', 'ours': None}}]\n")
    (package / "helper.py").write_text("\ndef helper():\n    pass\n")
    (package / "results.json").write_text(json.dumps([ROW | {"name": "old"}]))
    monkeypatch.setattr(run, "FOLDER", package)
    monkeypatch.setattr("bench.__path__", [str(package)])
    for name in ("one", "two", "absent"):
        monkeypatch.delitem(sys.modules, f"bench.{name}", raising=False)
    yield package
    for name in ("one", "two", "absent"):
        sys.modules.pop(f"bench.{name}", None)


def rows(folder):
    return [row["name"] for row in json.loads((folder / "results.json").read_text())]


def test_rows_measured_before_a_failure_are_kept(folder, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["run"])
    with pytest.raises(OSError, match="no compiler"):
        run.main()
    assert rows(folder) == ["new", "old"]


def test_partial_run_keeps_other_rows_and_full_run_drops_them(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run", "one"])
    run.main()
    assert rows(folder) == ["new", "old"]
    monkeypatch.setattr(sys, "argv", ["run", "absent"])
    run.main()
    assert json.loads((folder / "results.json").read_text())[1]["ours"] == 2
    (folder / "two.py").unlink()
    (folder / "absent.py").unlink()
    monkeypatch.setattr(sys, "argv", ["run"])
    run.main()
    assert rows(folder) == ["new"]
    assert "new" in capsys.readouterr().out


def test_change_above_one_means_faster():
    found = changes([row("rate", 30.0), row("time", 2.0, unit="ms")], [row("rate", 10.0), row("time", 6.0, unit="ms")])
    assert found == {"rate": 3, "time": 3}


def test_slower_machine_is_no_change_given_a_reference():
    found = changes([row("a", 5.0, ratio=2.0)], [row("a", 10.0, ratio=2.1)])
    assert found == {"a": pytest.approx(2.0 / 2.1)}
    assert notable(found) == ["nothing changed by more than 20 % since the committed results"]


def test_committed_rows_are_read_from_git(tmp_path):
    assert committed(tmp_path) == []
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "results.json").write_text(json.dumps([row("a", 1.0)]))
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    subprocess.run([*git, "commit", "-qm", "x"], cwd=tmp_path, check=True)
    (tmp_path / "results.json").write_text("[]")
    assert committed(tmp_path) == [row("a", 1.0)]


def test_no_hostile_text_makes_a_crash_or_a_stray_file(tmp_path):
    attacked = attack(tmp_path, 400, seed=3, large=False)
    assert not attacked.crashes
    assert not attacked.strays()
    assert sum(attacked.outcomes.values()) >= 400


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_readers_accept_their_valid_texts(tmp_path, reader):
    """Else nothing behind the first check would ever be attacked."""
    attacked = Attack(tmp_path)
    attacked.feed("good", reader.read, reader.good.encode())
    assert attacked.outcomes == {"good: read": 1}


def test_crashes_and_stray_files_are_counted(tmp_path):
    attacked = Attack(tmp_path)

    def stray(_data):
        (tmp_path / "stray").touch()
        return []

    def crash(_data):
        raise KeyError("x")

    attacked.feed("a", crash, b"")
    attacked.feed("a", stray, b"")
    attacked.feed("a", lambda _data: [RawGame(1, "\ud800", 200, b"")], b"")
    assert len(attacked.crashes) == 2
    assert attacked.strays() == [str(tmp_path / "stray")]


def test_archives_differ():
    made = [data for what, data in tars(random.Random(1)) if "bomb" not in what]
    assert len(set(made)) > 60


# The exact solver of Connect Four against a plain search of all that can follow, and a published value.


RULES = load_game("connect_four")


@pytest.fixture(scope="module")
def solver():
    return Solver()


def after(moves):
    state = RULES.initial_state()
    for action in moves:
        state = RULES.play(state, action)
    return state


def searched(state):
    result = RULES.winner(state)
    if result is not None:
        return {"draw": 0}.get(result, -1)
    return max(-searched(RULES.play(state, int(action))) for action in RULES.legal_actions(state))


@pytest.mark.parametrize("seed", range(12))
def test_solver_agrees_with_a_search_of_everything(solver, seed):
    state = after(random_opening(np.random.default_rng(seed), 35))
    assert solver.value(state) == searched(state)


def test_solver_knows_a_published_value(solver):
    """The first position of Pascal Pons' set of late, easy ones: lost."""
    assert solver.value(after(int(digit) - 1 for digit in "2252576253462244111563365343671351441")) == -1


@pytest.mark.parametrize("seed", range(12))
def test_judge_counts_moves_that_keep_the_value(solver, seed):
    opening = random_opening(np.random.default_rng(seed), 36)
    state = after(opening)
    values = {int(action): -searched(RULES.play(state, int(action))) for action in RULES.legal_actions(state)}
    best = max(values.values())
    for action, value in values.items():
        assert judge(solver, opening, [action]) == (value == best, 1, min(values.values()) < best)


def test_share_has_an_interval_over_games():
    found = share([(9, 10, 3), (10, 10, 4), (8, 10, 5)])
    assert (found.kept, found.moves, found.decided) == (27, 30, 12)
    assert found.low < 0.9 < found.high <= 1


class FirstColumn:
    """A player that fills one column."""

    def choose(self, asked):
        return [0]


@pytest.mark.parametrize(("opening", "side", "points"), [([], 0, 1), ([], 1, 0), ([6], 0, 0), ([6], 1, 1)])
def test_points_are_those_of_the_player_on_its_side(opening, side, points):
    assert against("connect_four", FirstColumn(), lambda _: 1, opening, side) == points


def test_alpha_beta_of_othello_is_negamax():
    def negamax(state, depth):
        if depth == 0 or game.winner(state) is not None:
            return evaluate(state)
        return max(-negamax(game.play(state, int(action)), depth - 1) for action in game.legal_actions(state))

    game = load_game("othello")
    for plies in (0, 20, 52, 56):  # in the last ones games end
        state = game.initial_state()
        for action in random_opening(np.random.default_rng(plies), plies, "othello"):
            state = game.play(state, action)
        values = {int(one): -negamax(game.play(state, int(one)), 2) for one in game.legal_actions(state)}
        assert values[AlphaBeta(3, 0).choose(state)] == max(values.values())


def test_corners_and_moves_count_in_othello():
    state = load_game("othello").initial_state()
    assert evaluate(state) == 0  # four moves each
    state.board[0, 0] = 1
    assert evaluate(state) == CORNER


# OpenSpiel's search of the Amazons as an engine.


@pytest.fixture
def spiel():
    pytest.importorskip("pyspiel")
    from bench import openspiel_uci

    return openspiel_uci


def turns(spiel, state, size):
    """Our numbers of all turns of an OpenSpiel state, ascending."""
    found = []
    for start in state.legal_actions():
        moved = state.child(start)
        for to in moved.legal_actions():
            found += [spiel.turn([start, to, arrow], size) for arrow in moved.child(to).legal_actions()]
    return sorted(found)


@pytest.mark.parametrize("size", amazons.SIZES)
def test_both_rules_agree_at_every_ply_of_random_games(spiel, size):
    rng = np.random.default_rng(size)
    for _ in range(5):
        ours = amazons.initial_state(size)
        theirs = spiel.pyspiel.load_game("amazons", {"board_size": size}).new_initial_state()
        while (winner := amazons.winner(ours)) is None:
            assert not theirs.is_terminal()
            assert theirs.current_player() == amazons.to_play(ours)
            legal = sorted(amazons.legal_actions(ours).tolist())
            assert turns(spiel, theirs, size) == legal
            action = int(rng.choice(legal))
            ours = amazons.play(ours, action)
            for part in spiel.sub_actions(action, size):
                theirs.apply_action(part)
        assert theirs.is_terminal()
        assert (theirs.returns()[0] > 0) == (winner == "first")


def test_squares_are_converted_and_back(spiel):
    assert [spiel.square(index, 10) for index in (0, 9, 90, 93)] == [90, 99, 0, 3]
    assert all(spiel.square(spiel.square(index, 6), 6) == index for index in range(36))


def test_engine_keeps_to_time_and_simulations(spiel):
    lines = "uci\nisready\nposition startpos moves d1d7g7\ngo movetime 200\nposition startpos6\ngo nodes 20\n"
    lines += "position fen 1q1/3/1Q1 w\ngo nodes 5\nquit\n"
    line = [sys.executable, "-m", "bench.openspiel_uci"]
    said = subprocess.run(line, input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    best = [text.split()[1] for text in said if text.startswith("bestmove")]
    after = amazons.play(amazons.initial_state(), amazons.parse_move("d1d7g7"))
    assert amazons.is_legal(after, amazons.parse_move(best[0]))
    assert amazons.is_legal(amazons.initial_state(6), amazons.parse_move(best[1], 6, 6))
    assert best[2] == "(none)"
    infos = [text.split() for text in said if text.startswith("info nodes")]
    assert int(infos[0][6]) < 260
    assert int(infos[1][2]) == 60

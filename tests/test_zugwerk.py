"""`import zugwerk`: light until something is played, and every refusal is one error that says what there is."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import zugwerk
from pipeline_src import yaml12
from pipeline_src.records.record import GameRecord
from tests.layout.imports import ROOT

HEAVY = {"numba", "torch", "onnxruntime", "pyarrow", "fastapi", "numpy"}


def test_the_import_loads_nothing_heavy():
    code = f"import zugwerk, sys; print(*sorted({HEAVY} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []


def test_every_name_is_there():
    assert set(zugwerk.__all__) <= set(dir(zugwerk))


@pytest.mark.parametrize("name", zugwerk.games())
def test_a_game_is_played_by_texts_and_replayed_by_ids(name):
    position, rng = zugwerk.game(name), np.random.default_rng(1)
    first = position
    for _ in range(6):
        position = position.play(str(rng.choice(position.legal_moves)))
    again = first.play(*position.actions)
    assert again.fen == position.fen == zugwerk.game(name, fen=position.fen).fen
    assert again.moves == position.moves
    assert first.actions == ()
    assert [position.text(action) for action in position.legal_actions.tolist()] == position.legal_moves


def test_record_of_a_game_in_one_file_is_replayed(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text((ROOT / "pipeline_src/games/learnable/connect_four.py").read_text())
    record = GameRecord("connect_four", 1, "file", "standard", 6, 7, (3, 3, 4), winner=None)
    own = replace(record, game=str(path))
    *_, last = zugwerk.replay(record)
    assert last.moves == ["d", "d", "e"]
    assert [one.fen for one in zugwerk.replay(own, str(path))][-1] == last.fen
    with pytest.raises(zugwerk.ZugwerkError, match="no game called"):
        next(zugwerk.replay(own))


@pytest.mark.parametrize(
    ("fen", "parts"),
    [
        ("gomoku 3/1x1/o2 b freestyle-3", {"circle": 2, ">c<": 1}),
        ("amazons 3/1q1/Q1* w - - 0 1", {"translate": 2, 'fill="#5b5347"': 1}),
    ],
)
def test_a_notebook_shows_the_board(fen, parts):
    name, _, text = fen.partition(" ")
    picture = zugwerk.game(name, fen=text)._repr_svg_()
    assert {part: picture.count(part) for part in parts} == parts


def test_a_search_reports_lines_and_the_shares_of_its_simulations():
    with zugwerk.player("zero:simulations=60", "gomoku") as player:
        thought = player.think(zugwerk.game("gomoku", 15).play("h8", "a1"), lines=3)
    assert thought.by_results
    assert -1 <= thought.value <= 1
    assert [line.moves[0] for line in thought.lines] == list(thought.policy)
    assert thought.move == thought.lines[0].moves[0]
    assert sum(thought.policy.values()) == pytest.approx(1)


def test_dvc_finds_the_nets_by_the_same_names():
    found = yaml12.parse((ROOT / "dvc.yaml").read_text())["artifacts"]
    there = {name: ROOT / one["path"] for name, one in found.items() if one["path"].startswith("pipeline_src/")}
    assert there == {name: zugwerk.net(name).file for name in zugwerk.nets()}
    assert all(one["desc"] and one["labels"] for one in found.values())
    assert {name for name, one in found.items() if one["type"] != "model"} == {"joseki-library-run"}


def test_the_cards_for_hubs_have_the_figures_with_their_intervals():
    for name in zugwerk.nets():
        net = zugwerk.net(name)
        _, head, body = net.file.with_name(f"{net.card.name}.md").read_text().split("---\n")
        about = yaml12.parse(head)
        (model,) = about["model-index"]
        (result,) = model["results"]
        assert (about["license"], about["library_name"], model["name"]) == ("mit", "zugwerk", name)
        assert {net.card.game, net.card.rule} <= set(about["tags"])
        assert {"type", "name"} <= result["task"].keys() & result["dataset"].keys()
        assert all(one["args"]["low"] <= one["value"] <= one["args"]["high"] for one in result["metrics"])
        assert name in body


@pytest.mark.parametrize("name", zugwerk.nets())
def test_a_nets_policy_is_that_of_its_player(name):
    net = zugwerk.net(name)
    position = zugwerk.game(net.card.game, net.card.size, net.card.rule)
    position = position.play(*[position.legal_moves[0]] * (net.card.game == "amazons"))
    seen = net.evaluate(position)
    assert set(seen.policy) == set(position.legal_moves)
    assert sum(seen.policy.values()) == pytest.approx(1, abs=1e-5)
    assert list(seen.policy.values()) == sorted(seen.policy.values(), reverse=True)
    assert -1 <= seen.value <= 1
    text = f"zero:{net.file},search=none" if net.card.game == "gomoku" else f"nets:{net.file}"
    moves = dict[str, float]()
    for move, share in seen.policy.items():
        first = move.partition("/")[0]  # an Amazons player chooses the move before the arrow
        moves[first] = moves.get(first, 0) + share
    best = max(moves, key=moves.get)
    with zugwerk.player(text, net.card.game) as player:
        assert player.think(position).move == next(move for move in seen.policy if move.startswith(best))


def test_a_game_is_learnt_and_its_net_plays(tmp_path):
    said = []
    net = zugwerk.learn("connect_four", tmp_path / "four", rounds=1, say=said.append, games=2, simulations=2)
    assert said
    with zugwerk.player(f"net:{net},simulations=8", "connect_four") as player:
        thought = player.think(zugwerk.game("connect_four").play("d", "d"))
    assert thought.move in "abcdefg"
    standing = zugwerk.match("connect_four", f"net:{net},simulations=2", "random", games=2).standing
    assert standing.games == 2
    with pytest.raises(zugwerk.ZugwerkError, match=r"four.*lines"):
        zugwerk.learn("hex", tmp_path / "hex", rounds=1, start=tmp_path / "four")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: zugwerk.game("chess"), "gomoku"),
        (lambda: zugwerk.game("nowhere.py"), "nowhere.py"),
        (lambda: zugwerk.game("connect_four", 9), "there are sizes 7"),
        (lambda: zugwerk.learn("chess", "nowhere"), "connect_four"),
        (lambda: zugwerk.game("gomoku", 3), "3x3"),
        (lambda: zugwerk.game("gomoku", 9, fen="9/9/9/9/9/9/9/9/9 b"), "leave out"),
        (lambda: zugwerk.game("gomoku").play("h8", "h8"), "'h8' is not legal"),
        (lambda: zugwerk.game("gomoku").play(-1), "-1 is not legal"),
        (lambda: zugwerk.game("gomoku").play("z99"), "z99"),
        (lambda: zugwerk.player("nobody"), "zugwerk players"),
        (lambda: zugwerk.player("alphabeta"), "amazons, gomoku have it"),
        (lambda: zugwerk.player("zero:nix=1"), "movetime"),
        (lambda: zugwerk.player("random", "amazons").think(zugwerk.game("gomoku")), "plays amazons, not gomoku"),
        (lambda: zugwerk.net("gomoku-3x3-nix"), "gomoku-15x15-renju"),
        (lambda: zugwerk.net("gomoku-15x15-renju").evaluate(zugwerk.game("amazons")), "plays gomoku"),
        (lambda: zugwerk.net("gomoku-15x15-renju").evaluate(zugwerk.game("gomoku", 15)), "renju"),
        (lambda: zugwerk.match("gomoku", "random", "random", games=3), "even"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(call, said):
    with pytest.raises(zugwerk.ZugwerkError, match=said):
        call()


def test_a_finished_game_has_no_move():
    won = zugwerk.game("gomoku", 9).play("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2", "e1")
    assert won.winner == "first"
    with pytest.raises(zugwerk.ZugwerkError, match="over"):
        zugwerk.player("random", "gomoku").think(won)
    with pytest.raises(zugwerk.ZugwerkError, match="over"):
        zugwerk.net("gomoku-15x15-freestyle").evaluate(won)
    with pytest.raises(zugwerk.ZugwerkError, match="over"):
        won.play("f5")

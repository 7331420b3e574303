import os
from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.amazons import board, turns
from pipeline_src.systems.amazons_net.encoders import encode_for
from pipeline_src.systems.amazons_net.forward import NetsForward, torch_threads
from pipeline_src.systems.amazons_net.heads import masked_log_softmax
from pipeline_src.systems.amazons_net.models import save_nets
from pipeline_src.systems.amazons_net.player import BATCH, NetsPlayer
from tests.players.positions import positions, random_states, small_nets, small_residual


def player_of(nets, batch=BATCH, temperature=0.0):
    return NetsPlayer(NetsForward(nets, batch, threads=1), temperature)


def options(size):
    return small_nets(size, mover_relative=True, moved_first=True)


@pytest.mark.parametrize("size", [10, 8, 6])
@pytest.mark.parametrize("make", [small_nets, options, small_residual])
def test_turns_are_legal_from_the_first_to_the_last(size, make):
    states = random_states(150, size)
    assert min(len(amazons.legal_actions(state)) for state in states) < 10
    found = player_of(make(size)).turns(states)
    for state, turn in zip(states, found, strict=True):
        assert amazons.is_legal(state, turn.action)
        assert 0 < turn.win_rate < 1
        assert 0 < turn.win_rate_move_net < 1


@pytest.mark.parametrize("make", [small_nets, small_residual])
def test_a_turn_is_the_best_move_then_the_best_arrow(make):
    """The same by the full 100 x 100 policy, one position at a time, its legal entries from the rules."""
    nets = make(6)
    for state in random_states(20, 6):
        legal = torch.zeros(1, 36 * 36, dtype=torch.bool)
        legal[0, torch.from_numpy(turns.legal_moves(state)).long()] = True
        mover = np.array([board.COLOUR[board.to_play(state)]], np.int8)
        with torch.inference_mode():
            encoded = encode_for(nets.config, state.board[None, ::-1], mover, np.array([-1], np.int16))
            value, logits = nets.move(torch.from_numpy(encoded.features))
            start, to = divmod(int(masked_log_softmax(logits, legal).argmax()), 36)
            moved = turns.move(state, start, to)
            encoded = encode_for(nets.config, moved.board[None, ::-1], mover, np.array([to], np.int16))
            value_after, logits = nets.arrow(torch.from_numpy(encoded.features))
        arrows = [a % 36 for a in amazons.legal_actions(state) if a // 36 == start * 36 + to]
        arrow = max(arrows, key=lambda s: float(logits[0, s]))
        (turn,) = player_of(nets).turns([state])
        assert turn.action == (start * 36 + to) * 36 + arrow
        assert turn.win_rate == pytest.approx(float(value_after.sigmoid()), abs=1e-6)
        assert turn.win_rate_move_net == pytest.approx(float(value.sigmoid()), abs=1e-6)


def test_a_temperature_draws_moves_and_arrows_by_the_nets_probabilities():
    state, nets = random_states(1, 6)[0], small_nets(6)
    cold, warm = player_of(nets), player_of(nets, temperature=0.5)
    many = warm.choose(positions([state] * 1000))
    assert all(amazons.is_legal(state, action) for action in set(many))
    assert warm.choose(positions([state] * 1000)) == many, "by the game's own generator"
    assert [warm.choose([one])[0] for one in positions([state] * 5)] == many[:5]
    before = cold.nets.move(state.board[None, ::-1], np.array([board.COLOUR[board.to_play(state)]], np.int8))
    squared = np.exp(2 * before.log_p[0].astype(float))
    expected = 1000 * squared / squared.sum()
    drawn = np.zeros(expected.shape)
    for action in many:
        start, to = divmod(action // 36, 36)
        drawn[before.amazons[0].tolist().index(start), to] += 1
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected) + 1).all()
    assert set(player_of(nets, temperature=1e-3).choose(positions([state] * 9))) == set(cold.choose(positions([state])))


@pytest.mark.parametrize("make", [small_nets, small_residual])
def test_an_answer_does_not_depend_on_its_company(make):
    states = random_states(21, 8)
    player = player_of(make(8), batch=8)
    together = player.turns(states)
    assert [player.turns([state])[0] for state in states] == together
    assert player.turns(states[::-1])[::-1] == together
    assert player.turns(states[5:9]) == together[5:9]


def test_an_answer_does_not_depend_on_torchs_threads():
    states, player, before = random_states(6, 8), player_of(small_nets(8)), torch.get_num_threads()
    with torch_threads(1):
        one = player.turns(states)
    with torch_threads(2):
        assert player.turns(states) == one
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == before


def test_two_forward_passes_of_one_size_on_one_thread(monkeypatch):
    nets, calls = small_nets(6), []
    for name in ("move", "arrow"):
        forward = getattr(nets, name)

        def spy(x, name=name, forward=forward):
            calls.append((name, len(x), torch.get_num_threads()))
            return forward(x)

        monkeypatch.setattr(nets, name, spy)
    player = player_of(nets, batch=4)
    with torch_threads(2):
        player.turns([amazons.initial_state(6)])
        assert calls == [("move", 4, 1), ("arrow", 4, 1)]
        player.turns(random_states(5, 6))
    assert {size for _, size, _ in calls} == {4}


def test_choose_leaves_the_states_and_the_generators_alone():
    states = random_states(3, 6)
    asked = positions(states, seed=5)
    fens = [amazons.to_fen(state) for state in states]
    player = player_of(small_nets(6))
    assert player.choose(asked) == [turn.action for turn in player.turns(states)]
    assert [amazons.to_fen(state) for state in states] == fens
    untouched = [position.rng.integers(1000) for position in positions(states, seed=5)]
    assert [position.rng.integers(1000) for position in asked] == untouched
    assert player.choose([]) == []


@pytest.mark.parametrize(
    ("fens", "complaint"),
    [
        (["Q***2/*****1/6/Q***Q*/****** w"], "5x6 board, but these nets play on 6x6"),
        ([board.START[10, "standard"]], "10x10 board, but these nets play on 6x6"),
        ([board.START[8, "standard"], board.START[6, "standard"]], "different sizes"),
        (["1q2q1/q4q/6/6/Q4Q/1Q4 w"], "White has 3 amazons; Amazons-Net takes positions with 4"),
        (["1q2q1/q4q/6/6/Q4Q/1QQQ2 w"], "White has 5 amazons"),
        (["QQQQ**/******/6/6/q4q/1q2q1 w"], "the game is over: QQQQ.* w has no turn for the side to move"),
        ([board.START[6, "standard"], "QQQQ**/******/6/6/q4q/1q2q1 w"], "the game is over"),
    ],
)
def test_positions_that_the_nets_cannot_play(fens, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        player_of(small_nets(6)).turns([amazons.from_fen(fen) for fen in fens])


def test_a_model_is_read_once_and_anew_when_it_changes(tmp_path):
    path, state = tmp_path / "nets.pt", [amazons.initial_state(6)]
    save_nets(path, small_nets(6, seed=1))
    first = NetsPlayer.load(str(path))
    assert NetsPlayer.load(str(path)).nets is first.nets
    save_nets(path, small_nets(6, seed=2))
    os.utime(path, ns=(1, 1))
    assert NetsPlayer.load(str(path)).turns(state) == player_of(small_nets(6, seed=2)).turns(state)
    assert first.turns(state) == player_of(small_nets(6, seed=1)).turns(state)
    save_nets(path, small_residual(6, seed=3))
    os.utime(path, ns=(2, 2))
    assert NetsPlayer.load(str(path)).turns(state) == player_of(small_residual(6, seed=3)).turns(state)


def test_a_damaged_model_is_named(tmp_path, monkeypatch):
    path = tmp_path / "nets.pt"
    path.write_bytes(b"not a model")
    with pytest.raises(ZugwerkError, match=r"nets\.pt: damaged, or not a model of these nets \([^)]*\)$"):
        NetsPlayer.load(str(path))
    monkeypatch.chdir(tmp_path)
    path = Path("artifacts/models/nets.pt")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a model")
    with pytest.raises(ZugwerkError, match=r"nets\.pt: damaged.*; `dvc repro amazons_train` makes it$"):
        NetsPlayer.load(str(path))


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (torch.nn.Linear(1, 1), "it holds other things than weights and plain values"),
        ({"weights": 1}, "without 'kind'"),
        ([1], "other contents, TypeError"),
    ],
)
def test_no_advice_to_run_code_of_a_file(tmp_path, content, why):
    path = tmp_path / "nets.pt"
    torch.save(content, path)
    with pytest.raises(ZugwerkError) as caught:
        NetsPlayer.load(str(path))
    assert str(caught.value) == f"{path}: damaged, or not a model of these nets ({why})"

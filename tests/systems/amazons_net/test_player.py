import os

import numpy as np
import pytest
import torch
from torch import nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, kernels
from pipeline_src.learning.torch_state import torch_threads
from pipeline_src.players.player import Bounds, Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.amazons.endgame import closing_turn
from pipeline_src.search.limits import Clock, Limit
from pipeline_src.search.mcts.puct import UNSURE, PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.systems.amazons_net.answers import AmazonsNetEvaluator
from pipeline_src.systems.amazons_net.encode import encode_for
from pipeline_src.systems.amazons_net.forward import NetsForward, QuickNets, export_nets
from pipeline_src.systems.amazons_net.nets import (
    AmazonsConfig,
    AmazonsNets,
    ResidualConfig,
    ResidualNets,
    masked_log_softmax,
    save_nets,
)
from pipeline_src.systems.amazons_net.player import BATCH, NetsPlayer, SettlingEvaluator, open_forward, open_nets
from pipeline_src.systems.gomoku_zero.models import ZeroModel, export_onnx
from tests.players.positions import positions, random_states, small_nets, small_residual
from tests.systems.gomoku_zero.small import SMALL, fresh


def player_of(nets, batch=BATCH, temperature=0.0, moves=1):
    return NetsPlayer(NetsForward(nets, batch, threads=1), temperature, moves)


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
        legal[0, torch.from_numpy(amazons.legal_moves(state)).long()] = True
        mover = np.array([amazons.COLOUR[amazons.to_play(state)]], np.int8)
        with torch.inference_mode():
            encoded = encode_for(nets.config, state.board[None, ::-1], mover, np.array([-1], np.int16))
            value, logits = nets.move(torch.from_numpy(encoded.features))
            start, to = divmod(int(masked_log_softmax(logits, legal).argmax()), 36)
            moved = amazons.move(state, start, to)
            encoded = encode_for(nets.config, moved.board[None, ::-1], mover, np.array([to], np.int16))
            value_after, logits = nets.arrow(torch.from_numpy(encoded.features))
        arrows = [a % 36 for a in amazons.legal_actions(state) if a // 36 == start * 36 + to]
        arrow = max(arrows, key=lambda s: float(logits[0, s]))
        (turn,) = player_of(nets).turns([state])
        assert turn.action == (start * 36 + to) * 36 + arrow
        assert turn.win_rate == pytest.approx(float(value_after.sigmoid()), abs=1e-6)
        assert turn.win_rate_move_net == pytest.approx(float(value.sigmoid()), abs=1e-6)


def test_several_moves_give_the_most_probable_turn():
    nets, states, other = small_nets(6), random_states(20, 6), 0
    forward = player_of(nets).nets
    found = player_of(nets, moves=4 * 36).turns(states)
    for state, turn, first in zip(states, found, player_of(nets).turns(states), strict=True):
        mover = np.array([amazons.COLOUR[amazons.to_play(state)]], np.int8)
        before, log_p = forward.move(state.board[None, ::-1], mover), {}
        for move in amazons.legal_moves(state):
            start, to = divmod(int(move), 36)
            after = forward.arrow(amazons.move(state, start, to).board[None, ::-1], mover, np.array([to], np.int16))
            log_p[move] = before.log_p[0, before.amazons[0].tolist().index(start), to] + after.log_p[0]
        assert turn.action == max(amazons.legal_actions(state), key=lambda a: log_p[a // 36][a % 36])
        other += turn != first
    assert other


def test_a_temperature_takes_no_number_of_moves():
    with pytest.raises(ZugwerkError, match="leave out the temperature"):
        make_player("amazons", "nets:moves=2,temperature=0.5")


def test_a_temperature_draws_moves_and_arrows_by_the_nets_probabilities():
    state, nets = random_states(1, 6)[0], small_nets(6)
    cold, warm = player_of(nets), player_of(nets, temperature=0.5)
    many = warm.choose(positions([state] * 1000))
    assert all(amazons.is_legal(state, action) for action in set(many))
    assert warm.choose(positions([state] * 1000)) == many, "by the game's own generator"
    assert [warm.choose([one])[0] for one in positions([state] * 5)] == many[:5]
    before = cold.nets.move(state.board[None, ::-1], np.array([amazons.COLOUR[amazons.to_play(state)]], np.int8))
    squared = np.exp(2 * before.log_p[0].astype(float))
    expected = 1000 * squared / squared.sum()
    drawn = np.zeros(expected.shape)
    for action in many:
        start, to = divmod(action // 36, 36)
        drawn[before.amazons[0].tolist().index(start), to] += 1
    assert (np.abs(drawn - expected) < 5 * np.sqrt(expected) + 1).all()
    assert set(player_of(nets, temperature=1e-3).choose(positions([state] * 9))) == set(cold.choose(positions([state])))


@pytest.mark.parametrize("make", [small_nets, small_residual])
def test_answer_is_independent_of_batch(make):
    states = random_states(21, 8)
    player = player_of(make(8), batch=8)
    together = player.turns(states)
    assert [player.turns([state])[0] for state in states] == together
    assert player.turns(states[::-1])[::-1] == together
    assert player.turns(states[5:9]) == together[5:9]


def test_answer_is_independent_of_torch_threads():
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
        ([amazons.START[10, "standard"]], "10x10 board, but these nets play on 6x6"),
        ([amazons.START[8, "standard"], amazons.START[6, "standard"]], "different sizes"),
        (["1q2q1/q4q/6/6/Q4Q/1Q4 w"], "White has 3 amazons; Amazons-Net takes positions with 4"),
        (["QQQQ**/******/6/6/q4q/1q2q1 w"], "the game is over: QQQQ.* w has no turn for the side to move"),
        ([amazons.START[6, "standard"], "QQQQ**/******/6/6/q4q/1q2q1 w"], "the game is over"),
    ],
)
def test_positions_that_the_nets_cannot_play(fens, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        player_of(small_nets(6)).turns([amazons.from_fen(fen) for fen in fens])


def test_model_is_read_once_and_reread_when_changed(tmp_path):
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


def mixed_states():
    """Positions before a move and, every other, after one."""
    states = []
    for i, state in enumerate(random_states(11, 6)):
        state = amazons.copy_state(state)
        if i % 2:
            steps = np.empty(kernels.max_steps(state), np.int32)
            kernels.play_step(state, int(steps[i % kernels.write_steps(state, steps)]))
        states.append(state)
    return states


def asked(states):
    steps = np.full((len(states), kernels.max_steps(states[0])), 1 << 30, np.int32)
    counts = np.array([kernels.write_steps(state, row) for state, row in zip(states, steps, strict=True)], np.int32)
    for row, count in zip(steps, counts, strict=True):
        row[count:] = 1 << 30  # not to be read
    return type(states[0])(*(np.stack(arrays) for arrays in zip(*states, strict=True))), steps, counts


def test_priors_and_values_are_the_nets_own():
    states, nets = mixed_states(), NetsForward(small_nets(6), 4, threads=1)
    priors, values = AmazonsNetEvaluator(nets)(*asked(states))
    _, steps, counts = asked(states)
    for state, row, of, n, value in zip(states, priors, steps, counts, values, strict=True):
        view, mover = state.board[None, ::-1], np.array([amazons.COLOUR[state.turn[0]]], np.int8)
        if state.turn[1] < 0:
            answer = nets.move(view, mover)
            places = [answer.amazons[0].tolist().index(step // 36) for step in of[:n].tolist()]
            expected = [answer.log_p[0, k, step % 36] for k, step in zip(places, of[:n].tolist(), strict=True)]
        else:
            answer = nets.arrow(view, mover, state.turn[1:2])
            expected = [answer.log_p[0, step] for step in of[:n].tolist()]
        np.testing.assert_array_equal(row[:n], np.exp(np.array(expected, np.float32)))
        assert row[:n].sum() == pytest.approx(1, abs=1e-5)
        assert not row[n:].any()
        assert value == 2 * answer.win_rate[0] - 1


@pytest.fixture
def model(tmp_path):
    save_nets(tmp_path / "nets.pt", small_nets(6))
    return tmp_path / "nets.pt"


def player(text):
    return make_player("amazons", text)


def test_a_tree_search_keeps_to_the_clock_of_the_game():
    searching, start = player("puct:simulations=10000000"), amazons.initial_state()
    searching.ready(start)
    position = Position(start, np.random.default_rng(0), start, (), Clock(400.0, 400.0, 0.0))
    (thought,) = searching.consider([position])
    assert amazons.is_legal(start, thought.action)
    assert thought.nodes < 100_000


def test_a_depth_alone_leaves_a_tree_search_its_own_limit():
    searching, start = player("puct:simulations=20"), amazons.initial_state()
    position = Position(start, np.random.default_rng(0), start)
    assert searching.think(position, Bounds(depth=1)).action == searching.think(position).action
    assert searching.think(position, Bounds(depth=1, nodes=10)).nodes <= 10


def test_actions_are_legal_and_independent_of_batch(model):
    states = random_states(7, 6)
    some = player(f"puct:{model},simulations=24,batch=4")
    actions = some.choose(positions(states, seed=3))
    assert all(amazons.is_legal(state, action) for state, action in zip(states, actions, strict=True))
    assert [some.choose(positions([state], seed=4))[0] for state in states] == actions
    assert some.choose(positions(states[2:5], seed=3)) == actions[2:5]
    several = player(f"puct:{model},nodes=24,batch=4,leaves=6").choose(positions(states, seed=3))
    assert all(amazons.is_legal(state, action) for state, action in zip(states, several, strict=True))


def test_one_simulation_a_step_follows_the_priors(model):
    """With next to no search the turn is the net's own."""
    greedy = player(f"puct:{model},simulations=2,c=100,backend=torch")
    for state in random_states(5, 6):
        view, mover = state.board[None, ::-1], np.array([amazons.COLOUR[state.turn[0]]], np.int8)
        answer = greedy.nets.nets.move(view, mover)
        place = int(answer.log_p[0].argmax())
        move = int(answer.amazons[0, place // 36]) * 36 + place % 36
        assert greedy.puct.search(state, Limit(nodes=2)).action // 36 == move


def test_a_time_limit_holds_for_each_position(model):
    states = random_states(2, 6)
    timed = player(f"puct:{model},movetime=30,batch=2")
    assert timed.limit == Limit(movetime_ms=30)
    actions = timed.choose(positions(states, seed=3))
    assert all(amazons.is_legal(state, action) for state, action in zip(states, actions, strict=True))


def test_a_counted_ending_is_not_searched(model):
    filler = player(f"puct:{model},simulations=4")
    closed, open_ = amazons.from_fen("Q5/6/6/******/6/q5 w"), amazons.initial_state(6)
    for of in ([closed, open_], [open_, closed], [closed]):
        actions = filler.choose(positions(of, seed=3))
        assert all(amazons.is_legal(state, action) for state, action in zip(of, actions, strict=True))
        assert closing_turn(closed).action in actions


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 1e-5), (torch.bfloat16, 0.02)])
def test_quick_nets_answer_nearly_as_the_nets(dtype, error):
    boards = np.stack([state.board[::-1] for state in random_states(9, 6)])
    movers = np.array([amazons.COLOUR[state.turn[0]] for state in random_states(9, 6)], np.int8)
    slow, quick = (NetsForward(of, 4, threads=1) for of in (trained(), QuickNets(trained(), dtype)))
    one, two = slow.move(boards, movers), quick.move(boards, movers)
    assert two.win_rate.dtype == two.log_p.dtype == np.float32
    np.testing.assert_allclose(two.win_rate, one.win_rate, atol=error)
    np.testing.assert_allclose(np.exp(two.log_p), np.exp(one.log_p), atol=error)
    assert not any(isinstance(layer, nn.BatchNorm2d) for layer in quick.nets.modules())


@pytest.mark.parametrize(("backend", "error"), [("onnx", 1e-5), ("onnx-int8", 0.1)])
def test_onnx_answers_nearly_as_the_nets(backend, error, tmp_path):
    """Positions before and after a move in one batch, each with an answer of its own."""
    save_nets(tmp_path / "nets.pt", trained())
    quick = open_nets(str(tmp_path / "nets.pt"), backend, 4)
    slow = AmazonsNetEvaluator(NetsForward(trained(), 4, threads=1))
    states, steps, counts = asked(mixed_states())
    priors, values = quick(states, steps, counts)
    assert priors.dtype == values.dtype == np.float32
    for got, expected in zip((priors, values), slow(states, steps, counts), strict=True):
        np.testing.assert_allclose(got, expected, atol=error)
    assert not priors[np.arange(priors.shape[1]) >= counts[:, None]].any()
    for row in range(len(counts)):
        alone = quick(type(states)(*(array[row : row + 1] for array in states)), steps[[row]], counts[[row]])
        np.testing.assert_array_equal(alone[0][0], priors[row])
        assert alone[1][0] == values[row]


def test_onnx_file_answers_as_its_nets(tmp_path):
    path = tmp_path / "nets.onnx"
    path.write_bytes(export_nets(trained()))
    onnx, nets = open_forward(str(path), 4), NetsForward(trained(), 4, threads=1)
    boards = np.stack([state.board[::-1] for state in random_states(9, 6)])
    movers = np.array([amazons.COLOUR[state.turn[0]] for state in random_states(9, 6)], np.int8)
    mine, theirs = onnx.move(boards, movers), nets.move(boards, movers)
    best = theirs.log_p.max(2).argmax(1)
    moved = theirs.amazons[np.arange(len(boards)), best]
    answers = [*mine, *onnx.arrow(boards, movers, moved)], [*theirs, *nets.arrow(boards, movers, moved)]
    for got, expected in zip(*answers, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-4)
    for backend in ("auto", "onnx", "onnx-int8"):
        of_torch = tmp_path / "nets.pt"
        save_nets(of_torch, trained())
        asking = [(path, backend), (of_torch, backend.replace("auto", "onnx"))]
        one, two = (open_nets(str(file), name, 4)(*asked(mixed_states())) for file, name in asking)
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])


def test_onnx_file_is_refused_by_torch_and_other_games(tmp_path):
    path = tmp_path / "nets.onnx"
    path.write_bytes(export_nets(trained()))
    with pytest.raises(ZugwerkError, match=r"nets\.onnx: torch runs nets\.pt, not an ONNX model"):
        player(f"puct:{path},backend=torch")
    path.write_bytes(export_onnx(ZeroModel(fresh(SMALL["plain"]), "freestyle")))
    with pytest.raises(ZugwerkError, match="not an ONNX model of these nets"):
        player(f"nets:{path}")


def test_the_same_net_gives_the_same_onnx_file():
    content = export_nets(trained())
    assert content == export_nets(trained())
    assert export_nets(trained(), int8=True) == export_nets(trained(), int8=True)


def test_a_net_that_onnx_does_not_run_is_refused(tmp_path):
    path = tmp_path / "nets.pt"
    save_nets(path, AmazonsNets(AmazonsConfig(size=6, width=0.25)))
    with pytest.raises(ZugwerkError, match=r"nets\.pt: onnx-int8 runs residual nets only; choose backend=torch"):
        player(f"puct:{path},backend=onnx-int8")
    some = player(f"puct:{path},simulations=2,batch=1")
    state = random_states(1, 6)[0]
    assert amazons.is_legal(state, some.choose(positions([state], seed=1))[0])


def trained():
    """A residual net whose batch norms are no identities."""
    torch.manual_seed(1)
    nets = ResidualNets(ResidualConfig(size=6, channels=8, blocks=2, embedding=4))
    for layer in nets.modules():
        if isinstance(layer, nn.BatchNorm2d):
            for values in (layer.weight, layer.bias, layer.running_mean, layer.running_var):
                nn.init.uniform_(values, 0.5, 1.5)
    return nets


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("puct:MODEL,depth=3", "has no option 'depth'; its options: nodes, movetime, batch"),
        ("puct:MODEL,simulations=5,nodes=5", "one option"),
        ("puct:MODEL,batch=0", "batch must be at least 1"),
        ("puct:MODEL,leaves=1.5", "leaves must be a whole number, not 1.5"),
        ("puct:MODEL,share=0", "share must be above 0 and at most 1"),
        ("puct:MODEL,speed=1", "no option 'speed'"),
        ("puct:MODEL,backend=tpu", "backend"),
        ("puct:MODEL,threads=2", "threads=2 is for nets of rays"),
    ],
)
def test_wrong_texts_are_refused(model, text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        player(text.replace("MODEL", str(model))).choose(positions(random_states(1, 6), seed=1))


# Counting together with the net: decided endings are certain in the tree.


def even(value):
    """An evaluator that knows nothing: equal priors, and one value for all."""

    def evaluate(states, steps, counts):
        priors = np.repeat(1 / counts[:, None], steps.shape[1], 1).astype(np.float32)
        return priors, np.full(len(counts), value, np.float32)

    return evaluate


def test_a_counted_ending_replaces_the_value_in_both_directions():
    settling = SettlingEvaluator(even(0.25), amazons=1)
    for side, expected in (("w", 1), ("b", -1)):  # 7 squares against 3
        assert settling(*asked([amazons.from_fen(f"Q3/4/****/q3 {side}")]))[1].tolist() == [expected]


def test_open_position_keeps_net_value_and_is_never_certain():
    (state,) = random_states(1, 6)
    for value, expected in ((0.25, 0.25), (1.0, UNSURE), (-1.0, -UNSURE)):
        priors, values = SettlingEvaluator(even(value))(*asked([state]))
        assert values.tolist() == [np.float32(expected)]
        np.testing.assert_array_equal(priors, even(value)(*asked([state]))[0])


def test_search_proves_win_that_counting_sees_turns_later():
    state = amazons.from_fen("Q3/4/*2*/q3 w")
    puct = Puct(SettlingEvaluator(even(0.0), amazons=1), PuctOptions(solve=True), nodes=1 << 12, per_tree=4)
    found = puct.search(state, Limit(nodes=2000))
    assert found.value == 1
    assert amazons.is_legal(state, found.action)
    assert Puct(even(0.0), nodes=1 << 12, per_tree=4).search(state, Limit(nodes=2000)).value < 1

import numpy as np
import pytest
import torch
from torch import nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, kernels
from pipeline_src.games.amazons import board
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.players.registry import make_player
from pipeline_src.search.amazons.endgame import closing_turn
from pipeline_src.search.limits import Limit
from pipeline_src.systems.amazons_net.backends import open_forward, open_nets
from pipeline_src.systems.amazons_net.evaluator import AmazonsNetEvaluator
from pipeline_src.systems.amazons_net.forward import NetsForward
from pipeline_src.systems.amazons_net.inference import QuickNets
from pipeline_src.systems.amazons_net.models import save_nets
from pipeline_src.systems.amazons_net.net import AmazonsConfig, AmazonsNets
from pipeline_src.systems.amazons_net.onnx_nets import export_nets
from pipeline_src.systems.amazons_net.residual import ResidualConfig, ResidualNets
from tests.players.positions import positions, random_states, small_nets


def mixed_states():
    """Positions before a move and, every other, after one."""
    states = []
    for i, state in enumerate(random_states(11, 6)):
        state = board.copy_state(state)
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
        view, mover = state.board[None, ::-1], np.array([board.COLOUR[state.turn[0]]], np.int8)
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


def test_actions_are_legal_and_do_not_depend_on_the_company(model):
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
        view, mover = state.board[None, ::-1], np.array([board.COLOUR[state.turn[0]]], np.int8)
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
    closed, open_ = board.from_fen("Q5/6/6/******/6/q5 w"), board.initial_state(6)
    for of in ([closed, open_], [open_, closed], [closed]):
        actions = filler.choose(positions(of, seed=3))
        assert all(amazons.is_legal(state, action) for state, action in zip(of, actions, strict=True))
        assert closing_turn(closed).action in actions


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 1e-5), (torch.bfloat16, 0.02)])
def test_quick_nets_answer_nearly_as_the_nets(dtype, error):
    boards = np.stack([state.board[::-1] for state in random_states(9, 6)])
    movers = np.array([board.COLOUR[state.turn[0]] for state in random_states(9, 6)], np.int8)
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


def test_an_onnx_file_answers_as_the_nets_it_was_made_of(tmp_path):
    path = tmp_path / "nets.onnx"
    path.write_bytes(export_nets(trained()))
    onnx, nets = open_forward(str(path), 4), NetsForward(trained(), 4, threads=1)
    boards = np.stack([state.board[::-1] for state in random_states(9, 6)])
    movers = np.array([board.COLOUR[state.turn[0]] for state in random_states(9, 6)], np.int8)
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


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", r"nets\.onnx: damaged, or not an ONNX model of these nets"),
        (b"not a model", r"nets\.onnx: damaged"),
        (None, r"nets\.onnx: no such model"),
    ],
)
def test_a_damaged_onnx_file_is_named(tmp_path, content, complaint):
    path = tmp_path / "nets.onnx"
    if content is not None:
        path.write_bytes(content)
    for text in ("nets", "puct"):
        with pytest.raises(ZugwerkError, match=complaint):
            player(f"{text}:{path}")


def test_an_onnx_file_is_not_for_torch_nor_of_another_game(tmp_path):
    path = tmp_path / "nets.onnx"
    path.write_bytes(export_nets(trained()))
    with pytest.raises(ZugwerkError, match=r"nets\.onnx: torch runs nets\.pt, not an ONNX model"):
        player(f"puct:{path},backend=torch")
    (gomoku,) = (net for net in packaged_nets("gomoku") if net.card.size == 9)
    with pytest.raises(ZugwerkError, match="not an ONNX model of these nets"):
        player(f"nets:{gomoku.file}")


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
    ],
)
def test_wrong_texts_are_refused(model, text, complaint):
    with pytest.raises(ZugwerkError, match=complaint):
        player(text.replace("MODEL", str(model))).choose(positions(random_states(1, 6), seed=1))


def test_a_missing_model_is_named():
    with pytest.raises(ZugwerkError, match="nowhere"):
        player("puct:nowhere.pt")

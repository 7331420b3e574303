"""The net of rays in torch: its table against itself, its layers' gradients, its answers as a player."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.amazons.ray_keys import ROWS, SHOOTS
from pipeline_src.search.amazons.rays import SCALE, SHARE, RayEvaluator, make_ray_net, write_table
from pipeline_src.systems.amazons_net import rays
from pipeline_src.systems.amazons_net.answers import AmazonsNetEvaluator, RayForward
from pipeline_src.systems.amazons_net.encode import encode_kinds
from pipeline_src.systems.amazons_net.forward import NetsForward, forward_of
from pipeline_src.systems.amazons_net.nets import ResidualConfig, ResidualNets, export_rays, load_nets, save_nets
from pipeline_src.systems.amazons_net.rays import RaysConfig, RaysNet, find_squares, tabulate
from tests.search.amazons.test_rays import asked, steps_of, walk


def trained(size=10, seed=1):
    """A net that prefers some steps and sides, as if it had been trained."""
    torch.manual_seed(seed)
    net = RaysNet(RaysConfig(size, units=16))
    with torch.no_grad():
        net.second.weight.mul_(6)
        for layer in (net.value.weight, net.value.bias):
            layer.normal_()
        for policy in (net.move_policy, net.arrow_policy):
            for layer in (policy.read.weight, policy.read.bias, policy.placed):
                layer.normal_(std=0.3)
        for step in range(3):  # means and variances of its own
            net.both(*(kinds_of(list(walk(size, seed=step))[phase::2]) for phase in (0, 1)))
    return net.eval()


def kinds_of(states):
    boards = np.stack([state.board[::-1] for state in states])
    movers = np.array([amazons.COLOUR[state.turn[0]] for state in states], np.int8)
    return torch.from_numpy(encode_kinds(boards, movers, np.array([state.turn[1] for state in states])).features)


def expected(net, state):
    """Value and priors of the legal steps by the net in torch, before the table."""
    kinds, steps, n = kinds_of([state]), steps_of(state), state.board.size
    with torch.inference_mode():
        if state.turn[1] >= 0:
            value, logits = net.arrow(kinds)
            found = logits[0, steps.astype(np.int64)]
        else:
            value, logits = net.move(kinds)
            rows = np.searchsorted(state.amazons[state.turn[0]], steps // n)
            found = logits[0, rows, steps.astype(np.int64) % n]
    return float(torch.tanh(value / 2)), functional.softmax(found, 0).numpy()


@pytest.mark.parametrize("size", [6, 8, 10])
def test_the_kernel_answers_as_the_net_in_torch_within_rounding(size):
    net, values = trained(size), []
    kernel = make_ray_net(tabulate(net), amazons.initial_state(size))
    for state in walk(size, games=2, seed=7):
        value, priors = asked(kernel, state)
        own, policy = expected(net, state)
        assert value == pytest.approx(own, abs=0.01)
        np.testing.assert_allclose(priors, policy, atol=0.01)
        values.append(value)
    assert np.std(values) > 0.01


def test_the_table_has_the_perceptron_s_features():
    net = trained()
    with torch.inference_mode():
        features = net.features(torch.arange(ROWS)).numpy()
    assert np.abs(tabulate(net).table / SCALE - features).max() <= 0.501 / SCALE
    assert np.abs(features).max() > 1


def test_joint_answer_equals_single_answers():
    net, states = trained(6), list(walk(6, games=2))
    move, arrow = kinds_of(states[0:20:2]), kinds_of(states[1:15:2])
    with torch.no_grad():
        for mine, theirs in zip(net.both(move, arrow), (net.move(move), net.arrow(arrow)), strict=True):
            for a, b in zip(mine, theirs, strict=True):
                torch.testing.assert_close(a, b)


def test_gradients_are_those_of_layers_over_whole_boards():
    """The layers over the list of squares, against torch's own on boards with zeros where arrows are."""
    torch.manual_seed(0)
    kinds = kinds_of(list(walk(6, seed=3))[8:20:2])
    found, count = find_squares(kinds), len(kinds)
    where = torch.from_numpy(found.board * 36 + found.square)
    table = torch.randn(len(found.rows), rays.CHANNELS)
    weight, bias = torch.randn(9, rays.COUNT), torch.randn(rays.COUNT)
    factors = torch.randn(count, 4, rays.READ)
    chosen = torch.randn(count, 4, 36)

    def dense(squares):
        flat = torch.zeros(count * 36, squares.shape[1]).index_copy(0, where, squares)
        return flat.view(count, 6, 6, -1)

    def ours(table, weight, bias, factors):
        cells = rays._Sums.apply(table, found.places)
        arounds = rays._Convolution.apply(cells, weight, bias, found.near)
        pooled = rays._Pooled.apply(arounds, cells, found.board, count)
        read = torch.cat([arounds, arounds * 0.5], 1)
        return pooled, rays._Products.apply(factors, read, found.at)

    def theirs(table, weight, bias, factors):
        cells = table[torch.from_numpy(found.places)].sum(1).relu()
        kernel = weight.T.reshape(rays.COUNT, 1, 3, 3)
        planes = dense(cells)[..., : rays.COUNT].permute(0, 3, 1, 2)
        spread = functional.conv2d(planes, kernel, bias, padding=1, groups=rays.COUNT).relu()
        arounds = spread.permute(0, 2, 3, 1).flatten(0, 2)[where]
        boards = dense(arounds).flatten(1, 2)
        pooled = [boards.sum(1) * SHARE, boards.amax(1), dense(cells).flatten(1, 2).sum(1) * SHARE]
        read = torch.cat([boards, boards * 0.5], 2)
        return torch.cat(pooled, 1), factors @ read.transpose(1, 2)

    grads = []
    for layers in (ours, theirs):
        given = [x.clone().requires_grad_() for x in (table, weight, bias, factors)]
        pooled, products = layers(*given)
        ((pooled * torch.arange(rays.POOLED)).sum() + (products * chosen).sum()).backward()
        grads.append((pooled, products, *(x.grad for x in given)))
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_every_weight_learns_from_a_step():
    net, states = trained(6).train(), list(walk(6, games=3))
    (value, policy), (later, arrows) = net.both(kinds_of(states[0::2]), kinds_of(states[1::2]))
    (value.square().sum() + later.sum() + policy.square().sum() + arrows.square().sum()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name


@pytest.fixture
def files(tmp_path):
    net = trained(10)
    save_nets(tmp_path / "nets.pt", net)
    write_table(tmp_path / "net.rays", tabulate(net), 10)
    return tmp_path


def test_the_model_file_and_the_table_play_the_same_turns(files):
    states = [state for state in walk(10, seed=5) if state.turn[1] < 0][::6]
    positions = [Position(state, np.random.default_rng(0)) for state in states]
    for text in ("nets:{}", "puct:{},simulations=40"):
        turns = [
            make_player("amazons", text.format(files / name)).choose(positions) for name in ("nets.pt", "net.rays")
        ]
        assert turns[0] == turns[1]
        assert all(amazons.is_legal(state, turn) for state, turn in zip(states, turns[0], strict=True))


def test_threads_search_one_position_by_time(files):
    table = files / "net.rays"
    both, start = make_player("amazons", f"puct:{table},movetime=50,threads=2"), amazons.initial_state(6)
    (action,) = both.choose([Position(start, np.random.default_rng(0), start)])
    assert amazons.is_legal(start, action)
    assert both.puct._crew is not None


def test_a_model_is_exported_as_the_table_it_plays_from(files):
    export_rays(files / "nets.pt", files / "again.rays")
    assert (files / "again.rays").read_bytes() == (files / "net.rays").read_bytes()
    save_nets(files / "other.pt", ResidualNets(ResidualConfig(6, 4, 1, 4)))
    with pytest.raises(ZugwerkError, match=r"other\.pt: only nets of rays .* ResidualNets"):
        export_rays(files / "other.pt", files / "again.rays")


def test_answers_without_a_search_are_those_of_torch(files):
    net = load_nets(files / "nets.pt")
    assert isinstance(net, RaysNet)
    states = list(walk(10, seed=2))
    moves, arrows = states[0:40:8], states[1:41:8]
    forwards = forward_of(net, 4), NetsForward(net, 4)
    assert isinstance(forwards[0], RayForward)
    boards = [np.stack([state.board[::-1] for state in some]) for some in (moves, arrows)]
    movers = [np.array([amazons.COLOUR[state.turn[0]] for state in some], np.int8) for some in (moves, arrows)]
    moved = np.array([state.turn[1] for state in arrows], np.int16)
    first, second = ([f.move(boards[0], movers[0]), f.arrow(boards[1], movers[1], moved)] for f in forwards)
    for mine, theirs in zip(first, second, strict=True):
        np.testing.assert_allclose(mine.win_rate, theirs.win_rate, atol=0.01)
        np.testing.assert_allclose(np.exp(mine.log_p), np.exp(theirs.log_p), atol=0.01)
    steps = np.stack([np.resize(steps_of(state), 60) for state in moves])
    counts = np.array([min(60, len(steps_of(state))) for state in moves], np.int32)
    stacked = type(moves[0])(*(np.stack(arrays) for arrays in zip(*moves, strict=True)))
    priors, values = RayEvaluator(tabulate(net))(stacked, steps, counts)
    np.testing.assert_allclose(values, AmazonsNetEvaluator(forwards[1])(stacked, steps, counts)[1], atol=0.02)
    assert np.isfinite(priors).all()
    assert SHOOTS in kinds_of(arrows)

"""Nets, the line net among them, their files and ONNX exports."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.kernels import stack
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player
from pipeline_src.search.gomoku.line_net import (
    LARGEST,
    SCALE,
    evaluate_position,
    make_line_net,
    read_table,
    windows,
    write_table,
)
from pipeline_src.search.gomoku.proving import ProvingEvaluator
from pipeline_src.search.mcts.gumbel import GumbelTrees
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_trees import PuctTrees
from pipeline_src.systems.gomoku_zero.evaluator import (
    LineEvaluator,
    make_evaluator,
    prepare_model,
    zero_planes,
)
from pipeline_src.systems.gomoku_zero.models import (
    ZeroConfig,
    ZeroModel,
    export_onnx,
    export_table,
    folded,
    load_model,
    make_config,
    make_net,
    save_model,
)
from pipeline_src.systems.gomoku_zero.nets import (
    Block,
    LinesConfig,
    LinesNet,
    PlainConfig,
    ResidualConfig,
    UniformConfig,
    UniformNet,
    from_table,
    tabulate,
)
from pipeline_src.systems.gomoku_zero.params import GomokuNet, PlainParams, ResidualParams
from tests.systems.gomoku_zero.small import SMALL, fresh, model, some_planes, stacked, unfinished

each = pytest.mark.parametrize("config", SMALL.values(), ids=SMALL.keys())


def test_the_paper_s_net_to_the_letter() -> None:
    net = make_net(make_config(GomokuNet(kind="residual"), 15, 15))
    convolutions = [m for m in net.modules() if isinstance(m, nn.Conv2d)]
    first, last, inner = convolutions[0], convolutions[-1], convolutions[1:-1]
    assert len(convolutions) == 32
    assert (first.in_channels, first.out_channels, first.kernel_size, first.padding) == (11, 32, (5, 5), (2, 2))
    assert [c.out_channels for c in inner] == [64] * 10 + [128] * 10 + [256] * 10
    assert {c.kernel_size for c in inner} == {(3, 3)}
    assert (last.out_channels, last.kernel_size) == (1, (1, 1))
    assert [m.out_features for m in net.modules() if isinstance(m, nn.Linear)] == [225, 1]
    assert sum(p.numel() for p in net.parameters()) == 7_424_037


@each
def test_shapes_ranges_and_gradients(config: PlainConfig | ResidualConfig) -> None:
    net = fresh(config).train()
    logits, value = net(some_planes(config))
    assert logits.shape == (8, config.height * config.width)
    assert value.shape == (8,)
    assert value.abs().max() <= 1
    (logits.logsumexp(1).sum() + value.sum()).backward()
    for name, parameter in net.named_parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().sum() > 0 or name.endswith(".bias"), name


def test_a_fresh_residual_net_learns_in_all_of_its_layers() -> None:
    config = ResidualConfig(height=6, width=6, positions=2, stem_filters=4, stem_kernel=3, widths=(6, 8), blocks=2)
    torch.manual_seed(1)
    net = make_net(config)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    target = torch.arange(8)
    losses = []
    for _ in range(60):
        logits, value = net(some_planes(config))
        loss = nn.functional.cross_entropy(logits, target) + (value - 0.5).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]
    for name, parameter in net.named_parameters():
        assert not torch.equal(parameter, before[name]), name


def test_padded_shortcut_passes_its_input_through() -> None:
    block = Block(3, 5, "pad").eval()
    with torch.no_grad():
        for convolution in (block.one.convolution, block.two.convolution):
            convolution.weight.zero_()
        x = torch.rand(2, 3, 4, 4)
        out = block(x)
    assert torch.equal(out[:, :3], x)
    assert (out[:, 3:] == 0).all()
    assert block.project is None


@each
def test_folding_changes_nothing(config: PlainConfig | ResidualConfig) -> None:
    net = fresh(config)
    planes = some_planes(config)
    with torch.no_grad():
        for mine, theirs in zip(folded(net)(planes), net(planes), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


@each
def test_16_bits_are_enough_to_play(config: PlainConfig | ResidualConfig) -> None:
    """As on a GPU, where nets run in bf16."""
    net, planes = fresh(config), some_planes(config)
    half = folded(net).to(torch.bfloat16, memory_format=torch.channels_last)
    with torch.no_grad():
        logits, value = half(planes.to(torch.bfloat16))
        expected_logits, expected_value = net(planes)
    assert logits.dtype == value.dtype == torch.bfloat16
    torch.testing.assert_close(logits.float().softmax(1), expected_logits.softmax(1), rtol=0.1, atol=0.01)
    torch.testing.assert_close(value.float(), expected_value, rtol=0.05, atol=0.05)


def test_params_make_the_config() -> None:
    params = GomokuNet(kind="plain", positions=2, plain=PlainParams(filters=(8, 9), batch_norm=False))
    assert make_config(params, 9, 7) == PlainConfig(height=9, width=7, positions=2, filters=(8, 9), batch_norm=False)
    assert make_config(GomokuNet(kind="residual"), 15, 15) == ResidualConfig()


@pytest.mark.parametrize("shape", [{"widths": (64, 32)}, {"widths": ()}, {"stem_kernel": 4}])
def test_params_refuse_impossible_nets(shape: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(shape))):
        ResidualParams(**shape)


@each
def test_saved_models_come_back_equal_and_ready_to_play(tmp_path: Path, config: ZeroConfig) -> None:
    net = fresh(config)
    save_model(tmp_path / "model.pt", net, variant="exact")
    again = load_model(tmp_path / "model.pt")
    assert again.variant == "exact"
    assert again.config == config
    assert not again.net.training
    with torch.no_grad():
        for mine, theirs in zip(net(some_planes(config)), again.net(some_planes(config)), strict=True):
            assert torch.equal(mine, theirs)


def test_the_bytes_do_not_depend_on_the_name(tmp_path: Path) -> None:
    save_model(tmp_path / "a.pt", fresh(SMALL["residual"]))
    save_model(tmp_path / "other" / "b.pt", load_model(tmp_path / "a.pt").net)
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "other" / "b.pt").read_bytes()


@each
def test_16_bit_weights_hardly_change_answers_and_are_widened(config: ZeroConfig, tmp_path: Path) -> None:
    net, planes = fresh(config), some_planes(config, batch=16)
    save_model(tmp_path / "half.pt", net, half=True)
    save_model(tmp_path / "whole.pt", net)
    assert (tmp_path / "half.pt").stat().st_size < (tmp_path / "whole.pt").stat().st_size
    again = load_model(tmp_path / "half.pt").net
    assert {parameter.dtype for parameter in again.parameters()} == {torch.float32}
    with torch.no_grad():
        (logits, values), (mine, my_values) = net(planes), again(planes)
    assert not torch.equal(logits, mine)
    torch.testing.assert_close(mine.softmax(1), logits.softmax(1), rtol=0, atol=3e-3)
    torch.testing.assert_close(my_values, values, rtol=0, atol=3e-3)


@each
def test_exported_net_gives_same_answers(config: ZeroConfig) -> None:
    import onnxruntime

    made, planes = model(config), some_planes(config, batch=16)
    session = onnxruntime.InferenceSession(export_onnx(made), providers=["CPUExecutionProvider"])
    policy, value = session.run(["policy", "value"], {"planes": planes.numpy()})
    with torch.no_grad():
        logits, values = made.net(planes)
    np.testing.assert_allclose(policy, logits.numpy(), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(value, values.numpy(), rtol=1e-4, atol=1e-4)
    assert np.ptp(policy) > 0.1  # not merely all zeros


def test_the_net_that_knows_nothing_is_exported_too() -> None:
    import onnxruntime

    net = UniformNet(UniformConfig(height=6, width=7, positions=2))
    content = export_onnx(ZeroModel(net, "freestyle"))
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    policy, value = session.run(["policy", "value"], {"planes": np.ones((3, 5, 6, 7), np.float32)})
    assert (policy.shape, value.shape) == ((3, 42), (3,))
    np.testing.assert_array_equal(policy, np.repeat(net.logits.numpy()[None], 3, axis=0))
    assert len(set(policy[0])) == 42  # no ties, which would all fall to the first cells
    assert policy.max() - policy.min() < 1e-3
    assert not value.any()


def test_the_same_weights_export_to_the_same_bytes() -> None:
    assert export_onnx(model(SMALL["projected"])) == export_onnx(model(SMALL["projected"]))


# The line net: windows, table and sums against the perceptron and slow references, files, play and training.


ABOUT = {"game": "gomoku", "variant": "freestyle", "version": 1, "kind": "lines", "height": 9, "width": 9}
ABOUT["positions"] = 1


def trained(window=9, size=9, seed=1):
    """A net that prefers some moves, as if it had been trained."""
    net = fresh(LinesConfig(height=size, width=size, window=window), seed)
    with torch.no_grad():
        for layer in (net.policy.weight, net.policy.bias, net.value.weight, net.value.bias):
            layer.copy_(torch.randn(layer.shape, generator=torch.Generator().manual_seed(seed)))
        net.third.weight.mul_(8)
    return net


def asked(net, state):
    """Value and priors of all legal cells by the kernel."""
    steps = gomoku.legal_actions(state)
    priors = np.empty(len(steps), np.float32)
    return evaluate_position(net, state, steps, len(steps), priors), priors


def reference(net, state):
    """The same by the net in torch."""
    with torch.inference_mode():
        logits, value = net(planes_of([state]))
    return float(value), functional.softmax(logits[0, gomoku.legal_actions(state).astype(np.int64)], 0).numpy()


def planes_of(states):
    """Planes float32 [B, 3, H, W] of some positions of one size."""
    found = stacked(states)
    planes = np.zeros((len(found.board), 3, *found.board.shape[1:]), np.float32)
    zero_planes(found, 1, planes)
    return torch.from_numpy(planes)


@pytest.mark.parametrize("length", [9, 11])
def test_windows_are_those_that_a_board_has(length: int) -> None:
    found, half = windows(length), length // 2
    seen = []
    for left in range(half + 1):  # cells off the board at either end
        for right in range(half + 1):
            inside = length - left - right
            numbers = np.arange(0, 3**inside, 1 if inside <= 9 else 101)  # enough of the larger ones
            digits = np.full((len(numbers), length), 3)
            digits[:, left : left + inside] = numbers[:, None] // 3 ** np.arange(inside) % 3
            seen.append(digits)
    seen = np.concatenate(seen)
    codes, mirrored = ((digits << 2 * np.arange(length)).sum(1) for digits in (seen, seen[:, ::-1]))
    rows = found.rows[codes]
    assert (rows >= 0).all()
    if length == 9:
        assert set(codes.tolist()) == set(np.flatnonzero(found.rows >= 0).tolist())
    np.testing.assert_array_equal(found.rows[mirrored], rows)
    kept = found.digits[rows]
    assert ((kept == seen).all(1) | (kept == seen[:, ::-1]).all(1)).all()
    with pytest.raises(ZugwerkError, match="9 or 11 cells, not 7"):
        windows(7)


@pytest.mark.parametrize("length", [9, 11])
def test_the_table_has_the_perceptron_s_features_of_every_window(length: int) -> None:
    net, found = trained(length), windows(length)
    made = tabulate(net)
    codes = np.flatnonzero(found.rows >= 0)
    codes = codes[:: max(1, len(codes) // 50_000)]
    digits = codes[:, None] >> 2 * np.arange(length) & 3
    mirrored = (digits[:, ::-1] << 2 * np.arange(length)).sum(1)
    digits = np.where((codes <= mirrored)[:, None], digits, digits[:, ::-1])  # the perceptron sees one of the two
    with torch.inference_mode():
        x = torch.eye(4)[torch.from_numpy(digits)].flatten(1)
        for layer in (net.first, net.second):
            x = layer(x).relu()
        features = net.third(x).clamp(-LARGEST, LARGEST).numpy()
    assert np.abs(made.table[found.rows[codes]] / SCALE - features).max() <= 0.501 / SCALE
    assert np.abs(features).max() > 1  # weights that say something


@pytest.mark.parametrize(("size", "window"), [(9, 9), (9, 11), (6, 9), (15, 9)])
def test_the_kernel_answers_as_the_net_in_torch_within_rounding(size: int, window: int) -> None:
    net = trained(window, size)
    kernel = make_line_net(tabulate(net), size, size)
    worst = 0.0
    for state in unfinished(size, 3):
        value, priors = asked(kernel, state)
        expected, policy = reference(net, state)
        assert abs(value - expected) < 0.02
        np.testing.assert_allclose(priors, policy, atol=0.01)
        worst = max(worst, abs(value))
    assert worst > 0.05


@pytest.mark.parametrize(("window", "size"), [(9, 9), (11, 15)])
def test_empty_boards_have_the_value_of_the_training_s_size(window: int, size: int) -> None:
    net = trained(window, size)
    with torch.no_grad():
        net.value.weight.mul_(0.05)  # not near 1
    made = tabulate(net)
    expected = asked(make_line_net(made, size, size), gomoku.initial_state(size))[0]
    for side in (13, 25):
        there = made._replace(height=side, width=side), gomoku.initial_state(side)
        assert asked(make_line_net(made, side, side), there[1])[0] == pytest.approx(expected, abs=5e-4)
        assert asked(make_line_net(there[0], side, side), there[1])[0] != pytest.approx(expected, abs=2e-3)


def test_the_answer_does_not_depend_on_the_positions_before() -> None:
    made = tabulate(trained())
    kept = make_line_net(made, 9, 9)
    states = list(unfinished(9, 4))
    np.random.default_rng(1).shuffle(states)
    for state in states[:60]:
        value, priors = asked(kept, state)
        alone = asked(make_line_net(made, 9, 9), state)
        assert value == alone[0]
        np.testing.assert_array_equal(priors, alone[1])


def test_a_search_in_one_kernel_makes_the_trees_of_rounds() -> None:
    evaluator = LineEvaluator(tabulate(trained()))
    states = [state for state in unfinished(9, 2) if len(gomoku.legal_actions(state)) > 30][::7]
    found = []
    for evaluate in (evaluator, lambda *leaves: evaluator(*leaves)):  # the second hides that there is a kernel
        for leaves in (1, 3):
            trees = PuctTrees(states[0], len(states), evaluate, PuctOptions(c=1.0, c_base=0.0), 200, leaves)
            for g, state in enumerate(states):
                trees.plant(g, state)
            trees.simulate(np.arange(20, 20 + len(states), dtype=np.int32))
            found.append(([trees.visits(g).tolist() for g in range(len(states))], trees.forest.done.tolist()))
        chosen = GumbelTrees(trees, 8, 16).search(
            range(len(states)), [np.random.default_rng(g) for g in range(len(states))]
        )
        found.append((chosen.steps.tolist(), chosen.policies.tolist()))
    assert found[:3] == found[3:]


def test_threat_search_runs_with_the_net_in_the_kernel() -> None:
    evaluator = LineEvaluator(tabulate(trained()))
    states = [state for state in unfinished(9, 3) if len(gomoku.legal_actions(state)) > 30][::6]
    found = []
    for net in (evaluator, lambda *leaves: evaluator(*leaves)):
        proving = ProvingEvaluator(net, 50, 50)
        trees = PuctTrees(states[0], len(states), proving, PuctOptions(c=1.0, c_base=0.0, solve=True), 200)
        for g, state in enumerate(states):
            trees.plant(g, state)
        trees.simulate(np.full(len(states), 40, np.int32))
        found.append([(trees.visits(g).tolist(), trees.proven(g), trees.value(g)) for g in range(len(states))])
    assert found[0] == found[1]
    assert {proven for _, proven, _ in found[0]} == {True, False}


def test_the_same_net_gives_the_same_file_and_comes_back(tmp_path: Path) -> None:
    made = tabulate(trained())
    for name in ("a.lines", "b.lines"):
        write_table(tmp_path / name, made, ABOUT)
    assert (tmp_path / "a.lines").read_bytes() == (tmp_path / "b.lines").read_bytes()
    again, about = read_table(tmp_path / "a.lines")
    assert about == ABOUT
    assert again.window == 9
    np.testing.assert_array_equal(again.table, made.table)
    for name, weights in made.heads.items():
        np.testing.assert_array_equal(again.heads[name], weights)


def test_tables_of_other_windows_or_without_numbers_are_refused(tmp_path: Path) -> None:
    made = tabulate(trained(9))
    with pytest.raises(ZugwerkError, match=r"\(22143, 32\) is not one of windows of 11 cells"):
        make_line_net(made._replace(window=11), 9, 9)
    broken = {**made.heads, "mix": np.full_like(made.heads["mix"], np.nan)}
    with pytest.raises(ZugwerkError, match="layer mix of a line net has 528 finite weights, not 0 of 528"):
        write_table(tmp_path / "net.lines", made._replace(heads=broken), ABOUT)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ZugwerkError, match="layer policy"):
        make_line_net(made._replace(heads={k: v for k, v in made.heads.items() if k != "policy"}), 9, 9)


@pytest.fixture
def line_model(tmp_path: Path) -> Path:
    save_model(tmp_path / "model.pt", trained(), variant="freestyle")
    return tmp_path / "model.pt"


def test_model_and_its_table_play_same_moves_on_any_board(line_model: Path) -> None:
    table = prepare_model(line_model, "auto", line_model.parent)
    assert table.suffix == ".lines"
    assert make_evaluator(table)[1] == make_evaluator(line_model)[1]
    players = [make_player("gomoku", f"zero:{path},simulations=30") for path in (line_model, table)]
    for size in (9, 12):
        for state in list(unfinished(size, 1))[:40:8]:
            position = Position(state, np.random.default_rng(0), gomoku.initial_state(size), ())
            assert players[0].choose([position]) == players[1].choose([position])


def test_a_table_becomes_the_net_that_it_was_made_of(line_model: Path) -> None:
    net = trained()
    net.train()(planes_of(unfinished(9, 2)))  # the norms see positions
    made, seen = tabulate(net.eval()), planes_of(unfinished(9, 1, seed=5))
    begun = from_table(made, net.config)
    save_model(line_model, begun)
    for again in (begun, load_model(line_model).net):
        for answer, other in zip(again(seen), net(seen), strict=True):
            torch.testing.assert_close(answer, other, atol=0.05, rtol=0)  # the table is rounded
        np.testing.assert_array_equal(tabulate(again).table, made.table)
        for name, weights in made.heads.items():
            np.testing.assert_allclose(tabulate(again).heads[name], weights, atol=1e-4)
    begun.features(torch.arange(9)).sum().backward()
    assert begun.third.weight.grad.abs().max() > 0  # and it can learn
    with pytest.raises(ZugwerkError, match="for windows of 9 cells, but gomoku_net has 11"):
        from_table(made, LinesConfig(height=9, width=9, window=11))
    older = {name: weights for name, weights in made.heads.items() if name != "norms"}
    with pytest.raises(ZugwerkError, match="not have the means and variances of its training; export its model again"):
        from_table(made._replace(heads=older), net.config)


def test_line_net_runs_in_torch_and_has_no_onnx_form(line_model: Path) -> None:
    state = list(unfinished(9, 1))[10]
    answers = [
        make_evaluator(line_model, backend)[0](
            stack(state, 1), gomoku.legal_actions(state)[None], np.array([71], np.int32)
        )
        for backend in ("auto", "torch")
    ]
    for kernel, torch_s in zip(*answers, strict=True):
        np.testing.assert_allclose(kernel, torch_s, atol=0.02)
    make_player("gomoku", f"zero:{line_model}").check(gomoku.initial_state(12))
    with pytest.raises(ZugwerkError, match="a 12x12 board, but this model plays on 9x9"):
        make_player("gomoku", f"zero:{line_model},backend=torch").check(gomoku.initial_state(12))
    with pytest.raises(ZugwerkError, match="a line net has no ONNX form"):
        make_evaluator(line_model, "onnx")
    with pytest.raises(ZugwerkError, match="leave backend=torch out"):
        make_evaluator(prepare_model(line_model, "auto", line_model.parent), "torch")


def test_a_net_for_other_rules_is_refused_with_both_named(line_model: Path) -> None:
    player = make_player("gomoku", f"zero:{line_model},simulations=4")
    state = gomoku.initial_state(9, "renju")
    with pytest.raises(ZugwerkError, match="variant renju of Gomoku, but this model plays freestyle"):
        player.choose([Position(state, np.random.default_rng(0), state, ())])


def test_export_lists_its_files(line_model: Path) -> None:
    export_table(ZeroModel(trained(), "freestyle"), line_model.with_name("x.lines"))
    made, about = read_table(line_model.with_name("x.lines"))
    assert json.dumps(about) == json.dumps({**ABOUT, "positions": 1}) or about == ABOUT
    np.testing.assert_array_equal(made.table, tabulate(trained()).table)


def test_value_learns_together_with_policy() -> None:
    """Sharp policies make the pooled features large; without normalising them the value's units fall silent."""
    torch.manual_seed(1)
    net, rng = LinesNet(LinesConfig(height=9, width=9)), np.random.default_rng(1)
    states = list(unfinished(9, 100, seed=3))
    planes = planes_of(states).numpy()
    pairs = planes[:, :2, :, 1:] * planes[:, :2, :, :-1]  # two adjacent stones of one side
    more = np.sign(pairs.sum((2, 3)) @ [1.0, -1.0])
    crowd = functional.conv2d(torch.from_numpy(planes[:, :2]).sum(1, keepdim=True), torch.ones(1, 1, 3, 3), padding=1)
    crowd[:, 0][torch.from_numpy(planes[:, :2].sum(1) > 0)] = -1
    best, batch, value = crowd.flatten(1).argmax(1), torch.from_numpy(planes), torch.from_numpy(more).float()
    optimizer, losses = torch.optim.AdamW(net.parameters(), lr=6e-3), []
    for _ in range(300):
        some = torch.from_numpy(rng.choice(len(states), 64))
        logits, values = net(batch[some])
        error = (values - value[some]).square().mean()
        loss = functional.cross_entropy(logits, best[some]) + error
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(error.detach()))
    assert np.mean(losses[-20:]) < 0.7 * float(value.square().mean())

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.models import (
    ZeroConfig,
    ZeroModel,
    export_onnx,
    folded,
    load_model,
    make_config,
    make_net,
    save_model,
)
from pipeline_src.systems.gomoku_zero.nets import Block, PlainConfig, ResidualConfig, UniformConfig, UniformNet
from pipeline_src.systems.gomoku_zero.params import GomokuNet, PlainParams, ResidualParams
from tests.systems.gomoku_zero.nets import SMALL, fresh, model, some_planes


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


@pytest.mark.parametrize("config", SMALL.values(), ids=SMALL.keys())
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


@pytest.mark.parametrize("config", SMALL.values(), ids=SMALL.keys())
def test_folding_changes_nothing(config: PlainConfig | ResidualConfig) -> None:
    net = fresh(config)
    planes = some_planes(config)
    with torch.no_grad():
        for mine, theirs in zip(folded(net)(planes), net(planes), strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("config", SMALL.values(), ids=SMALL.keys())
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


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: PlainParams(filters=()), "filters"),
        (lambda: PlainParams(filters=(8, 0)), "filters"),
        (lambda: PlainParams(value_hidden=0), "value_hidden"),
        (lambda: ResidualParams(widths=(64, 32)), "widths"),
        (lambda: ResidualParams(widths=()), "widths"),
        (lambda: ResidualParams(stem_kernel=4), "stem_kernel"),
        (lambda: ResidualParams(blocks=0), "blocks"),
        (lambda: ResidualParams(value_hidden=-1), "value_hidden"),
        (lambda: GomokuNet(positions=0), "positions"),
    ],
)
def test_params_refuse_impossible_nets(make: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make()  # type: ignore[operator]


each = pytest.mark.parametrize("config", SMALL.values(), ids=SMALL.keys())


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


def test_a_missing_model_names_the_command(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pt", tmp_path):
        with pytest.raises(ZugwerkError, match=r": no such model$"):
            load_model(path)
    with pytest.raises(ZugwerkError, match=r": no such model; `dvc repro` makes the models of gomoku$"):
        load_model("artifacts/models/none.pt")


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    save_model(path, fresh(SMALL["plain"]))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"not a model"):
        path.write_bytes(content)
        with pytest.raises(ZugwerkError, match=r"model\.pt: damaged, or not a model"):
            load_model(path)
    path.write_bytes(whole)
    saved = torch.load(path, weights_only=True)
    for change in (
        {"kind": "other"},
        {"kind": "residual"},
        {"config": {}},
        {"config": saved["config"] | {"height": 7}},
        {"state_dict": {}},
    ):
        torch.save(saved | change, path)
        with pytest.raises(ZugwerkError, match=r"model\.pt: damaged, or not a model"):
            load_model(path)
    torch.save({"weights": 1}, path)
    with pytest.raises(ZugwerkError, match=r"model\.pt: damaged, or not a model"):
        load_model(path)
    for change, complaint in (({"game": "go"}, "a model of 'go', not of gomoku"), ({"version": 0}, "rules version 0")):
        torch.save(saved | change, path)
        with pytest.raises(ZugwerkError, match=complaint):
            load_model(path)


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

import pytest
import torch
from torch import nn

from pipeline_src.systems.gomoku_zero.models import folded, make_config, make_net
from pipeline_src.systems.gomoku_zero.nets import Block, PlainConfig, ResidualConfig
from pipeline_src.systems.gomoku_zero.params import GomokuNet, PlainParams, ResidualParams
from tests.systems.gomoku_zero.nets import SMALL, fresh, some_planes


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


def test_a_padded_shortcut_hands_on_what_was_there() -> None:
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
def test_params_refuse_what_makes_no_net(make: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        make()  # type: ignore[operator]

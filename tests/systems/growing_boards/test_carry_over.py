import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.models import make_net
from pipeline_src.systems.gomoku_zero.nets import PlainConfig, ResidualConfig, UniformConfig, UniformNet
from pipeline_src.systems.growing_boards.growth import carry_over, multiply_adds
from tests.systems.gomoku_zero.nets import fresh, some_planes

PLAIN = PlainConfig(height=6, width=6, positions=1, filters=(5, 7), signed=True)


def grown(small, size):
    torch.manual_seed(3)
    return carry_over(small, small.config.model_copy(update={"height": size, "width": size}))


@pytest.mark.parametrize(
    "config",
    [
        PLAIN,
        ResidualConfig(
            height=6, width=6, positions=2, stem_filters=4, stem_kernel=3, widths=(6, 8), blocks=2, value_hidden=3
        ),
    ],
)
def test_hidden_layers_are_carried_over_and_heads_are_new(config):
    small = fresh(config)
    large = grown(small, 9)
    logits, value = large(some_planes(large.config))
    assert logits.shape == (8, 81)
    assert value.shape == (8,)
    mine, theirs = small.state_dict(), large.state_dict()
    hidden = [name for name in mine if name.split(".")[0] in ("trunk", "stem", "blocks", "norm")]
    assert len(hidden) >= 12
    for name in hidden:
        assert torch.equal(mine[name], theirs[name]), name
    for name in set(mine) - set(hidden):
        if theirs[name].numel() > 1 and theirs[name].std() > 0:  # a new norm's scales are all one
            assert mine[name].shape != theirs[name].shape or not torch.equal(mine[name], theirs[name]), name


def test_a_convolutional_net_is_carried_over_whole():
    small = fresh(PLAIN.model_copy(update={"head": "convolutional"}))
    large = grown(small, 9)
    assert all(torch.equal(tensor, large.state_dict()[name]) for name, tensor in small.state_dict().items())
    planes = torch.zeros(1, 3, 6, 6)
    planes[0, 0, 2, 2] = planes[0, 1, 2, 3] = 1
    wide = torch.nn.functional.pad(planes, (0, 3, 0, 3))
    with torch.no_grad():
        policy, wider = (net(p)[0].reshape(p.shape[-2:]) for net, p in ((small, planes), (large, wide)))
    assert torch.allclose(policy[0, 0], wider[0, 0], atol=1e-6)  # four layers of 3x3 see nothing of what is new there


def test_a_convolutional_head_knows_no_size():
    """Its weights are as many on any board, and a shifted stone shifts the policy away from the edges."""
    config = PlainConfig(height=15, width=15, positions=1, filters=(5,), signed=True, head="convolutional")
    net = fresh(config)
    planes = torch.zeros(2, 3, 15, 15)
    planes[0, 0, 6, 6] = planes[1, 0, 7, 8] = 1
    with torch.no_grad():
        logits, values = net(planes)
    policy = logits.reshape(2, 15, 15)
    assert torch.allclose(policy[0, 3:10, 3:10], policy[1, 4:11, 5:12], atol=1e-5)
    assert values[0] == pytest.approx(values[1].item(), abs=1e-5)


def test_a_signed_net_sees_only_the_stones():
    net = fresh(PLAIN)
    planes = some_planes(PLAIN)
    other = planes.clone()
    other[:, 2] = 1 - other[:, 2]  # who is to move
    both = (planes[:, 0] == 1) & (planes[:, 1] == 1)
    other[:, :2][both[:, None].expand(-1, 2, -1, -1)] = 0  # 1 - 1 is 0
    with torch.no_grad():
        for one, two in zip(net(planes), net(other), strict=True):
            assert torch.equal(one, two)
        swapped = net(planes[:, [1, 0, 2]])
        assert not torch.equal(swapped[1], net(planes)[1])


def test_only_the_same_net_can_grow():
    with pytest.raises(ZugwerkError, match="cannot grow into another"):
        carry_over(make_net(PLAIN), ResidualConfig(height=9, width=9))
    with pytest.raises(ZugwerkError, match=r"layer trunk\.0.*another shape"):
        carry_over(make_net(PLAIN), PLAIN.model_copy(update={"height": 9, "width": 9, "filters": (6, 7)}))
    with pytest.raises(ZugwerkError, match="cannot grow"):
        carry_over(UniformNet(UniformConfig(height=6, width=6)), PLAIN.model_copy(update={"height": 9, "width": 9}))


def test_multiply_adds_are_those_of_convolutions_and_dense_layers():
    config = PlainConfig(
        height=6, width=7, positions=2, filters=(5, 8), policy_planes=3, value_planes=2, value_hidden=11
    )
    cells = 42
    trunk = cells * 9 * (5 * 5 + 5 * 8)
    heads = cells * 8 * (3 + 2) + 3 * cells * cells + 2 * cells * 11 + 11
    assert multiply_adds(make_net(config)) == trunk + heads

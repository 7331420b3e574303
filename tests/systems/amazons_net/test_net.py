import pytest
import torch

from pipeline_src.systems.amazons_net.net import AmazonsConfig, AmazonsNets

SMALL = AmazonsConfig(size=6, width=0.1)


@pytest.fixture(scope="module")
def published() -> AmazonsNets:
    return AmazonsNets(AmazonsConfig()).eval()


def parameters(module: torch.nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def conv(channels: int, kernel: int, filters: int) -> int:
    return (channels * kernel * kernel + 1) * filters


def test_the_published_net_has_the_published_layers(published: AmazonsNets) -> None:
    shapes = [tuple(m.weight.shape) for m in published.modules() if isinstance(m, torch.nn.Conv2d)]
    first = [(128, 4, 6, 6), (64, 128, 5, 5), (32, 64, 4, 4), (16, 32, 2, 2)]
    middle = [(128, 16, 4, 4), (128, 128, 3, 3), (64, 128, 3, 3), (64, 64, 2, 2)]
    last = [(64, 64, 3, 3), (64, 64, 4, 4), (32, 64, 5, 5), (16, 32, 6, 6)]
    policy = [(128, 16, 2, 2), (64, 128, 2, 2), (32, 64, 2, 2), (16, 32, 2, 2)]
    assert shapes == first + middle + middle + last + policy + policy
    assert published.move_policy.output.weight.shape == (10_000, 1600)
    assert published.arrow_policy.output.weight.shape == (100, 1600)
    assert published.move_value.output.weight.shape == published.arrow_value.output.weight.shape == (1, 1600)


def test_parameter_counts_of_the_published_net(published: AmazonsNets) -> None:
    first = conv(4, 6, 128) + conv(128, 5, 64) + conv(64, 4, 32) + conv(32, 2, 16)
    middle = conv(16, 4, 128) + conv(128, 3, 128) + conv(128, 3, 64) + conv(64, 2, 64)
    last = conv(64, 3, 64) + conv(64, 4, 64) + conv(64, 5, 32) + conv(32, 6, 16)
    policy = conv(16, 2, 128) + conv(128, 2, 64) + conv(64, 2, 32) + conv(32, 2, 16)
    assert (first, middle, last, policy) == (258_288, 270_720, 172_208, 51_440)
    assert parameters(published.first) == first
    assert parameters(published.last) == last
    assert parameters(published.move_middle) == parameters(published.arrow_middle) == middle
    assert parameters(published.move_policy) == policy + 1601 * 10_000
    assert parameters(published.arrow_policy) == policy + 1601 * 100
    assert parameters(published) == 17_248_118


def test_activations_and_dropout_stand_where_the_tables_put_them(published: AmazonsNets) -> None:
    def kinds(module: torch.nn.Sequential) -> str:
        return "".join(type(m).__name__[0] for m in module)

    assert kinds(published.first) == kinds(published.move_middle) == kinds(published.last) == "SRSRSTSTD"
    assert kinds(published.arrow_policy.convolutions) == "SRSRSTST"
    dropouts = [m.p for m in published.modules() if isinstance(m, torch.nn.Dropout)]
    assert dropouts == [0.3] * 4  # first, last, and one middle for each net


def test_output_shapes(published: AmazonsNets) -> None:
    features = torch.rand(3, 4, 10, 10) * 300
    value, policy = published.move(features)
    assert value.shape == (3,)
    assert policy.shape == (3, 10_000)
    value, policy = published.arrow(features)
    assert value.shape == (3,)
    assert policy.shape == (3, 100)


@pytest.mark.parametrize(("mine", "others"), [("move", "arrow"), ("arrow", "move")])
def test_layers_1_to_4_and_9_to_12_are_shared(mine: str, others: str) -> None:
    nets = AmazonsNets(SMALL)
    value, policy = getattr(nets, mine)(torch.rand(4, 4, 6, 6) * 300)
    (value.sum() + policy.square().sum()).backward()
    for name, parameter in nets.named_parameters():
        assert (parameter.grad is not None) == (not name.startswith(others)), name
    assert {n.split(".")[0] for n, _ in nets.named_parameters()} == {
        "first",
        "last",
        *(f"{net}_{part}" for net in ("move", "arrow") for part in ("middle", "value", "policy")),
    }


def test_width_multiplies_filters_down_to_a_floor() -> None:
    widths = [m.out_channels for m in AmazonsNets(AmazonsConfig(width=0.125)).first if isinstance(m, torch.nn.Conv2d)]
    assert widths == [16, 8, 4, 4]


def test_an_empty_board_reaches_the_first_layer_as_zeros() -> None:
    nets = AmazonsNets(SMALL)
    seen = []
    nets.first[0].register_forward_hook(lambda _m, args, _out: seen.append(args[0]))
    nets.move(torch.full((1, 4, 6, 6), 100.0))
    nets.arrow(torch.full((1, 4, 6, 6), 300.0))
    assert not seen[0].any()
    assert (seen[1] == 5).all()


def test_fresh_nets_hand_on_what_they_see() -> None:
    torch.manual_seed(3)
    nets = AmazonsNets(AmazonsConfig(width=0.5)).eval()
    features = 100 + 40 * torch.randn(64, 4, 10, 10)
    for value, policy in (nets.move(features), nets.arrow(features)):
        assert value.std() > 0.03
        assert policy.std(0).mean() > 0.01

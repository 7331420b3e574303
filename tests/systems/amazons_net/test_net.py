from pathlib import Path

import pytest
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.amazons_net import nets as starting_weights
from pipeline_src.systems.amazons_net.nets import (
    PLANES,
    AmazonsConfig,
    AmazonsNets,
    Layer,
    Nets,
    PolicyHead,
    ResidualConfig,
    ResidualNets,
    by_square,
    convolutions,
    gather_rows,
    load_nets,
    make_local,
    masked_log_softmax,
    mirror,
    save_nets,
)


def test_all_probability_is_on_legal_entries() -> None:
    logits = torch.tensor([[5.0, 1.0, 2.0, -1.0]])
    legal = torch.tensor([[False, True, True, False]])
    p = masked_log_softmax(logits, legal).exp()
    torch.testing.assert_close(p[0, 1:3], torch.softmax(torch.tensor([1.0, 2.0]), 0))
    assert p[0, 0] == 0
    assert p[0, 3] == 0


def test_the_softmax_runs_over_all_rows_together() -> None:
    p = masked_log_softmax(torch.randn(3, 4, 100), torch.rand(3, 4, 100) < 0.2).exp()
    torch.testing.assert_close(p.sum((1, 2)), torch.ones(3))


def test_gradients_are_finite_and_zero_on_illegal_entries() -> None:
    logits = torch.randn(2, 4, 9, requires_grad=True)
    legal = torch.zeros(2, 4, 9, dtype=torch.bool)
    legal[0, 1, 3] = legal[0, 2, 5] = legal[1, 0, 0] = True
    log_p = masked_log_softmax(logits, legal)
    (-log_p[0, 1, 3] - log_p[1, 0, 0] + log_p.exp().sum()).backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert not logits.grad[~legal].any()
    assert logits.grad[0, 1, 3] != 0


def test_a_position_without_legal_entries_gives_no_nan() -> None:
    logits = torch.randn(2, 6, requires_grad=True)
    legal = torch.tensor([[False] * 6, [True] * 6])
    log_p = masked_log_softmax(logits, legal)
    assert (log_p[0] == -torch.inf).all()
    log_p.exp().square().sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert not logits.grad[0].any()


def test_half_precision_logits_are_normalised_in_single() -> None:
    log_p = masked_log_softmax(torch.randn(2, 50, dtype=torch.bfloat16), torch.ones(2, 50, dtype=torch.bool))
    assert log_p.dtype == torch.float32
    torch.testing.assert_close(log_p.exp().sum(1), torch.ones(2))


def test_rows_are_those_of_the_pieces() -> None:
    logits = torch.arange(2 * 9 * 9).view(2, 81).float()
    rows = gather_rows(logits, torch.tensor([[0, 4], [8, 1]], dtype=torch.int16))
    assert rows.shape == (2, 2, 9)
    assert rows[0, 1].tolist() == [4 * 9 + t for t in range(9)]
    assert rows[1, 0].tolist() == [81 + 8 * 9 + t for t in range(9)]


def test_leaving_illegal_rows_out_changes_no_probability() -> None:
    logits, rows = torch.randn(5, 81), torch.tensor([[0, 4]] * 5)
    legal = torch.rand(5, 2, 9) < 0.5
    legal[:, 0, 1] = True
    whole = torch.zeros(5, 9, 9, dtype=torch.bool)
    whole[:, [0, 4]] = legal
    expected = masked_log_softmax(logits, whole.view(5, 81)).view(5, 9, 9)[:, [0, 4]]
    torch.testing.assert_close(masked_log_softmax(gather_rows(logits, rows), legal), expected)


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


def test_activations_and_dropout_are_placed_as_in_the_tables(published: AmazonsNets) -> None:
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


def test_fresh_nets_pass_their_input_through() -> None:
    torch.manual_seed(3)
    nets = AmazonsNets(AmazonsConfig(width=0.5)).eval()
    features = 100 + 40 * torch.randn(64, 4, 10, 10)
    for value, policy in (nets.move(features), nets.arrow(features)):
        assert value.std() > 0.03
        assert policy.std(0).mean() > 0.01


SIDE = 6
SQUARES = SIDE**2


def made(layers, channels, *, first):
    torch.manual_seed(3)
    net = torch.nn.Sequential(*convolutions(channels, layers))
    mirror(net, first=first)
    return net


def test_layers_without_random_part_are_identities(monkeypatch):
    monkeypatch.setattr(starting_weights, "RANDOM", 0.0)
    layers = [Layer(6, 8, "relu"), Layer(5, 12, "relu"), Layer(4, 8, "tanh"), Layer(2, 10, "relu"), Layer(3, 8, "relu")]
    x = torch.randn(2, 4, SIDE, SIDE)
    with torch.no_grad():
        out = made(layers, 4, first=True)(x)
    assert torch.allclose(out[:, :4] - out[:, 4:], x.tanh(), atol=1e-5)


def test_random_part_has_opposite_signs_in_paired_filters():
    layers = [Layer(3, 8, "tanh"), Layer(2, 9, "tanh"), Layer(3, 8, "tanh")]
    net = made(layers, 8, first=False)
    first, odd, last = (net[i].weight.detach() for i in (0, 2, 4))
    assert torch.equal(first[:4], -first[4:])
    assert torch.equal(odd[:4], -odd[4:8]), "the ninth filter has no partner"
    assert odd[8].abs().sum() > 0
    assert torch.equal(last[:4, :4], -last[:4, 4:8])
    assert first[0, 1].abs().sum() > 0, "more than the identity"


@pytest.mark.parametrize("entries", [SQUARES, SQUARES**2])
def test_a_local_policy_asks_the_squares_of_a_logit_alone(entries):
    torch.manual_seed(3)
    layer = PolicyHead(4, SQUARES, [Layer(2, 5, "tanh")], entries).output
    make_local(layer, SQUARES)
    here, x = 2 * SIDE + 1, torch.zeros(1, 5, SIDE, SIDE)
    x[0, :, SIDE - 1 - 2, 1] = 1.0
    assert by_square(x)[0, :, here].tolist() == [1.0] * 5
    logits = layer(x.flatten(1)).detach().view(-1, SQUARES)
    touched = torch.zeros_like(logits, dtype=torch.bool)
    touched[:, here] = True
    if entries > SQUARES:
        touched[here] = True
    assert torch.equal(logits != 0, touched)
    same = logits[touched].round(decimals=5).unique()
    assert len(same) == (1 if entries == SQUARES else 3), "as to, as from, and as both"


STEPS = (
    {"starting_weights": "mirrored"},
    {"batch_norm": True},
    {"shortcuts": True},
    {"spatial_heads": True},
    {"starting_weights": "mirrored", "batch_norm": True, "shortcuts": True, "spatial_heads": True},
)


def varied(**changed):
    torch.manual_seed(5)
    return AmazonsNets(AmazonsConfig(size=6, width=0.1, dropout=0.0, **changed))


def answers(nets, features):
    with torch.no_grad():
        return [*nets.move(features), *nets.arrow(features)]


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_each_step_changes_answers_not_shapes_and_is_saved(tmp_path, step):
    features = torch.rand(3, 4, 6, 6) * 300
    published, nets = varied(), varied(**step)
    nets.both(features, features)  # moves running means
    nets.eval()
    found = answers(nets, features)
    assert [tuple(answer.shape) for answer in found] == [(3,), (3, 1296), (3,), (3, 36)]
    assert not torch.equal(found[1], answers(published, features)[1])
    save_nets(tmp_path / "nets.pt", nets)
    for mine, theirs in zip(answers(load_nets(tmp_path / "nets.pt"), features), found, strict=True):
        assert torch.equal(mine, theirs)


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_every_weight_of_a_step_takes_part(step):
    nets, features = varied(**step), torch.rand(4, 4, 6, 6) * 300
    (value, logits), (other, arrows) = nets.both(features, features)
    (value.square().sum() + other.square().sum() + logits.square().sum() + arrows.square().sum()).backward()
    assert all(parameter.grad is not None for parameter in nets.parameters())


def test_a_spatial_policy_follows_the_board():
    """One flipped along its files has its arrows flipped likewise: no weight belongs to a square."""
    nets, features = varied(spatial_heads=True).eval(), torch.rand(1, 4, 6, 6) * 300
    policy = nets.arrow_policy
    x = torch.rand(1, policy.in_channels, 6, 6)
    with torch.no_grad():
        assert torch.allclose(policy(x.flip(3)).view(6, 6), policy(x).view(6, 6).flip(1), atol=1e-6)
        top = torch.zeros_like(x)
        top[:, :, 0] = 1.0  # row 0 is the top rank, whose squares are numbered last
        assert (policy(top) - policy.bias).abs().view(6, 6).sum(1).nonzero().flatten().tolist() == [5]
    assert answers(nets, features)[3].shape == (1, 36)


PUBLISHED = AmazonsConfig(size=6, width=0.1, mover_relative=True)
RESIDUAL = ResidualConfig(size=6, channels=5, blocks=2, embedding=3)


def fresh(kind: str, seed: int = 1) -> Nets:
    torch.manual_seed(seed)
    nets = AmazonsNets(PUBLISHED) if kind == "published" else ResidualNets(RESIDUAL)
    nets.both(*(torch.rand(2, 4 if kind == "published" else PLANES, 6, 6) for _ in "ab"))  # moves running means
    return nets.eval()


@pytest.mark.parametrize("kind", ["published", "residual"])
def test_saved_nets_come_back_equal_and_ready_to_play(tmp_path: Path, kind: str) -> None:
    nets = fresh(kind)
    save_nets(tmp_path / "nets.pt", nets)
    again = load_nets(tmp_path / "nets.pt")
    assert type(again) is type(nets)
    assert again.config == nets.config
    assert not again.training
    features = torch.rand(2, 4 if kind == "published" else PLANES, 6, 6) * 3
    with torch.no_grad():
        for ask in ("move", "arrow"):
            for mine, theirs in zip(getattr(nets, ask)(features), getattr(again, ask)(features), strict=True):
                assert torch.equal(mine, theirs)


@pytest.mark.parametrize("kind", ["published", "residual"])
def test_the_bytes_do_not_depend_on_the_name(tmp_path: Path, kind: str) -> None:
    nets = fresh(kind)
    save_nets(tmp_path / "a.pt", nets)
    save_nets(tmp_path / "other" / "b.pt", nets)
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "other" / "b.pt").read_bytes()
    assert [p.name for p in tmp_path.glob("*.p*")] == ["a.pt"]
    save_nets(tmp_path / "c.pt", load_nets(tmp_path / "a.pt"))
    assert (tmp_path / "c.pt").read_bytes() == (tmp_path / "a.pt").read_bytes()


def test_a_missing_model_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(ZugwerkError, match=r"none\.pt: no such model$"):
        load_nets(tmp_path / "none.pt")


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "nets.pt"
    save_nets(path, fresh("residual"))
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"not a model"):
        path.write_bytes(content)
        with pytest.raises(ZugwerkError, match=r"nets\.pt: damaged, or not a model"):
            load_nets(path)
    empty = {"config": {"size": 6}, "state_dict": {}}
    for other in ({"weights": 1}, [1], empty, empty | {"kind": "other"}, empty | {"kind": "residual"}, {"kind": []}):
        torch.save(other, path)
        with pytest.raises(ZugwerkError, match=r"nets\.pt: damaged, or not a model"):
            load_nets(path)

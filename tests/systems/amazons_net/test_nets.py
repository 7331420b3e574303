"""Nets, their starting weights and files, and the losses."""

import math
from pathlib import Path

import pytest
import torch

from pipeline_src.systems.amazons_net import nets as starting_weights
from pipeline_src.systems.amazons_net.losses import (
    POLICY_LOSSES,
    Played,
    argmax_choice,
    coordinates,
    cross_entropy,
    expected_distance,
    soft_argmax,
    squared_error,
    value_cross_entropy,
    value_error,
)
from pipeline_src.systems.amazons_net.nets import (
    PLANES,
    AmazonsConfig,
    AmazonsNets,
    Block,
    Layer,
    MovePolicy,
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


TINY = ResidualConfig(size=6, channels=8, blocks=2, embedding=4)


def fresh_residual(config: ResidualConfig = TINY) -> ResidualNets:
    torch.manual_seed(2)
    return ResidualNets(config).eval()


@pytest.mark.parametrize("size", [6, 8, 10])
def test_the_same_weights_take_boards_of_every_size(size: int) -> None:
    nets = fresh_residual()
    value, policy = nets.move(torch.rand(3, PLANES, size, size))
    assert (value.shape, policy.shape) == ((3,), (3, size**4))
    value, policy = nets.arrow(torch.rand(3, PLANES, size, size))
    assert (value.shape, policy.shape) == ((3,), (3, size**2))


def test_squares_are_counted_from_the_lowest_rank() -> None:
    board = torch.arange(12).view(1, 1, 3, 4)  # row 0 is the top rank
    assert by_square(board).tolist() == [[[8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]]]


def test_move_policy_is_product_of_embeddings_plus_relative_bias() -> None:
    torch.manual_seed(3)
    head = MovePolicy(5, 4)
    with torch.no_grad():
        head.relative.normal_()
        x = torch.randn(2, 5, 3, 6)
        logits = head(x).view(2, 18, 18)
        squares = head.squares(x)
    biases: dict[tuple[int, int], float] = {}
    for start in range(18):
        for to in range(18):
            (r, c), (i, j) = (2 - start // 6, start % 6), (2 - to // 6, to % 6)
            product = (squares[:, :4, r, c] * squares[:, 4:, i, j]).sum(1) / 2
            bias = (logits[:, start, to] - product).tolist()
            assert bias[0] == pytest.approx(bias[1], abs=1e-5)
            assert biases.setdefault((r - i, j - c), bias[0]) == pytest.approx(bias[0], abs=1e-5)
    assert len({round(b, 3) for b in biases.values()}) == len(biases) == 5 * 11


def test_joint_answer_equals_single_answers() -> None:
    nets, move, arrow = fresh_residual(), torch.rand(3, PLANES, 6, 6), torch.rand(5, PLANES, 6, 6)
    with torch.no_grad():
        together = nets.both(move, arrow)
        for mine, theirs in zip(together, (nets.move(move), nets.arrow(arrow)), strict=True):
            for a, b in zip(mine, theirs, strict=True):
                torch.testing.assert_close(a, b)


def test_in_training_both_are_normalised_as_one_batch() -> None:
    nets, move, arrow = fresh_residual().train(), torch.rand(4, PLANES, 6, 6), 3 * torch.rand(4, PLANES, 6, 6)
    with torch.no_grad():
        seen = []
        nets.first.register_forward_hook(lambda _m, _args, out: seen.append(out.clone()))  # what follows works in place
        nets.both(move, arrow)
    assert len(seen) == 1
    means = seen[0].mean((0, 2, 3))
    assert means.abs().max() < 1e-5
    assert seen[0][:4].mean((0, 2, 3)).abs().max() > 1e-2


def test_fresh_block_is_identity_and_learns() -> None:
    block, x = Block(4).train(), torch.rand(2, 4, 6, 6)
    out = block(x)
    assert torch.equal(out, x)
    out.square().sum().backward()
    assert block.two[1].weight.grad is not None
    assert block.two[1].weight.grad.abs().min() > 0


def test_every_weight_learns_from_a_step() -> None:
    nets = fresh_residual().train()
    for block in nets.blocks:
        torch.nn.init.ones_(block.two[1].weight)
    (value, policy), (later, arrows) = nets.both(torch.rand(4, PLANES, 6, 6), torch.rand(4, PLANES, 6, 6))
    (value.sum() + later.sum() + policy.square().sum() + arrows.square().sum()).backward()
    for name, parameter in nets.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name


SIZE = 5
PLACES = coordinates(SIZE)


def place(square):
    return square % SIZE + 1, square // SIZE + 1


@pytest.fixture
def batch():
    torch.manual_seed(2)
    legal = torch.rand(6, 4, SIZE * SIZE) < 0.3
    rows = torch.stack([torch.randperm(SIZE * SIZE)[:4].sort().values for _ in range(6)])
    row, to = torch.randint(0, 4, (6,)), torch.randint(0, SIZE * SIZE, (6,))
    legal[torch.arange(6), row, to] = True
    logits = torch.randn(6, 4, SIZE * SIZE, requires_grad=True)
    return logits, masked_log_softmax(logits, legal), Played(rows, row, to)


def slow(log_p, played, b):
    """(probability, start, end) of each legal entry, and the played squares."""
    log_p = log_p.detach()
    entries = [
        (math.exp(log_p[b, k, n]), place(int(played.rows[b, k])), place(n))
        for k in range(log_p.shape[1])
        for n in range(log_p.shape[2])
        if log_p[b, k, n] > -math.inf
    ]
    return entries, place(int(played.rows[b, played.row[b]])), place(int(played.to[b]))


def test_coordinates_are_file_and_rank_from_1():
    assert coordinates(10)[[0, 9, 94, 99]].tolist() == [[1, 1], [10, 1], [5, 10], [10, 10]]


def test_soft_argmax_replaces_predicted_by_expected_coordinates(batch):
    _, log_p, played = batch
    for b, found in enumerate(soft_argmax(log_p, played, PLACES).tolist()):
        entries, start, end = slow(log_p, played, b)
        mean_start = [sum(p * s[i] for p, s, _ in entries) for i in (0, 1)]
        mean_end = [sum(p * e[i] for p, _, e in entries) for i in (0, 1)]
        assert found == pytest.approx((math.dist(mean_start, start) + math.dist(mean_end, end)) ** 2, rel=1e-4)


def test_expected_distance_weighs_both_distances_by_probability(batch):
    _, log_p, played = batch
    for b, found in enumerate(expected_distance(log_p, played, PLACES).tolist()):
        entries, start, end = slow(log_p, played, b)
        assert found == pytest.approx(
            sum(p * (math.dist(s, start) + math.dist(e, end)) for p, s, e in entries), rel=1e-4
        )


def test_cross_entropy_is_that_of_the_played_entry(batch):
    _, log_p, played = batch
    found = cross_entropy(log_p, played, PLACES)
    for b in range(6):
        assert found[b] == -log_p[b, played.row[b], played.to[b]]


def test_the_printed_distance_is_the_argmaxs(batch):
    _, log_p, played = batch
    choice = argmax_choice(log_p, played, PLACES)
    for b in range(6):
        entries, start, end = slow(log_p, played, b)
        _, best_start, best_end = max(entries)
        assert choice.distance[b] == pytest.approx(math.dist(best_start, start) + math.dist(best_end, end), rel=1e-5)
        assert choice.right[b] == ((best_start, best_end) == (start, end))


def test_an_arrow_has_one_distance():
    log_p = masked_log_softmax(
        torch.zeros(1, 1, 25).index_fill(2, torch.tensor([24]), 50.0), torch.ones(1, 1, 25).bool()
    )
    played = Played(torch.tensor([[12]]), torch.tensor([0]), torch.tensor([20]))  # a5, where the net says e5
    assert argmax_choice(log_p, played, PLACES).distance.item() == 4
    assert soft_argmax(log_p, played, PLACES).item() == pytest.approx(16, rel=1e-4)
    assert expected_distance(log_p, played, PLACES).item() == pytest.approx(4, rel=1e-4)


@pytest.mark.parametrize("name", POLICY_LOSSES)
def test_gradients_are_finite_and_favour_the_played_turn(name, batch):
    logits, log_p, played = batch
    POLICY_LOSSES[name](log_p, played, PLACES).sum().backward()
    assert logits.grad.isfinite().all()
    assert logits.grad.any()
    if name != "soft_argmax":  # it may like two squares on both sides better
        assert (logits.grad[torch.arange(6), played.row, played.to] < 0).all()


@pytest.mark.parametrize("name", POLICY_LOSSES)
def test_certain_right_answer_has_zero_loss_and_finite_gradients(name):
    logits = torch.zeros(1, 4, 25, requires_grad=True)
    legal = torch.zeros(1, 4, 25, dtype=torch.bool)
    legal[0, 2, 7] = True
    played = Played(torch.tensor([[0, 5, 9, 13]]), torch.tensor([2]), torch.tensor([7]))
    loss = POLICY_LOSSES[name](masked_log_softmax(logits, legal), played, PLACES).sum()
    loss.backward()
    assert loss.item() == pytest.approx(0, abs=1e-5)
    assert logits.grad.isfinite().all()


def test_l1_is_on_the_chance_to_win():
    error = value_error(torch.tensor([0.0, 100.0, -100.0]), torch.tensor([1.0, 1.0, 1.0]))
    assert error.tolist() == pytest.approx([0.5, 0.0, 1.0])


def test_value_losses_use_probability_of_the_result():
    logits, won = torch.tensor([-30.0, -1.0, 0.0, 2.0, 40.0]), torch.tensor([0.0, 1.0, 1.0, 0.0, 0.0])
    chance = torch.where(won > 0, logits.double().sigmoid(), (-logits.double()).sigmoid())
    torch.testing.assert_close(squared_error(logits, won), (1 - chance).square().float())
    torch.testing.assert_close(value_cross_entropy(logits, won), -chance.log().float())

import pytest
import torch

from pipeline_src.systems.amazons_net.nets import PLANES, Block, MovePolicy, ResidualConfig, ResidualNets, by_square

SMALL = ResidualConfig(size=6, channels=8, blocks=2, embedding=4)


def fresh(config: ResidualConfig = SMALL) -> ResidualNets:
    torch.manual_seed(2)
    return ResidualNets(config).eval()


@pytest.mark.parametrize("size", [6, 8, 10])
def test_the_same_weights_take_boards_of_every_size(size: int) -> None:
    nets = fresh()
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
    nets, move, arrow = fresh(), torch.rand(3, PLANES, 6, 6), torch.rand(5, PLANES, 6, 6)
    with torch.no_grad():
        together = nets.both(move, arrow)
        for mine, theirs in zip(together, (nets.move(move), nets.arrow(arrow)), strict=True):
            for a, b in zip(mine, theirs, strict=True):
                torch.testing.assert_close(a, b)


def test_in_training_both_are_normalised_as_one_batch() -> None:
    nets, move, arrow = fresh().train(), torch.rand(4, PLANES, 6, 6), 3 * torch.rand(4, PLANES, 6, 6)
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
    nets = fresh().train()
    for block in nets.blocks:
        torch.nn.init.ones_(block.two[1].weight)
    (value, policy), (later, arrows) = nets.both(torch.rand(4, PLANES, 6, 6), torch.rand(4, PLANES, 6, 6))
    (value.sum() + later.sum() + policy.square().sum() + arrows.square().sum()).backward()
    for name, parameter in nets.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name

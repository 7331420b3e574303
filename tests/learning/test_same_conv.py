import pytest
import torch

from pipeline_src.learning.torch_state import SameConv2d, dense


@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 5, 6])
def test_keeps_the_board(kernel: int) -> None:
    assert SameConv2d(3, 5, kernel)(torch.zeros(2, 3, 10, 9)).shape == (2, 5, 10, 9)


@pytest.mark.parametrize("kernel", [2, 3, 4, 6])
def test_each_output_sees_the_window_that_starts_above_left(kernel: int) -> None:
    conv = SameConv2d(1, 1, kernel)
    torch.nn.init.ones_(conv.weight)
    board = torch.arange(49.0).view(1, 1, 7, 7)
    out = conv(board)
    before = (kernel - 1) // 2
    for row, column in [(0, 0), (0, 6), (3, 3), (6, 0), (6, 6), (2, 5)]:
        top, left = row - before, column - before
        window = board[0, 0, max(top, 0) : top + kernel, max(left, 0) : left + kernel]
        torch.testing.assert_close(out[0, 0, row, column], window.sum())


def test_even_kernels_pad_below_and_to_the_right() -> None:
    conv = SameConv2d(1, 1, 2)
    torch.nn.init.ones_(conv.weight)
    out = conv(torch.ones(1, 1, 3, 3))[0, 0]
    assert out.tolist() == [[4.0, 4.0, 2.0], [4.0, 4.0, 2.0], [2.0, 2.0, 1.0]]


def test_starts_with_the_spread_that_keeps_signals_and_no_bias() -> None:
    torch.manual_seed(1)
    conv, layer = SameConv2d(16, 32, 3), dense(400, 100)
    for weight, fans in ((conv.weight, 9 * 16), (layer.weight, 500)):
        assert weight.var().item() == pytest.approx(2 / fans, rel=0.1)
    assert not conv.bias.any()
    assert not layer.bias.any()

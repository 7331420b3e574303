"""Building block of the self-play nets: a convolution that keeps the size of the board, with batch norm."""

from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


class Normed(nn.Module):
    """A square convolution, [B, ``into``, H, W] -> [B, ``filters``, H, W], and what normalises its output."""

    def __init__(self, into: int, filters: int, kernel: int, scale: float | None = 1.0) -> None:
        """Fresh weights.

        Args:
            into: channels that come in.
            filters: channels that go out.
            kernel: odd side of the convolution.
            scale: of the batch norm at the start; None for no batch norm, then the convolution has a bias.
        """
        super().__init__()
        self.convolution = nn.Conv2d(into, filters, kernel, padding=kernel // 2, bias=scale is None)
        self.norm = None if scale is None else nn.BatchNorm2d(filters)
        if self.norm is not None and scale is not None:
            nn.init.constant_(self.norm.weight, scale)

    def forward(self, x: Tensor) -> Tensor:
        """No activation follows."""
        out: Tensor = self.convolution(x)
        return out if self.norm is None else self.norm(out)

    def fold(self) -> None:
        """Make the batch norm of evaluation mode part of the convolution."""
        if self.norm is not None:
            self.convolution, self.norm = fuse_conv_bn_eval(self.convolution, self.norm), None

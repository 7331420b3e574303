"""Nets in torch for a search that has to be quick: fewer operations, 16 bits in place of 32 where that is faster."""

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from pipeline_src.learning.precision import number_format
from pipeline_src.systems.amazons_net.evaluator import AmazonsNetEvaluator
from pipeline_src.systems.amazons_net.forward import NetsForward
from pipeline_src.systems.amazons_net.protocol import Answers, Nets


class QuickNets(Nets):
    """Nets in evaluation mode with each convolution and its batch norm as one operation, from and to float32."""

    def __init__(self, nets: Nets, dtype: torch.dtype) -> None:
        """``nets`` are changed; they compute with ``dtype``."""
        super().__init__()
        _fuse(nets.eval())
        self.config, self.dtype = nets.config, dtype
        self.nets = nets.to(dtype)

    def move(self, features: Tensor) -> Answers:
        """See `Nets.move`."""
        return _floats(self.nets.move(features.to(self.dtype)))

    def arrow(self, features: Tensor) -> Answers:
        """See `Nets.arrow`."""
        return _floats(self.nets.arrow(features.to(self.dtype)))


def torch_nets(nets: Nets, batch: int) -> AmazonsNetEvaluator:
    """Nets for a search, which are changed; passes of ``batch`` positions on one thread."""
    dtype = torch.bfloat16 if number_format("auto") == "bf16-mixed" else torch.float32
    return AmazonsNetEvaluator(NetsForward(QuickNets(nets, dtype), batch, threads=1))


def _fuse(module: nn.Module) -> None:
    for child in module.children():
        _fuse(child)
    if isinstance(module, nn.Sequential):
        for i, (one, two) in enumerate(zip(module, list(module)[1:], strict=False)):
            if isinstance(one, nn.Conv2d) and isinstance(two, nn.BatchNorm2d):
                module[i], module[i + 1] = fuse_conv_bn_eval(one, two), nn.Identity()


def _floats(answers: Answers) -> Answers:
    value, policy = answers
    return value.float(), policy.float()

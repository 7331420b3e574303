"""Small self-play nets with weights that say something, running means and all."""

import torch
from torch import nn

from pipeline_src.systems.gomoku_zero.models import ZeroConfig, ZeroModel, ZeroNet, make_net
from pipeline_src.systems.gomoku_zero.nets import PlainConfig, ResidualConfig

SMALL: dict[str, ZeroConfig] = {
    "plain": PlainConfig(height=6, width=6, positions=2, filters=(5, 7)),
    "without_norm": PlainConfig(height=6, width=6, positions=1, filters=(5,), batch_norm=False),
    "oblong": PlainConfig(
        height=5, width=7, positions=2, filters=(4, 4), policy_planes=1, value_planes=1, value_hidden=3
    ),
    "signed": PlainConfig(height=6, width=6, positions=2, filters=(5, 7), batch_norm=False, signed=True),
    "convolutional": PlainConfig(
        height=5, width=7, positions=1, filters=(5, 6), signed=True, head="convolutional", value_hidden=8
    ),
    "residual": ResidualConfig(height=6, width=6, positions=2, stem_filters=4, stem_kernel=3, widths=(6, 8), blocks=2),
    "projected": ResidualConfig(
        height=6,
        width=6,
        positions=2,
        stem_filters=4,
        stem_kernel=3,
        widths=(6, 8),
        blocks=1,
        shortcut="project",
        head_planes=2,
        head_relu=True,
        value_hidden=5,
    ),
}


def fresh(config: ZeroConfig, seed: int = 1) -> ZeroNet:
    """As if it had been trained: what it answers depends on the board, and its batch norms have seen some boards."""
    torch.set_num_threads(1)  # or small convolutions wait for threads of a busy machine
    torch.manual_seed(seed)
    net = make_net(config)
    for norm in net.modules():
        if isinstance(norm, nn.BatchNorm2d):
            norm.momentum = 0.5
            nn.init.uniform_(norm.weight, 0.5, 1.5)
            nn.init.normal_(norm.bias, std=0.3)
    with torch.no_grad():
        net.policy.weight.mul_(3)
        net.value.weight.mul_(3)
        for k in range(5):
            net(some_planes(config, seed=k))
    return net.eval()


def model(config: ZeroConfig, seed: int = 1) -> ZeroModel:
    return ZeroModel(fresh(config, seed), "freestyle")


def some_planes(config: ZeroConfig, batch: int = 8, seed: int = 1) -> torch.Tensor:
    torch.manual_seed(seed)
    return (torch.rand(batch, 2 * config.positions + 1, config.height, config.width) < 0.3).float()

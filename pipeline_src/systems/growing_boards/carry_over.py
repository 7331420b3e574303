"""`carry_over`: make a net for a larger board from one that was trained on a smaller board."""

import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.systems.gomoku_zero.models import ZeroConfig, ZeroNet, make_net

HIDDEN = {"plain": ("trunk.",), "residual": ("stem.", "blocks.", "norm.")}
"""By kind of net: how the names of its hidden layers begin, which know nothing of the board's size."""


def carry_over(small: ZeroNet, config: ZeroConfig) -> ZeroNet:
    """A net of ``config`` whose hidden layers are those of ``small`` and whose heads are new.

    Where no layer of the net depends on the board's size, as with convolutional heads, all of it is carried over. New
    weights come from torch's global generator.

    Raises:
        ZugwerkError: the two are not the same net but for the board's size.
    """
    grown = make_net(config)
    learnt, fresh = small.state_dict(), grown.state_dict()
    if small.config.kind != config.kind or learnt.keys() != fresh.keys():
        raise ZugwerkError(
            f"a {small.config.kind} net cannot grow into another one; train each board with the same net"
        )
    whole = all(learnt[name].shape == tensor.shape for name, tensor in fresh.items())
    for name, tensor in fresh.items():
        if whole or name.startswith(HIDDEN.get(config.kind, ())):
            if learnt[name].shape != tensor.shape:
                raise ZugwerkError(f"layer {name} has another shape than on the smaller board; train both with one net")
            fresh[name] = learnt[name].clone()
    grown.load_state_dict(fresh)
    return grown.eval()


def multiply_adds(net: ZeroNet) -> int:
    """Multiplications with an addition that one position takes, those of convolutions and fully connected layers."""
    from torch.utils.flop_counter import FlopCounterMode

    config = net.config
    planes = torch.zeros(1, 2 * config.positions + 1, config.height, config.width)
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        net(planes)
    return int(counter.get_total_flops()) // 2

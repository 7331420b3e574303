"""Mirrored starting weights: convolutions that hand on what they see, policies that look at a square alone."""

import pytest
import torch

from pipeline_src.systems.amazons_net import starting_weights
from pipeline_src.systems.amazons_net.heads import Layer, PolicyHead, convolutions
from pipeline_src.systems.amazons_net.residual import by_square
from pipeline_src.systems.amazons_net.starting_weights import make_local, mirror

SIDE = 6
SQUARES = SIDE**2


def made(layers, channels, *, first):
    torch.manual_seed(3)
    net = torch.nn.Sequential(*convolutions(channels, layers))
    mirror(net, first=first)
    return net


def test_layers_without_the_random_part_hand_on_the_input_whatever_its_sign(monkeypatch):
    monkeypatch.setattr(starting_weights, "RANDOM", 0.0)
    layers = [Layer(6, 8, "relu"), Layer(5, 12, "relu"), Layer(4, 8, "tanh"), Layer(2, 10, "relu"), Layer(3, 8, "relu")]
    x = torch.randn(2, 4, SIDE, SIDE)
    with torch.no_grad():
        out = made(layers, 4, first=True)(x)
    assert torch.allclose(out[:, :4] - out[:, 4:], x.tanh(), atol=1e-5)


def test_the_random_part_has_opposite_signs_in_the_two_filters_of_a_pair():
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

"""The models that are trained, by name: the published nets on each reading of their loss, and the residual net."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pipeline_src.systems.amazons_net.losses import (
    POLICY_LOSSES,
    PolicyLoss,
    ValueLoss,
    cross_entropy,
    squared_error,
    value_cross_entropy,
)
from pipeline_src.systems.amazons_net.net import AmazonsConfig, AmazonsNets
from pipeline_src.systems.amazons_net.params import AmazonsResidualParams, AmazonsTrainParams, TrainingParams
from pipeline_src.systems.amazons_net.protocol import Nets
from pipeline_src.systems.amazons_net.residual import ResidualConfig, ResidualNets


class Model(NamedTuple):
    """A model to train, with its loss: ``value_weight`` times the value loss, plus the policy loss."""

    params: type[TrainingParams]
    """The model of its section of the params."""
    make: Callable[[Any, int], Nets]
    """Fresh nets for boards of a size, from these params and the global torch generator."""
    value_loss: ValueLoss
    policy_loss: PolicyLoss


def _published(params: AmazonsTrainParams, size: int) -> Nets:
    return AmazonsNets(
        AmazonsConfig(
            size=size,
            width=params.width,
            fewest_filters=params.fewest_filters,
            dropout=params.dropout,
            mover_relative=params.mover_relative,
            moved_first=params.moved_first,
            starting_weights=params.starting_weights,
            batch_norm=params.batch_norm,
            shortcuts=params.shortcuts,
            spatial_heads=params.spatial_heads,
        )
    )


def _residual(params: AmazonsResidualParams, size: int) -> Nets:
    config = ResidualConfig(size=size, channels=params.channels, blocks=params.blocks, embedding=params.embedding)
    return ResidualNets(config)


MODELS: Mapping[str, Model] = {
    **{name: Model(AmazonsTrainParams, _published, squared_error, loss) for name, loss in POLICY_LOSSES.items()},
    "residual": Model(AmazonsResidualParams, _residual, value_cross_entropy, cross_entropy),
}
"""The published nets under the name of their loss's reading; the residual net, on the cross-entropies of its moves, its
arrows and its winners, which has one reading only."""

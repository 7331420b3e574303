"""The loss of patent CN 111330255 B, L1^2 + L2^2, in its printed form and in three that have a gradient.

L1 = |y - y_hat| is on the chance to win. L2 is the Euclidean distance, in files and ranks, from the squares played to
the squares predicted: start and end of the amazon's move added for Move-Net, the arrow's square for Arrow-Net. As
printed, the prediction is the argmax, which no gradient passes.

Both nets fit one shape: a policy of K rows of N squares. Row k starts on square ``rows[k]``: one of the mover's amazons
for Move-Net; for Arrow-Net there is one row, that of the shooting amazon, so its distance from start to start is 0.

The residual net has cross-entropies in the place of both: of the moves and arrows, and of the winner.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, overload

import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.optim import AdamW, Optimizer

from pipeline_src.systems.amazons_net.nets import AmazonsConfig, AmazonsNets, Nets, ResidualConfig, ResidualNets
from pipeline_src.systems.amazons_net.params import (
    AmazonsRaysParams,
    AmazonsResidualParams,
    AmazonsTrainParams,
    TrainingParams,
)
from pipeline_src.systems.amazons_net.rays import RaysConfig, RaysNet


class NesterovRMSprop(Optimizer):
    """Gradients scaled by their running root mean square, then Nesterov momentum, which PyTorch's own RMSprop lacks.

    For each parameter, with gradient g (Hinton's RMSprop; Nesterov's look-ahead as Dozat, 2016, and TensorFlow put
    it)::

        v = rho v + (1 - rho) g^2
        u = g / (sqrt(v) + eps)
        m = mu m + lr u
        theta = theta - (mu m + lr u)

    Args:
        params: parameters or groups of them.
        lr: learning rate.
        rho: decay of the mean square, in [0, 1).
        momentum: mu, in [0, 1); 0 is plain RMSprop.
        eps: added to the root.
    """

    def __init__(
        self, params: Iterable[Tensor], lr: float = 1e-3, rho: float = 0.9, momentum: float = 0.9, eps: float = 1e-7
    ) -> None:
        super().__init__(params, {"lr": lr, "rho": rho, "momentum": momentum, "eps": eps})

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One update of every parameter that has a gradient.

        Args:
            closure: recomputes the loss and its gradients, and returns the loss.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if parameters:
                self._update(parameters, group)
        return loss

    def _update(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        for p in parameters:
            if not self.state[p]:
                self.state[p] = {"square": torch.zeros_like(p), "momentum": torch.zeros_like(p)}
        grads = [p.grad for p in parameters if p.grad is not None]
        squares = [self.state[p]["square"] for p in parameters]
        momenta = [self.state[p]["momentum"] for p in parameters]
        lr, rho, mu = group["lr"], group["rho"], group["momentum"]
        torch._foreach_mul_(squares, rho)
        torch._foreach_addcmul_(squares, grads, grads, value=1 - rho)
        roots = torch._foreach_sqrt(squares)
        torch._foreach_add_(roots, group["eps"])
        torch._foreach_mul_(momenta, mu)
        torch._foreach_addcdiv_(momenta, grads, roots, value=lr)
        torch._foreach_addcdiv_(parameters, grads, roots, value=-lr)
        torch._foreach_add_(parameters, momenta, alpha=-mu)


TINY = 1e-12  # Keeps the gradient of a distance finite where the distance is 0; moves it by a millionth of a square


class Played(NamedTuple):
    """The moves played in B positions, with the rows of the policy they were chosen from."""

    rows: Tensor  # int64 [B, K]: the square each row starts on
    row: Tensor  # int64 [B]: the row that was played
    to: Tensor  # int64 [B]: the square that was played


def coordinates(size: int) -> Tensor:
    """File and rank of each square s = (rank - 1) * size + (file - 1), both from 1, float32 [N, 2]."""
    square = torch.arange(size * size)
    return torch.stack([square % size + 1, square // size + 1], dim=1).float()


def value_error(value_logit: Tensor, won: Tensor) -> Tensor:
    """L1 = |y - y_hat| for each position, [B]."""
    return (won - value_logit.sigmoid()).abs()


def squared_error(value_logit: Tensor, won: Tensor) -> Tensor:
    """L1^2, [B]."""
    return value_error(value_logit, won).square()


def value_cross_entropy(value_logit: Tensor, won: Tensor) -> Tensor:
    """Minus the log-probability of who won, [B].

    Unlike L1^2, its gradient does not vanish where the value is certain and wrong.
    """
    return binary_cross_entropy_with_logits(value_logit, won, reduction="none")


def soft_argmax(log_p: Tensor, played: Played, places: Tensor) -> Tensor:
    """L2^2 with the expected coordinates in place of the argmax's, [B].

    Args:
        log_p: float [B, K, N], minus infinity where illegal.
        played: the played moves.
        places: `coordinates` of the board.
    """
    p = log_p.exp()
    start = torch.einsum("bk,bkc->bc", p.sum(2), places[played.rows])
    end = p.sum(1) @ places
    distance = _distance(start, places[_start(played)]) + _distance(end, places[played.to])
    return distance.square()


def expected_distance(log_p: Tensor, played: Played, places: Tensor) -> Tensor:
    """The expectation of L2 under the policy, [B]; arguments as for `soft_argmax`."""
    p = log_p.exp()
    starts = _distance(places[played.rows], places[_start(played)][:, None])
    ends = _distance(places, places[played.to][:, None])
    return (p.sum(2) * starts).sum(1) + (p.sum(1) * ends).sum(1)


def cross_entropy(log_p: Tensor, played: Played, places: Tensor) -> Tensor:  # noqa: ARG001 - one signature for all
    """Return minus the log-probability of the played moves, [B]; arguments as for `soft_argmax`."""
    return -log_p[torch.arange(len(log_p), device=log_p.device), played.row, played.to]


ValueLoss = Callable[[Tensor, Tensor], Tensor]
PolicyLoss = Callable[[Tensor, Played, Tensor], Tensor]
POLICY_LOSSES: Mapping[str, PolicyLoss] = {
    "soft_argmax": soft_argmax,
    "expected_distance": expected_distance,
    "cross_entropy": cross_entropy,
}


class Choice(NamedTuple):
    """Comparison of the argmax of a policy with the played move."""

    distance: Tensor  # L2 as printed, float [B]
    right: Tensor  # bool [B]: whether the argmax is the played move


def argmax_choice(log_p: Tensor, played: Played, places: Tensor) -> Choice:
    """Return the L2 as printed, with the most probable legal entry as prediction; arguments as for `soft_argmax`."""
    squares = log_p.shape[2]
    best = log_p.flatten(1).argmax(1)
    row, to = best // squares, best % squares
    start = places[played.rows.gather(1, row[:, None]).squeeze(1)]
    distance = (start - places[_start(played)]).norm(dim=1) + (places[to] - places[played.to]).norm(dim=1)
    return Choice(distance, (row == played.row) & (to == played.to))


def _start(played: Played) -> Tensor:
    return played.rows.gather(1, played.row[:, None]).squeeze(1)


def _distance(a: Tensor, b: Tensor) -> Tensor:
    return ((a - b).square().sum(-1) + TINY).sqrt()


class Model(NamedTuple):
    """A model to train, with its loss: ``value_weight`` times the value loss, plus the policy loss."""

    params: type[TrainingParams]  # The model of its section of the params
    make: Callable[[Any, int], Nets]
    """Fresh nets for boards of a size, from these params and the global torch generator."""
    optimizer: Callable[[Iterable[Tensor], float], Optimizer]  # Makes the optimizer of parameters, for a learning rate
    value_loss: ValueLoss
    policy_loss: PolicyLoss
    clip: float | None = None  # Largest norm of a step's gradient


def _published(params: AmazonsTrainParams, size: int) -> Nets:
    shape = {field.name for field in fields(AmazonsConfig)} - {"size"}
    return AmazonsNets(AmazonsConfig(size, **params.model_dump(include=shape)))


def _residual(params: AmazonsResidualParams, size: int) -> Nets:
    return ResidualNets(ResidualConfig(size, params.channels, params.blocks, params.embedding))


def _rays(params: AmazonsRaysParams, size: int) -> Any:
    return RaysNet(RaysConfig(size, params.units))


def _rmsprop(parameters: Iterable[Tensor], rate: float) -> Optimizer:
    """RMSprop with Nesterov momentum is published, without its numbers; with these the published layers learn."""
    return NesterovRMSprop(parameters, lr=rate, rho=0.99, momentum=0.9, eps=1e-6)


def _adamw(parameters: Iterable[Tensor], rate: float) -> Optimizer:
    """AdamW (Loshchilov and Hutter, 2019) with PyTorch's own numbers."""
    return AdamW(parameters, lr=rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)


def _quick_adamw(parameters: Iterable[Tensor], rate: float) -> Optimizer:
    """The same with less decay, in one pass over the weights: a net of rays has few, and its steps are short."""
    return AdamW(parameters, lr=rate, weight_decay=1e-4, fused=True)


MODELS: Mapping[str, Model] = {
    **{
        name: Model(AmazonsTrainParams, _published, _rmsprop, squared_error, loss)
        for name, loss in POLICY_LOSSES.items()
    },
    "residual": Model(AmazonsResidualParams, _residual, _adamw, value_cross_entropy, cross_entropy),
    "rays": Model(AmazonsRaysParams, _rays, _quick_adamw, value_cross_entropy, cross_entropy, 1.0),
}
"""The published nets under the name of their loss's reading; the residual net and the net of rays, on the
cross-entropies of their moves, arrows and winners, which have one reading only."""

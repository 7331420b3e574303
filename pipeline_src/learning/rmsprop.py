"""RMSprop with Nesterov momentum, which PyTorch's own RMSprop lacks."""

from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor
from torch.optim import Optimizer


class NesterovRMSprop(Optimizer):
    """Gradients scaled by their running root mean square, then Nesterov momentum.

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

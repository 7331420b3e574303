"""A net in torch on the CPU."""

import torch

from pipeline_src.systems.gomoku_zero.backend import Answer, ModelInfo, Planes, Synchronous
from pipeline_src.systems.gomoku_zero.models import ZeroModel, folded


class TorchBackend(Synchronous):
    """Channels last, no autograd, batch norms folded into the convolutions."""

    def __init__(self, model: ZeroModel, threads: int = 1) -> None:
        """``threads`` is how many torch may use here, whatever it uses elsewhere."""
        super().__init__(self._run, info_of(model))
        self.net = folded(model.net).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.threads = threads

    def _run(self, planes: Planes) -> Answer:
        before = torch.get_num_threads()
        if before != self.threads:
            torch.set_num_threads(self.threads)
        try:
            with torch.inference_mode():
                logits, values = self.net(torch.from_numpy(planes).float())
            return logits.numpy(), values.numpy()
        finally:
            if before != self.threads:
                torch.set_num_threads(before)


def info_of(model: ZeroModel) -> ModelInfo:
    """Return the description of a model."""
    config = model.config
    return ModelInfo(
        model.game, model.variant, model.version, config.kind, config.height, config.width, config.positions
    )

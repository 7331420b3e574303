"""A net in torch: on the CPU, in float32 or bf16, and on a GPU in bf16 with one CUDA graph for each batch in flight."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pipeline_src.errors import ZugwerkError
from pipeline_src.learning.torch_state import torch_threads
from pipeline_src.systems.gomoku_zero.backends import Answer, Planes, Synchronous
from pipeline_src.systems.gomoku_zero.models import ZeroModel, folded, info_of


class TorchBackend(Synchronous):
    """Channels last, no autograd, batch norms folded into the convolutions."""

    def __init__(self, model: ZeroModel, threads: int = 1, bf16: bool = False) -> None:
        """``threads`` is the number of torch's threads here only; ``bf16`` is the net's type."""
        super().__init__(self._run, info_of(model))
        self.type = torch.bfloat16 if bf16 else torch.float32
        self.net = folded(model.net).to(self.type, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.threads = threads

    def _run(self, planes: Planes) -> Answer:
        with torch_threads(self.threads):
            with torch.inference_mode():
                logits, values = self.net(torch.from_numpy(planes).to(self.type))
            return logits.float().numpy(), values.float().numpy()


WARM_UP = 3  # Runs before a graph is captured, in which cuDNN chooses its algorithms


class _Slot(NamedTuple):
    """Memory and graph of one batch in flight. Planes cross to the GPU as bytes, a quarter of their floats."""

    planes: Tensor  # Pinned uint8 [B, C, H, W]
    logits: Tensor  # Pinned float32 [B, N]
    values: Tensor  # Pinned float32 [B]
    stream: torch.cuda.Stream
    graph: torch.cuda.CUDAGraph
    done: torch.cuda.Event


class CudaBackend:
    """`Backend` on the first GPU. Made for two batches in flight; a slot is made for each that is needed at a time."""

    dtype: type[np.float32] | type[np.uint8] = np.uint8

    def __init__(self, model: ZeroModel) -> None:
        """Move a copy of the net to the GPU.

        Raises:
            ZugwerkError: there is no GPU that torch can use.
        """
        if not torch.cuda.is_available():
            raise ZugwerkError("torch sees no GPU here; use another backend: onnx or torch")
        self.info = info_of(model)
        self.net = folded(model.net).to("cuda", torch.bfloat16, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._free: dict[int, list[_Slot]] = {}

    def run(self, planes: Planes) -> Answer:
        """See `Backend`."""
        return self.wait(self.submit(planes))

    def submit(self, planes: Planes) -> _Slot:
        """See `Backend`."""
        free = self._free.setdefault(len(planes), [])
        slot = free.pop() if free else self._new_slot(planes.shape)
        slot.planes.numpy()[:] = planes
        with torch.cuda.stream(slot.stream):
            slot.graph.replay()
            slot.done.record(slot.stream)
        return slot

    def wait(self, handle: _Slot) -> Answer:
        """See `Backend`."""
        handle.done.synchronize()
        self._free[len(handle.planes)].append(handle)
        return handle.logits.numpy(), handle.values.numpy()

    def _new_slot(self, shape: tuple[int, ...]) -> _Slot:
        """The copies there and back are part of the graph."""
        rows, cells = shape[0], self.info.height * self.info.width
        planes = torch.zeros(shape, dtype=torch.uint8, pin_memory=True)
        logits, values = torch.zeros(rows, cells, pin_memory=True), torch.zeros(rows, pin_memory=True)
        stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()  # type: ignore[no-untyped-call]

        def forward() -> None:
            there = planes.to("cuda", non_blocking=True)
            found = self.net(there.to(torch.bfloat16))
            logits.copy_(found[0].float(), non_blocking=True)
            values.copy_(found[1].float(), non_blocking=True)

        with torch.inference_mode(), torch.cuda.stream(stream):
            for _ in range(WARM_UP):
                forward()
            stream.synchronize()
            with torch.cuda.graph(graph, stream=stream):
                forward()
        return _Slot(planes, logits, values, stream, graph, torch.cuda.Event())  # type: ignore[no-untyped-call]

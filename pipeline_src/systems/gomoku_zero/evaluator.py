"""A self-play net as the evaluator of tree searches: priors of the legal steps, and values."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.jit.needs import Need
from pipeline_src.search.mcts.batches import stack
from pipeline_src.systems.gomoku_zero.backend import Backend, Floats, Planes, Run
from pipeline_src.systems.gomoku_zero.planes import legal_priors, plane_count, planes_need, zero_planes

Ints = npt.NDArray[np.int32]


class Pending(NamedTuple):
    """A batch that a backend is computing."""

    chunks: list[Any]
    steps: Ints
    counts: Ints


class ZeroEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` by a net; `submit` and `wait` are its two halves.

    The net always sees ``chunk`` rows, the last chunk filled up: a position's answer then depends on no other
    position, nor on how many there are.
    """

    def __init__(self, run: Backend | Run, positions: int, chunk: int) -> None:
        """Set the net and its batches.

        Args:
            run: a backend, or a function from planes float32 [chunk, C, H, W] to policy logits and values.
            positions: of history that the net sees.
            chunk: rows of a batch of the net.

        Raises:
            ZugwerkError: a chunk below 1.
        """
        if chunk < 1:
            raise ZugwerkError(f"a net's batch must have at least 1 row, not {chunk}")
        self.backend, self.positions, self.chunk = run, positions, chunk
        self.evaluated = 0
        """Number of positions evaluated so far."""
        self._planes: Planes = np.empty((0, 0, 0, 0), np.float32)

    def __call__(self, states: Any, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps, values float32 [B] in -1..1 to the side to move.

        Args:
            states: stacked `GomokuState`, boards [B, H, W].
            steps: int32 [B, S], legal steps; those past a row's count are not read.
            counts: int32 [B], at least 1.

        Raises:
            ZugwerkError: boards of another size than the net's, or a net that answers with what is no number.
        """
        return self.wait(self.submit(states, steps, counts))

    def submit(self, states: Any, steps: Ints, counts: Ints) -> Pending:
        """Begin a batch. The states may change at once; steps and counts are read again by `wait`."""
        count, height, width = states.board.shape
        shape = (self.chunk, plane_count(self.positions), height, width)
        if self._planes.shape != shape:
            self._check(height, width)
            self._planes = np.empty(shape, self._dtype)
        self.evaluated += count
        chunks = []
        for at in range(0, count, self.chunk):
            some = type(states)(*(array[at : at + self.chunk] for array in states))
            n = len(some.board)
            zero_planes(some, self.positions, self._planes[:n])
            self._planes[n:] = 0
            chunks.append(self.backend(self._planes) if callable(self.backend) else self.backend.submit(self._planes))
        return Pending(chunks, steps, counts)

    def wait(self, pending: Pending) -> tuple[Floats, Floats]:
        """The answer to what `submit` began; see the call."""
        steps, counts = pending.steps, pending.counts
        priors, values = np.empty(steps.shape, np.float32), np.empty(len(counts), np.float32)
        for k, handle in enumerate(pending.chunks):
            rows = slice(k * self.chunk, min((k + 1) * self.chunk, len(counts)))
            logits, found = handle if callable(self.backend) else self.backend.wait(handle)
            legal_priors(logits, steps[rows], counts[rows], priors[rows])
            values[rows] = found[: len(counts[rows])]
        if not np.isfinite(values).all():
            raise ZugwerkError("the net answers with values that are not finite; its training has diverged")
        return priors, values

    def needs(self, state: Any) -> list[Need]:
        """Kernels that it calls for states of such a type."""
        return planes_need(stack(state, 1), np.empty((1, 1, 1, 1), self._dtype))

    @property
    def _dtype(self) -> Any:
        """Type of the planes."""
        return np.float32 if callable(self.backend) else self.backend.dtype

    def _check(self, height: int, width: int) -> None:
        if callable(self.backend):
            return
        info = self.backend.info
        if (info.height, info.width) != (height, width):
            raise ZugwerkError(f"a {height}x{width} board, but this model plays on {info.height}x{info.width}")

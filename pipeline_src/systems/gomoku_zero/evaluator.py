"""A self-play net as the evaluator of tree searches: priors of the legal steps, and values.

A line net plays from its table, in compiled code that whole searches call; any other net is a backend's.
"""

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_model_bytes, stamp, written_aside
from pipeline_src.games.kernels import stack
from pipeline_src.jit import Need
from pipeline_src.search.gomoku.line_net import (
    TABLE,
    LineNet,
    LineTable,
    evaluate_all,
    make_line_net,
    read_table,
    write_table,
)
from pipeline_src.systems.gomoku_zero.backends import (
    Backend,
    BackendName,
    Floats,
    ModelInfo,
    OnnxBackend,
    Planes,
    as_int8,
    legal_priors,
    plane_count,
    planes_need,
    zero_planes,
)

if TYPE_CHECKING:
    from pipeline_src.systems.gomoku_zero.models import ZeroModel

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

    def __init__(self, backend: Backend, positions: int, chunk: int) -> None:
        """Set the net and its batches.

        Args:
            backend: runs the net.
            positions: of history that the net sees.
            chunk: rows of a batch of the net.

        Raises:
            ZugwerkError: a chunk below 1.
        """
        if chunk < 1:
            raise ZugwerkError(f"a net's batch must have at least 1 row, not {chunk}")
        self.backend, self.positions, self.chunk = backend, positions, chunk
        self.evaluated = 0  # Number of positions evaluated so far
        self._planes: Planes = np.empty((0, 0, 0, 0), np.float32)

    def __call__(self, states: Any, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps, values float32 [B] in -1..1 to the side to move.

        Args:
            states: stacked `GomokuState`, boards [B, H, W].
            steps: int32 [B, S], legal steps; those past a row's count are not read.
            counts: int32 [B], at least 1.

        Raises:
            ZugwerkError: the boards do not have the net's size, or an answer of the net is not a number.
        """
        return self.wait(self.submit(states, steps, counts))

    def submit(self, states: Any, steps: Ints, counts: Ints) -> Pending:
        """Begin a batch. The states may change at once; steps and counts are read again by `wait`."""
        count, height, width = states.board.shape
        shape = (self.chunk, plane_count(self.positions), height, width)
        if self._planes.shape != shape:
            own = self.backend.info.height, self.backend.info.width
            if own != (height, width):
                raise ZugwerkError(f"a {height}x{width} board, but this model plays on {own[0]}x{own[1]}")
            self._planes = np.empty(shape, self.backend.dtype)
        self.evaluated += count
        chunks = []
        for at in range(0, count, self.chunk):
            some = type(states)(*(array[at : at + self.chunk] for array in states))
            n = len(some.board)
            zero_planes(some, self.positions, self._planes[:n])
            self._planes[n:] = 0
            chunks.append(self.backend.submit(self._planes))
        return Pending(chunks, steps, counts)

    def wait(self, pending: Pending) -> tuple[Floats, Floats]:
        """The answer to what `submit` began; see the call."""
        steps, counts = pending.steps, pending.counts
        priors, values = np.empty(steps.shape, np.float32), np.empty(len(counts), np.float32)
        for k, handle in enumerate(pending.chunks):
            rows = slice(k * self.chunk, min((k + 1) * self.chunk, len(counts)))
            logits, found = self.backend.wait(handle)
            legal_priors(logits, steps[rows], counts[rows], priors[rows])
            values[rows] = found[: len(counts[rows])]
        if not np.isfinite(values).all():
            raise ZugwerkError("the net answers with values that are not finite; its training has diverged")
        return priors, values

    def needs(self, state: Any) -> list[Need]:
        """Kernels that it calls for states of such a type."""
        planes: Any = np.empty((1, 1, 1, 1), self.backend.dtype)
        return planes_need(stack(state, 1), planes)


class LineEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` by a line net, on boards of any size.

    Trees that have it as their evaluator call its kernel.
    """

    def __init__(self, made: LineTable) -> None:
        """Nothing is prepared before the first board is seen."""
        self._made = made
        self._nets: dict[tuple[int, int], LineNet] = {}

    @property
    def evaluated(self) -> int:
        """Number of positions evaluated so far."""
        return sum(int(net.evaluated[0]) for net in self._nets.values())

    def inside(self, state: Any) -> LineNet:
        """The net for the board of a state, as searches in compiled code take it."""
        size = state.board.shape[-2:]
        if size not in self._nets:
            self._nets[size] = make_line_net(self._made, *size)
        return self._nets[size]

    def twin(self) -> "LineEvaluator":
        """See `search.mcts.puct_search.Crew`."""
        return LineEvaluator(self._made)

    def __call__(self, states: Any, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """See `ZeroEvaluator`."""
        priors, values = np.zeros(steps.shape, np.float32), np.empty(len(counts), np.float32)
        evaluate_all(self.inside(states), states, steps, counts, priors, values)
        return priors, values

    def needs(self, state: Any) -> list[Need]:
        """Kernels that a call needs for states of such a type."""
        floats, ints = np.empty((1, 1), np.float32), np.empty((1, 1), np.int32)
        return [Need(evaluate_all, (self.inside(state), stack(state, 1), ints, ints[0], floats, floats[0]))]


def open_backend(model: "Path | str | bytes | ZeroModel", backend: BackendName = "auto", threads: int = 1) -> Backend:
    """Prepare a model to run.

    Args:
        model: a ``.pt`` or ``.onnx`` file, the bytes of an ONNX model, or a model in memory.
        backend: ``auto`` is cuda where there is a GPU, else onnx where its packages are, else torch; of an ONNX model
            always onnx. ``onnx-int8`` computes with 8-bit integers, calibrated on positions of random play, and
            ``torch-bf16`` in bf16: faster and not quite the same player, so let a match clear them first.
        threads: of the CPU.

    Raises:
        ZugwerkError: no such file, a damaged one, no such backend, or one that is not available here.
    """
    if backend not in get_args(BackendName):
        raise ZugwerkError(f"no backend {backend!r}; there are: {', '.join(get_args(BackendName))}")
    if isinstance(model, str | Path) and Path(model).suffix == ".onnx":
        content = read_model_bytes(model, "; `zugwerk export MODEL` makes one")
        return _open_onnx(content, str(model), backend, threads)
    if isinstance(model, bytes):
        return _open_onnx(model, "ONNX model", backend, threads)
    return _open_model(model, backend, threads)


def _open_onnx(content: bytes, name: str, backend: BackendName, threads: int) -> Backend:
    if backend in ("torch", "torch-bf16", "cuda"):
        raise ZugwerkError(f"{name}: the {backend} backend runs model.pt, not an ONNX model")
    return OnnxBackend(as_int8(content) if backend == "onnx-int8" else content, threads, name)


def _open_model(model: "Path | str | ZeroModel", backend: BackendName, threads: int) -> Backend:
    from pipeline_src.systems.gomoku_zero.models import load_model

    loaded = load_model(model) if isinstance(model, str | Path) else model
    backend = resolve(backend)
    if backend in ("torch", "torch-bf16"):
        from pipeline_src.systems.gomoku_zero.backends_torch import TorchBackend

        return TorchBackend(loaded, threads, bf16=backend == "torch-bf16")
    if backend == "cuda":
        from pipeline_src.systems.gomoku_zero.backends_torch import CudaBackend

        return CudaBackend(loaded)
    from pipeline_src.systems.gomoku_zero.models import export_onnx

    return _open_onnx(export_onnx(loaded), "ONNX model", backend, threads)


def resolve(backend: BackendName) -> BackendName:
    """Return the backend of ``auto`` on this machine; other names are returned unchanged."""
    if backend != "auto":
        return backend
    import torch

    if torch.cuda.is_available():
        return "cuda"
    packages = ("onnx", "onnxruntime")
    return "onnx" if all(importlib.util.find_spec(package) for package in packages) else "torch"


Evaluator = ZeroEvaluator | LineEvaluator


def make_evaluator(
    model: Path | str, backend: BackendName = "auto", chunk: int = 1, threads: int = 1
) -> tuple[Evaluator, ModelInfo]:
    """The evaluator of a model file, and the model's description.

    Args:
        model: a ``.pt`` file, an ONNX model, or the table of a line net.
        backend: see `open_backend`; ``auto`` is a line net's own kernel.
        chunk: rows of a batch of a net that is not a line net.
        threads: of the CPU, likewise.

    Raises:
        ZugwerkError: see `open_backend`; a damaged table, or one for another backend.
    """
    if Path(model).suffix == TABLE:
        if backend != "auto":
            raise ZugwerkError(f"{model}: the table of a line net runs by itself; leave backend={backend} out")
        made, about = read_table(model)
        return LineEvaluator(made), ModelInfo(**about)
    if Path(model).suffix != ".onnx":
        from pipeline_src.systems.gomoku_zero.lines import LinesNet, tabulate
        from pipeline_src.systems.gomoku_zero.models import info_of, load_model

        loaded = load_model(model)
        if isinstance(loaded.net, LinesNet) and backend == "auto":
            return LineEvaluator(tabulate(loaded.net)), info_of(loaded)
        opened = open_backend(loaded, backend, threads)
    else:
        opened = open_backend(model, backend, threads)
    return ZeroEvaluator(opened, opened.info.positions, chunk), opened.info


def prepare_model(model: Path, backend: BackendName, folder: Path) -> Path:
    """Return the file that tasks open: an ONNX model or a table, written into ``folder``, so that no task needs torch.

    Raises:
        ZugwerkError: no model there, or a damaged one.
    """
    from pipeline_src.systems.gomoku_zero.lines import LinesNet
    from pipeline_src.systems.gomoku_zero.models import export_onnx, load_model

    loaded = load_model(model)
    if isinstance(loaded.net, LinesNet) and backend == "auto":
        export_table(loaded, folder / f"{model.stem}{TABLE}")
        return folder / f"{model.stem}{TABLE}"
    if resolve(backend) not in ("onnx", "onnx-int8"):
        return model
    with written_aside(folder / f"{model.stem}.onnx") as aside:
        aside.write_bytes(export_onnx(loaded))
    return folder / f"{model.stem}.onnx"


def export_table(model: Any, path: Path) -> None:
    """Write the table of a `ZeroModel` with a line net.

    Raises:
        ZugwerkError: a weight is not a finite number.
    """
    from pipeline_src.systems.gomoku_zero.lines import tabulate
    from pipeline_src.systems.gomoku_zero.models import info_of

    write_table(path, tabulate(model.net), vars(info_of(model)))


def open_evaluator(model: Path, backend: BackendName, chunk: int) -> Evaluator:
    """Return the evaluator of a model file, the same one for the same file: workers outlive a run of the graph."""
    return _open_evaluator(model, stamp(model), backend, chunk)


@lru_cache(maxsize=2)
def _open_evaluator(model: Path, state: tuple[int, int], backend: BackendName, chunk: int) -> Evaluator:  # noqa: ARG001
    return make_evaluator(model, backend, chunk)[0]


def even(states: object, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:  # noqa: ARG001
    """Answer without a net: equal priors for all legal steps, and value 0."""
    shares = (np.float32(1) / counts.astype(np.float32))[:, None]
    return np.broadcast_to(shares, steps.shape), np.zeros(len(counts), np.float32)

"""A self-play net as the evaluator of tree searches: priors of the legal steps, and values.

A line net plays from its table, in compiled code that whole searches call; any other net is a backend's. Nothing here
needs torch before a model in torch is opened, so that self-play workers with an ONNX model start without it.
"""

import importlib.util
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_model_bytes, stamp, written_aside
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import FIRST, PLY, SIDE, GomokuState, from_board
from pipeline_src.games.kernels import stack
from pipeline_src.jit import Need, njit
from pipeline_src.learning.onnx_session import open_session, with_int8
from pipeline_src.search.gomoku.line_net import LineNet, LineTable, evaluate_all, make_line_net, read_table
from pipeline_src.search.tables import LINES
from pipeline_src.systems.gomoku_zero import ModelInfo

if TYPE_CHECKING:
    from pipeline_src.systems.gomoku_zero.models import ZeroModel


# Input planes of the self-play nets, and the priors that a search reads from a net's output.
#
# With P positions of history there are C = 2 P + 1 planes of zeros and ones, row 0 the top of the board. "Own" and
# "other" are the colours of the side to move *now*, in all planes.
#
# | plane | on a cell |
# | --- | --- |
# | 0 | an own stone |
# | k, 0 < k < P | an own stone, as the board stood k plies ago |
# | P + k, 0 <= k < P | a stone of the other side, as the board stood k plies ago |
# | 2 P | 1 everywhere where Black, who began, is to move, else 0 |
#
# Before the first ply the board was empty. For a position without a history, all planes of history show its board.
#
# Source: Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017), methods, "neural network
# architecture"; Li et al. take P = 5, hence 11 planes.
Planes = npt.NDArray[np.float32] | npt.NDArray[np.uint8]


def plane_count(positions: int) -> int:
    """Return C, the number of planes for a number of positions of history."""
    return 2 * positions + 1


def planes_need(states: GomokuState, planes: Planes) -> list[Need]:
    """Return the kernels that `zero_planes` and `legal_priors` call for stacked states and planes of this dtype."""
    floats, ints = np.empty((1, 1), np.float32), np.empty((1, 1), np.int32)
    return [
        Need(_write_planes, (states.board, states.moves, states.turn, 1, planes)),
        Need(_write_priors, (floats, ints, ints[0], floats)),
    ]


def zero_planes(states: GomokuState, positions: int, out: Planes) -> None:
    """Write the planes of a batch of positions.

    Args:
        states: stacked, boards int8 [B, H, W].
        positions: of history, the present one among them; at least 1.
        out: float32 or uint8 [B, 2 * positions + 1, H, W], overwritten.

    Raises:
        ZugwerkError: ``positions`` below 1, or ``out`` of another shape.
    """
    count, height, width = states.board.shape
    wanted = (count, plane_count(positions), height, width)
    if positions < 1 or out.shape != wanted:
        raise ZugwerkError(f"planes of {positions} positions of history need an array {wanted}, not {out.shape}")
    _write_planes(states.board, states.moves, states.turn, positions, out)


@njit(cache=True)
def _write_planes(
    boards: npt.NDArray[np.int8],
    moves: npt.NDArray[np.int16],
    turns: npt.NDArray[np.int16],
    positions: int,
    out: Planes,
) -> None:
    count, height, width = boards.shape
    out[:] = 0
    for b in range(count):
        board, side, ply = boards[b], turns[b, SIDE], turns[b, PLY]
        for row in range(height):
            for column in range(width):
                code = board[row, column]
                if code != 0:
                    first = 0 if code == side + 1 else positions
                    for plane in range(first, first + positions):
                        out[b, plane, row, column] = 1
        for back in range(1, min(positions, ply + 1)):
            cell = moves[b, ply - back]
            if cell < 0:
                break
            row, column = cell // width, cell % width
            first = 0 if board[row, column] == side + 1 else positions
            for plane in range(first + back, first + positions):
                out[b, plane, row, column] = 0
        if side == 0:
            out[b, 2 * positions] = 1


def legal_priors(
    logits: npt.NDArray[np.float32],
    steps: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    out: npt.NDArray[np.float32],
) -> None:
    """Softmax of a policy over the legal steps alone, in their order.

    Args:
        logits: float32 [B, N] or more rows, one entry a cell.
        steps: int32 [B, S], of each row the first so many are legal.
        counts: int32 [B], how many; at least 1.
        out: float32 [B, S], overwritten; 0 past a row's count.

    Raises:
        ZugwerkError: a logit of a legal step is not a finite number: the net is broken.
    """
    bad = _write_priors(logits, steps, counts, out)
    if bad >= 0:
        raise ZugwerkError("the net answers with numbers that are not finite; its training has diverged")


@njit(cache=True)
def _write_priors(
    logits: npt.NDArray[np.float32],
    steps: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    out: npt.NDArray[np.float32],
) -> int:
    """Return -1, or the first row whose logits are not finite."""
    for b in range(len(counts)):
        top = np.float32(-np.inf)
        for i in range(counts[b]):
            top = max(top, logits[b, steps[b, i]])
        total = 0.0
        for i in range(counts[b]):
            weight = math.exp(np.float64(logits[b, steps[b, i]]) - np.float64(top))
            out[b, i] = weight
            total += weight
        if not (total >= 1.0 and total < np.inf):
            return b
        for i in range(counts[b]):
            out[b, i] = out[b, i] / total
        out[b, counts[b] :] = 0
    return -1


Floats = npt.NDArray[np.float32]
Answer = tuple[Floats, Floats]  # Policy logits [B, N] and values [B] in -1..1 to the side to move
Run = Callable[[Planes], Answer]
BackendName = Literal["auto", "torch", "torch-bf16", "onnx", "onnx-int8", "cuda"]


class Backend(Protocol):
    """Runs one model on planes [B, C, H, W] of zeros and ones, float32 or uint8.

    `submit` and `wait` let a caller work on one batch while the other is computed; without a thread or device of its
    own, `submit` computes. A row's answer depends on B and on no other row; the arrays may be overwritten by the next
    `submit`.
    """

    info: ModelInfo
    dtype: type[np.float32] | type[np.uint8]
    """Type of planes that need no conversion."""

    def run(self, planes: Planes) -> Answer:
        """Return the answer to a batch."""

    def submit(self, planes: Planes) -> Any:
        """Begin a batch; ``planes`` may be overwritten as soon as this returns."""

    def wait(self, handle: Any) -> Answer:
        """Return the answer to a batch that `submit` began; use each handle once."""


class Synchronous:
    """A `Backend` of a function that computes while the caller waits."""

    dtype: type[np.float32] | type[np.uint8] = np.float32

    def __init__(self, run: Run, info: ModelInfo) -> None:
        self.run, self.info = run, info

    def submit(self, planes: Planes) -> Answer:
        """See `Backend`."""
        return self.run(planes)

    def wait(self, handle: Answer) -> Answer:
        """See `Backend`."""
        return handle


def empty_state(info: ModelInfo) -> GomokuState:
    """Return the start position of a model's games."""
    return from_board(np.zeros((info.height, info.width), np.int8), FIRST, info.variant)


CALIBRATION_POSITIONS, CALIBRATION_BATCH = 512, 64


class OnnxBackend(Synchronous):
    """Runs what `models.export_onnx` writes. Knows nothing of torch."""

    def __init__(self, content: bytes, threads: int = 1, name: str = "ONNX model") -> None:
        """``content`` is the model's file, ``name`` what complaints call it.

        Raises:
            ZugwerkError: onnxruntime is missing, or the model is damaged, foreign or of other rules.
        """
        try:
            session = open_session(content, threads)
            info = read_info(session.get_modelmeta().custom_metadata_map)
        except ZugwerkError:
            raise
        except Exception as error:  # its own exceptions share no base class
            reason = str(error).strip().splitlines()
            raise ZugwerkError(
                f"{name}: damaged, or not exported by `zugwerk export` ({reason[0] if reason else 'empty'})"
            ) from None
        if (info.game, info.version) != (gomoku.NAME, gomoku.VERSION):
            raise ZugwerkError(
                f"{name}: made for {info.game} under rules version {info.version}; "
                f"this is {gomoku.NAME}, version {gomoku.VERSION}"
            )
        super().__init__(self._run, info)
        self._session: Any = session

    def _run(self, planes: Planes) -> Answer:
        policy, value = self._session.run(["policy", "value"], {"planes": planes.astype(np.float32, copy=False)})
        return policy, value


def read_info(metadata: dict[str, str]) -> ModelInfo:
    """Read the description of an exported model from its metadata.

    Raises:
        KeyError, ValueError: they are not there, or not readable.
    """
    numbers = {name: int(metadata[name]) for name in ("version", "height", "width", "positions")}
    return ModelInfo(game=metadata["game"], variant=metadata["variant"], kind=metadata["kind"], **numbers)


def as_int8(content: bytes, planes: npt.NDArray[np.float32] | None = None) -> bytes:
    """An exported model with its convolutions in 8-bit integers, a scale for each filter; the heads stay in floats.

    Args:
        content: of the file in 32-bit floats.
        planes: float32 [B, C, H, W] on which the ranges of the activations are measured; None plays at random.

    Raises:
        ZugwerkError: a package is missing, or the model is damaged.
    """
    seen = random_planes(OnnxBackend(content).info) if planes is None else planes
    return with_int8(content, np.array_split(seen, max(1, len(seen) // CALIBRATION_BATCH)))


def random_planes(info: ModelInfo, count: int = CALIBRATION_POSITIONS) -> npt.NDArray[np.float32]:
    """Planes float32 [B, C, H, W] of positions met in random play, the same at every call."""
    rng = np.random.default_rng(0)
    planes = np.empty((count, plane_count(info.positions), info.height, info.width), np.float32)
    state: Any = empty_state(info)
    start = state
    for b in range(count):
        if gomoku.winner(state) is not None:
            state = start
        zero_planes(type(state)(*(array[None] for array in state)), info.positions, planes[b : b + 1])
        state = gomoku.play(state, int(rng.choice(gomoku.legal_actions(state))))
    return planes


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
    from pipeline_src.systems.gomoku_zero import models

    loaded = models.load_model(model) if isinstance(model, str | Path) else model
    backend = resolve(backend)
    if backend == "cuda":
        return models.CudaBackend(loaded)
    if backend in ("torch", "torch-bf16"):
        return models.TorchBackend(loaded, threads, bf16=backend == "torch-bf16")
    return _open_onnx(models.export_onnx(loaded), "ONNX model", backend, threads)


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
    if Path(model).suffix == LINES:
        if backend != "auto":
            raise ZugwerkError(f"{model}: the table of a line net runs by itself; leave backend={backend} out")
        made, about = read_table(model)
        return LineEvaluator(made), ModelInfo(**about)
    opened: Path | str | ZeroModel = model
    if Path(model).suffix != ".onnx":
        from pipeline_src.systems.gomoku_zero import models, nets

        opened = models.load_model(model)
        if isinstance(opened.net, nets.LinesNet) and backend == "auto":
            return LineEvaluator(nets.tabulate(opened.net)), models.info_of(opened)
    runs = open_backend(opened, backend, threads)
    return ZeroEvaluator(runs, runs.info.positions, chunk), runs.info


def prepare_model(model: Path, backend: BackendName, folder: Path) -> Path:
    """Return the file that tasks open: an ONNX model or a table, written into ``folder``, so that no task needs torch.

    Raises:
        ZugwerkError: no model there, or a damaged one.
    """
    from pipeline_src.systems.gomoku_zero import models, nets

    loaded = models.load_model(model)
    if isinstance(loaded.net, nets.LinesNet) and backend == "auto":
        models.export_table(loaded, folder / f"{model.stem}{LINES}")
        return folder / f"{model.stem}{LINES}"
    if resolve(backend) not in ("onnx", "onnx-int8"):
        return model
    with written_aside(folder / f"{model.stem}.onnx") as aside:
        aside.write_bytes(models.export_onnx(loaded))
    return folder / f"{model.stem}.onnx"


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

"""Backends, which run a self-play net, and their description of a model; here ONNX Runtime's on the CPU.

Nothing here knows torch, so that self-play workers with an ONNX model start without it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import FIRST, PLY, SIDE, GomokuState, from_board
from pipeline_src.jit import Need, njit
from pipeline_src.learning.onnx_session import open_session, with_int8

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


@dataclass(frozen=True)
class ModelInfo:
    """Description of a model: its game, its board and its input."""

    game: str
    variant: str
    version: int  # Version of the game's rules
    kind: str
    height: int
    width: int
    positions: int  # Number of positions of history in its planes


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

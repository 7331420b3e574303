"""The residual net in ONNX Runtime, for searches and without one. Knows nothing of torch."""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, kernels
from pipeline_src.games.amazons import COLOUR, AmazonsState, initial_state
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import Need
from pipeline_src.learning.onnx_session import open_session, with_int8
from pipeline_src.systems.amazons_net.answers import ArrowAnswer, Boards, Floats, Forward, MoveAnswer, Squares
from pipeline_src.systems.amazons_net.encode import PLANES, encode_planes, planes_need

Ints = npt.NDArray[np.int32]
_COLOUR = np.array(COLOUR, np.int8)
LAST = ("from", "to", "arrows", "bias")
"""Nodes whose outputs are logits or are multiplied to logits: 8 bits would be too coarse."""
CALIBRATION_POSITIONS, CALIBRATION_BATCH = 512, 64


class OnnxEvaluator(Forward):
    """A model of `onnx_nets` for searches (`puct_trees.EvaluateBatch`), and without one (`answers.Forward`).

    An answer depends on its position alone. A search asks for positions before moves and before arrows in one pass.
    """

    def __init__(self, content: bytes, batch: int, name: str = "ONNX model") -> None:
        """Open the file's ``content``, called ``name`` in complaints; passes are padded to ``batch`` positions.

        Raises:
            ZugwerkError: onnxruntime is missing, or the model is damaged, foreign or of other rules.
        """
        self._session, self.size = _open(content, name)
        self._planes = np.zeros((batch, PLANES, self.size, self.size), np.float32)

    def needs(self, state: AmazonsState | None = None) -> list[Need]:  # noqa: ARG002
        """See `search.mcts.puct_search.Puct.needs`."""
        return planes_need()

    def __call__(self, states: AmazonsState, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps and values float32 [B], as `answers.AmazonsNetEvaluator` gives them."""
        self.check_board(*states.board.shape[1:])
        moved = states.turn[:, 1].astype(np.int16)
        encoded = encode_planes(states.board[:, ::-1], _COLOUR[states.turn[:, 0]], moved)
        logits, values = np.empty(steps.shape, np.float32), np.empty(len(steps), np.float32)
        legal = np.arange(steps.shape[1]) < counts[:, None]
        places = np.where(legal, steps, 0)
        for rows, value, move, arrow in self._passes(encoded.features):
            values[rows] = value
            for row, of_move, of_arrow in zip(range(rows.start, rows.stop), move, arrow, strict=True):
                logits[row] = (of_move if moved[row] < 0 else of_arrow)[places[row]]
        logits[~legal] = -np.inf
        priors = np.exp(logits - logits.max(axis=1, keepdims=True))
        return priors / priors.sum(axis=1, keepdims=True), values

    def move(self, boards: Boards, movers: npt.NDArray[np.int8]) -> MoveAnswer:
        """See `answers.Forward`."""
        self.check_board(*boards.shape[1:])
        encoded = encode_planes(boards, movers, np.full(len(boards), -1, np.int16))
        count, squares = len(boards), self.size**2
        log_p, win_rate = np.empty(encoded.legal.shape, np.float32), np.empty(count, np.float32)
        for rows, value, move, _ in self._passes(encoded.features):
            by_start = move.reshape(len(move), squares, squares)
            log_p[rows] = by_start[np.arange(len(move))[:, None], encoded.amazons[rows]]
            win_rate[rows] = (1 + value) / 2
        flat = _log_softmax(log_p.reshape(count, -1), encoded.legal.reshape(count, -1))
        return MoveAnswer(win_rate, flat.reshape(log_p.shape), encoded.amazons)

    def arrow(self, boards: Boards, movers: npt.NDArray[np.int8], moved: Squares) -> ArrowAnswer:
        """See `answers.Forward`."""
        self.check_board(*boards.shape[1:])
        encoded = encode_planes(boards, movers, moved)
        log_p, win_rate = np.empty((len(boards), self.size**2), np.float32), np.empty(len(boards), np.float32)
        for rows, value, _, arrow in self._passes(encoded.features):
            log_p[rows], win_rate[rows] = arrow, (1 + value) / 2
        return ArrowAnswer(win_rate, _log_softmax(log_p, encoded.legal[:, 0]))

    def _passes(self, features: Floats) -> Any:
        """Yield rows, a slice, and their value, move and arrow outputs."""
        for at in range(0, len(features), len(self._planes)):
            some = features[at : at + len(self._planes)]
            n = len(some)
            self._planes[:n], self._planes[n:] = some, 0
            outputs = self._session.run(["value", "move", "arrow"], {"planes": self._planes})
            yield slice(at, at + n), *(output[:n] for output in outputs)


def _open(content: bytes, name: str) -> tuple[Any, int]:
    """Return session and board size of a model."""
    try:
        session = open_session(content)
        about = session.get_modelmeta().custom_metadata_map
        made, size = (about["game"], int(about["version"])), int(about["size"])
    except ZugwerkError:
        raise
    except Exception as error:  # its own exceptions share no base class
        reason = str(error).strip().splitlines()
        why = reason[0] if reason else "empty"
        raise ZugwerkError(f"{name}: damaged, or not an ONNX model of these nets ({why})") from None
    if made != (amazons.NAME, amazons.VERSION):
        raise ZugwerkError(
            f"{name}: made for {made[0]} under rules version {made[1]}; "
            f"this is {amazons.NAME}, version {amazons.VERSION}"
        )
    return session, size


def _log_softmax(logits: Floats, legal: npt.NDArray[np.bool_]) -> Floats:
    """Log-probabilities of each row's legal entries; minus infinity elsewhere."""
    logits = np.where(legal, logits, np.float32(-np.inf))
    logits -= logits.max(axis=1, keepdims=True)
    log_p: Floats = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return log_p


def as_int8(content: bytes, name: str) -> bytes:
    """An exported net with all convolutions but the last ones in 8-bit integers, calibrated on random play.

    Raises:
        ZugwerkError: a package is missing, or the model is damaged.
    """
    seen = random_planes(_open(content, name)[1])
    return with_int8(content, np.array_split(seen, len(seen) // CALIBRATION_BATCH), LAST)


def random_planes(size: int, count: int = CALIBRATION_POSITIONS) -> npt.NDArray[np.float32]:
    """Planes float32 [B, 15, H, W] of positions met in random play, before moves and arrows, the same at every call."""
    rng = np.random.default_rng(0)
    state = initial_state(size)
    steps = np.empty(kernels.max_steps(state), np.int32)
    boards = np.empty((count, size, size), np.int8)
    movers, moved = np.empty(count, np.int8), np.empty(count, np.int16)
    for b in range(count):
        legal = kernels.write_steps(state, steps)
        if not legal:
            state = initial_state(size)
            legal = kernels.write_steps(state, steps)
        boards[b], movers[b], moved[b] = state.board[::-1], COLOUR[state.turn[0]], state.turn[1]
        state = copy_state(state)
        kernels.play_step(state, int(rng.choice(steps[:legal])))
    return encode_planes(boards, movers, moved).features

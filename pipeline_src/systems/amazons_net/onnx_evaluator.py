"""The residual net in ONNX Runtime as the evaluator of PUCT: one pass for positions before moves and before arrows."""

import numpy as np
import numpy.typing as npt

from pipeline_src.games.amazons.board import COLOUR, AmazonsState
from pipeline_src.jit.needs import Need
from pipeline_src.learning.onnx_session import open_session
from pipeline_src.systems.amazons_net.forward import check_size
from pipeline_src.systems.amazons_net.planes import PLANES, encode_planes, planes_need

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
_COLOUR = np.array(COLOUR, np.int8)


class OnnxEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` of what `onnx_nets` exports; an answer depends on its position alone."""

    def __init__(self, content: bytes, size: int, batch: int) -> None:
        """Open the file's ``content``, for boards of ``size`` x ``size``; passes are padded to ``batch`` positions.

        Raises:
            ZugwerkError: the package onnxruntime is missing.
        """
        self.size, self._session = size, open_session(content)
        self._planes = np.zeros((batch, PLANES, size, size), np.float32)

    def check_board(self, height: int, width: int) -> None:
        """See `forward.check_size`."""
        check_size(self.size, height, width)

    def needs(self, state: AmazonsState) -> list[Need]:  # noqa: ARG002
        """See `search.mcts.puct.Puct.needs`."""
        return planes_need()

    def __call__(self, states: AmazonsState, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps and values float32 [B], as `evaluator.AmazonsNetEvaluator` gives them."""
        self.check_board(*states.board.shape[1:])
        moved = states.turn[:, 1].astype(np.int16)
        encoded = encode_planes(states.board[:, ::-1], _COLOUR[states.turn[:, 0]], moved)
        logits, values = np.empty(steps.shape, np.float32), np.empty(len(steps), np.float32)
        legal = np.arange(steps.shape[1]) < counts[:, None]
        places = np.where(legal, steps, 0)
        for at in range(0, len(steps), len(self._planes)):
            some = encoded.features[at : at + len(self._planes)]
            n = len(some)
            self._planes[:n], self._planes[n:] = some, 0
            value, move, arrow = self._session.run(["value", "move", "arrow"], {"planes": self._planes})
            rows = slice(at, at + n)
            values[rows] = value[:n]
            for row in range(n):
                policy = move[row] if moved[at + row] < 0 else arrow[row]
                logits[at + row] = policy[places[at + row]]
        logits[~legal] = -np.inf
        priors = np.exp(logits - logits.max(axis=1, keepdims=True))
        return priors / priors.sum(axis=1, keepdims=True), values

"""The net of rays without a search: answers for batches of boards by its kernel. Knows nothing of torch."""

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.games.amazons import COLOUR, AmazonsState, from_board, initial_state
from pipeline_src.games.kernels import stack
from pipeline_src.jit import Need
from pipeline_src.search.amazons.rays import RayEvaluator, RayTable
from pipeline_src.systems.amazons_net.answers import ArrowAnswer, Boards, Floats, Forward, MoveAnswer, Squares
from pipeline_src.systems.amazons_net.encode import encode_kinds, kinds_need


class RayForward(Forward):
    """A net of rays; ``size`` is that of the boards that it was trained on, but it takes any."""

    def __init__(self, made: RayTable, size: int) -> None:
        self.evaluator, self.size = RayEvaluator(made), size

    def check_board(self, height: int, width: int) -> None:
        """See `Forward.check_board`; all boards are fine."""

    def needs(self) -> list[Need]:
        """See `Forward.needs`."""
        state = initial_state()
        return [*kinds_need(), *self.evaluator.needs(state), Need(kernels.write_steps, (state, np.empty(1, np.int32)))]

    def move(self, boards: Boards, movers: npt.NDArray[np.int8]) -> MoveAnswer:
        """See `Forward.move`."""
        encoded = encode_kinds(boards, movers, np.full(len(boards), -1, np.int16))
        log_p = np.full(encoded.legal.shape, -np.inf, np.float32)
        win_rate = np.empty(len(boards), np.float32)
        for b, state in enumerate(_states(boards, movers)):
            win_rate[b], steps, priors = self._ask(state)
            start, to = np.divmod(steps, state.board.size)
            log_p[b, np.searchsorted(encoded.amazons[b], start), to] = np.log(priors)
        return MoveAnswer(win_rate, log_p, encoded.amazons)

    def arrow(self, boards: Boards, movers: npt.NDArray[np.int8], moved: Squares) -> ArrowAnswer:
        """See `Forward.arrow`."""
        encoded = encode_kinds(boards, movers, moved)
        log_p = np.full((len(boards), encoded.legal.shape[2]), -np.inf, np.float32)
        win_rate = np.empty(len(boards), np.float32)
        for b, state in enumerate(_states(boards, movers)):
            state.turn[1] = moved[b]
            win_rate[b], steps, priors = self._ask(state)
            log_p[b, steps] = np.log(priors)
        return ArrowAnswer(win_rate, log_p)

    def _ask(self, state: AmazonsState) -> tuple[float, npt.NDArray[np.int32], Floats]:
        """The mover's chance to win, the legal steps and their priors."""
        steps = np.empty((1, kernels.max_steps(state)), np.int32)
        count = kernels.write_steps(state, steps[0])
        stacked = stack(state, 1)
        priors, values = self.evaluator(stacked, steps, np.array([count], np.int32))
        tiny = np.finfo(np.float32).tiny  # a legal step is never impossible
        return (1 + float(values[0])) / 2, steps[0, :count], np.maximum(priors[0, :count], tiny)


def _states(boards: Boards, movers: npt.NDArray[np.int8]) -> list[AmazonsState]:
    return [from_board(board[::-1], COLOUR.index(mover)) for board, mover in zip(boards, movers, strict=True)]

"""Answers of nets for batches of boards, by any backend: for players, for PUCT and for pictures.

Nets in ONNX Runtime, and nets of rays by their kernel. Knows nothing of torch.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons, kernels
from pipeline_src.games.amazons import COLOUR, EMPTY, AmazonsState, from_board, initial_state
from pipeline_src.games.kernels import stack
from pipeline_src.games.rules import copy_state, to_play
from pipeline_src.jit import Need
from pipeline_src.learning.onnx_session import open_session, with_int8
from pipeline_src.search.amazons.rays import RayEvaluator, RayTable
from pipeline_src.systems.amazons_net.encode import PLANES, encode_kinds, encode_planes, kinds_need, planes_need

Boards = npt.NDArray[np.int8]  # int8 [B, H, W], row 0 = rank H
Squares = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float32]


class MoveAnswer(NamedTuple):
    """Output of Move-Net for B positions."""

    win_rate: Floats  # [B], the mover's chance to win
    log_p: Floats  # [B, 4, N]: log-probability that amazon k goes to s; minus infinity where she may not
    amazons: Squares  # [B, 4], their squares, ascending


class ArrowAnswer(NamedTuple):
    """Output of Arrow-Net for B positions in which an amazon has moved and not shot yet."""

    win_rate: Floats  # [B], the mover's chance to win
    log_p: Floats  # [B, N]: log-probability of an arrow to s; minus infinity where it may not go


class Forward(Protocol):
    """A net that is asked twice per turn: for the amazon's move, and then for the arrow."""

    size: int
    """Squares along one side of the board."""

    def move(self, boards: Boards, movers: npt.NDArray[np.int8]) -> MoveAnswer:
        """Move-Net on boards with ``movers`` int8 [B] (BLACK or WHITE) to move.

        Raises:
            ZugwerkError: boards of another size than the nets', or a mover without four amazons.
        """

    def arrow(self, boards: Boards, movers: npt.NDArray[np.int8], moved: Squares) -> ArrowAnswer:
        """Arrow-Net on boards on which the mover's amazon stands on square ``moved`` int16 [B] already.

        Raises:
            ZugwerkError: as `move`, or no amazon of the mover stands there.
        """

    def needs(self) -> list[Need]:
        """Kernels that it calls."""

    def check_board(self, height: int, width: int) -> None:
        """Refuse a board of another size than the nets'.

        Raises:
            ZugwerkError: says which is theirs.
        """
        if (height, width) != (self.size, self.size):
            raise ZugwerkError(f"a {height}x{width} board, but these nets play on {self.size}x{self.size}")


def after_move(boards: Boards, movers: npt.NDArray[np.int8], start: Squares, to: Squares) -> Boards:
    """Copies of boards with the mover's amazon gone from square ``start`` [B] to ``to`` [B]."""
    _, height, width = boards.shape
    rows, after = np.arange(len(boards)), boards.copy()
    after[rows, height - 1 - start // width, start % width] = EMPTY
    after[rows, height - 1 - to // width, to % width] = movers
    return after


Ints = npt.NDArray[np.int32]
_COLOUR = np.array(COLOUR, np.int8)


class AmazonsNetEvaluator:
    """`search.mcts.puct_trees.EvaluateBatch` by a net; an answer depends on its position alone, if the net's does."""

    def __init__(self, nets: Forward) -> None:
        self.nets, self.size = nets, nets.size

    def check_board(self, height: int, width: int) -> None:
        """See `Forward.check_board`."""
        self.nets.check_board(height, width)

    def needs(self, state: AmazonsState) -> list[Need]:  # noqa: ARG002
        """See `search.mcts.puct_search.Puct.needs`."""
        return self.nets.needs()

    def __call__(self, states: AmazonsState, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps, values float32 [B] in -1..1 to the side to move.

        Args:
            states: stacked states, boards [B, H, W]; with and without an amazon that has moved and not shot yet.
            steps: int32 [B, S], legal steps; those past a row's count are not read.
            counts: int32 [B].
        """
        legal = np.arange(steps.shape[1]) < counts[:, None]
        steps = np.where(legal, steps, 0)
        boards = np.ascontiguousarray(states.board[:, ::-1])  # the nets' row 0 is the top rank
        movers, moved = _COLOUR[states.turn[:, 0]], states.turn[:, 1]
        squares = boards[0].size
        log_p, win_rate = np.empty(steps.shape, np.float32), np.empty(len(steps), np.float32)
        before = np.flatnonzero(moved < 0)
        if len(before):
            move = self.nets.move(boards[before], movers[before])
            start, to = np.divmod(steps[before], squares)
            amazon = (move.amazons[:, :, None] == start[:, None, :]).argmax(axis=1)
            log_p[before] = move.log_p[np.arange(len(before))[:, None], amazon, to]
            win_rate[before] = move.win_rate
        after = np.flatnonzero(moved >= 0)
        if len(after):
            arrow = self.nets.arrow(boards[after], movers[after], moved[after])
            log_p[after] = np.take_along_axis(arrow.log_p, steps[after].astype(np.int64), axis=1)
            win_rate[after] = arrow.win_rate
        return np.where(legal, np.exp(log_p), np.float32(0)), 2 * win_rate - 1


Shares = npt.NDArray[np.float64]  # [N], probabilities by square s = (rank - 1) * W + (file - 1)


@dataclass(frozen=True)
class TurnView:
    """A position before a turn, and the same after the amazon's move that was played there."""

    start: Shares  # Probability that the amazon on a square moves; they sum to 1
    to: Shares  # Probability that a square is where she goes, whichever she is; they sum to 1
    moves: tuple[tuple[int, int, float], ...]  # The likeliest (from, to) with their probabilities, the likeliest first
    win_rate: float  # The mover's chance to win, before the move
    arrow: Shares  # Probability of an arrow to a square, after the move that was played; they sum to 1
    win_rate_after: float  # The mover's chance to win, knowing that move


def view_turn(nets: Forward, state: AmazonsState, action: int, count: int = 3) -> TurnView:
    """Ask nets about a position and the turn ``action`` that was played there, for the ``count`` likeliest moves.

    Raises:
        ZugwerkError: a board that the nets were not made for, or a side without four amazons.
    """
    n = state.board.size
    boards, movers = state.board[None, ::-1], np.array([COLOUR[to_play(state)]], np.int8)
    start, to = (np.array([square], np.int16) for square in (action // (n * n), action // n % n))
    before = nets.move(boards, movers)
    p = np.exp(before.log_p[0].astype(np.float64))  # [4, N]
    by_amazon = np.zeros(n)
    by_amazon[before.amazons[0]] = p.sum(1)
    best = np.argsort(-p, axis=None, kind="stable")[:count]
    moves = [(int(before.amazons[0, k // n]), int(k % n), float(p.flat[k])) for k in best if p.flat[k] > 0]
    after = nets.arrow(after_move(boards, movers, start, to), movers, to)
    return TurnView(
        by_amazon,
        p.sum(0),
        tuple(moves),
        float(before.win_rate[0]),
        np.exp(after.log_p[0].astype(np.float64)),
        float(after.win_rate[0]),
    )


LAST = ("from", "to", "arrows", "bias")
"""Nodes whose outputs are logits or are multiplied to logits: 8 bits would be too coarse."""
CALIBRATION_POSITIONS, CALIBRATION_BATCH = 512, 64


class OnnxEvaluator(Forward):
    """A model of `forward.export_nets` for searches (`puct_trees.EvaluateBatch`), and without one (`Forward`).

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
        """See `search.mcts.puct.Puct.needs`."""
        return planes_need()

    def __call__(self, states: AmazonsState, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
        """Priors float32 [B, S] of the steps and values float32 [B], as `AmazonsNetEvaluator` gives them."""
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
        """See `Forward`."""
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
        """See `Forward`."""
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


class RayForward(Forward):
    """A net of rays without a search; ``size`` is that of the boards that it was trained on, but it takes any."""

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

"""Nets as players: opened from a file, asked without a search, and guiding PUCT.

Without a search a turn is two forward passes (patent CN 111330255 B, 'move generation'). Torch is imported for files of
torch alone.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_model_bytes
from pipeline_src.games.amazons import COLOUR, AmazonsState, to_fen
from pipeline_src.games.kernels import row, stack
from pipeline_src.games.rules import to_play, winner
from pipeline_src.jit import Need, needs_of, njit
from pipeline_src.players.amazons import ClosingFirst
from pipeline_src.players.packaged import INT8
from pipeline_src.players.player import Bounds, Player, Position, Thought
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.amazons.endgame import EndgameScratch, closing_turn, endgame_scratch, settle_amazons
from pipeline_src.search.amazons.rays import RayEvaluator, read_table
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import UNSURE
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.mcts.puct_trees import Answer, EvaluateBatch
from pipeline_src.search.tables import RAYS
from pipeline_src.systems.amazons_net.answers import (
    AmazonsNetEvaluator,
    Floats,
    Forward,
    OnnxEvaluator,
    RayForward,
    after_move,
    as_int8,
)

Backend = Literal["auto", "torch", "onnx", "onnx-int8"]
Ints = npt.NDArray[np.int32]
ONNX = ".onnx"


SearchNets = AmazonsNetEvaluator | OnnxEvaluator | RayEvaluator
"""Nets as a search asks them: `search.mcts.puct_trees.EvaluateBatch` of positions of one board size."""


def open_nets(path: str, backend: Backend, batch: int) -> SearchNets:
    """Read nets for a search.

    Args:
        path: of a file of `nets.save_nets` or `forward.export_nets`.
        backend: ``auto`` runs an ONNX model as it is, the residual net of torch in onnx-int8 where its packages are,
            else in torch. torch computes with bfloat16 on processors that train faster with it (`number_format`);
            values then differ in the third digit from those of float32, with 8-bit integers in the second.
        batch: positions of a forward pass.

    Raises:
        ZugwerkError: no model there, a missing package, or a backend that does not run such nets.
    """
    if Path(path).suffix == RAYS:
        return RayEvaluator(*read_table(path), settles=True)
    if Path(path).suffix == ONNX:
        if backend == "torch":
            raise ZugwerkError(f"{path}: torch runs nets.pt, not an ONNX model; leave backend=torch out")
        content = read_model_bytes(path)
        if backend == "onnx-int8" and not path.endswith(INT8):
            content = as_int8(content, path)
        return OnnxEvaluator(content, batch, path)
    from pipeline_src.systems.amazons_net.forward import export_nets
    from pipeline_src.systems.amazons_net.nets import ResidualNets, load_nets
    from pipeline_src.systems.amazons_net.rays import RaysNet, tabulate

    nets = load_nets(path)
    if isinstance(nets, RaysNet) and backend == "auto":
        return RayEvaluator(tabulate(nets), nets.config.size, settles=True)
    if backend == "auto":
        packages = all(importlib.util.find_spec(name) for name in ("onnx", "onnxruntime"))
        backend = "onnx-int8" if packages and isinstance(nets, ResidualNets) else "torch"
    if backend == "torch":
        from pipeline_src.systems.amazons_net.forward import torch_nets

        return torch_nets(nets, batch)
    if not isinstance(nets, ResidualNets):
        raise ZugwerkError(f"{path}: {backend} runs residual nets only; choose backend=torch")
    return OnnxEvaluator(export_nets(nets, int8=backend == "onnx-int8"), batch, path)


def open_forward(path: str, batch: int) -> Forward:
    """Read nets that are asked without a search, in 32-bit floats on one thread of the CPU; arguments as above.

    Raises:
        ZugwerkError: no model there, or a damaged one.
    """
    if Path(path).suffix == RAYS:
        return RayForward(*read_table(path))
    if Path(path).suffix == ONNX:
        return OnnxEvaluator(read_model_bytes(path), batch, path)
    from pipeline_src.systems.amazons_net.forward import forward_of
    from pipeline_src.systems.amazons_net.nets import load_nets

    return forward_of(load_nets(path), batch, threads=1)


BATCH = 16  # Positions of a forward pass: as many as a task of a match has games in lock step


class NetsTurn(NamedTuple):
    """A turn and its win rates by the nets."""

    action: int
    win_rate: float  # Win rate of the side to move by Arrow-Net, after the amazon's move
    win_rate_move_net: float  # Win rate of the side to move by Move-Net, before the amazon's move


class NetsPlayer(Player):
    """Best legal (from, to) of Move-Net, then best legal arrow of Arrow-Net on the position after that move."""

    def __init__(self, nets: Forward, temperature: float = 0.0, moves: int = 1) -> None:
        """How to choose.

        Args:
            nets: on one thread. Games side by side are what keeps the other cores busy, and a second thread would tie
                the nets' last bits to the number of workers.
            temperature: `choose` draws moves and arrows in proportion to their probability^(1 / temperature); 0 takes
                the best.
            moves: without a temperature, the number of best moves of which Arrow-Net is asked; of these turns the one
                with the greatest product of both probabilities is played.
        """
        self.nets, self.temperature, self.moves = nets, temperature, moves

    @classmethod
    def load(cls, path: str, batch: int = BATCH, temperature: float = 0.0, moves: int = 1) -> "NetsPlayer":
        """The player of a model file; ``batch`` is the size every forward pass is padded to.

        Raises:
            ZugwerkError: no model there.
        """
        try:
            written = Path(path).stat().st_mtime_ns
        except OSError:
            written = 0  # `open_forward` names the fault
        return cls(_nets_of(str(Path(path).resolve()), batch, written), temperature, moves)

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; without a temperature nothing is random."""
        rngs = [position.rng for position in positions] if self.temperature else ()
        return [turn.action for turn in self.turns([position.state for position in positions], rngs)]

    def check(self, state: Any) -> None:
        """See `Player.check`."""
        self.nets.check_board(*state.board.shape)

    def needs(self, start: Any) -> list[Need]:  # noqa: ARG002
        """See `Player.needs`."""
        return self.nets.needs()

    def turns(self, states: Sequence[AmazonsState], rngs: Sequence[np.random.Generator] = ()) -> list[NetsTurn]:
        """The nets' best turn in each position, of equally likely moves the first; or one that its generator draws.

        Raises:
            ZugwerkError: a finished game, or a board or number of amazons that the nets were not made for.
        """
        if not states:
            return []
        for state in states:
            if winner(state) is not None:
                raise ZugwerkError(f"the game is over: {to_fen(state)} has no turn for the side to move")
        if len({state.board.shape for state in states}) > 1:
            raise ZugwerkError("the positions have boards of different sizes")
        boards = np.stack([state.board[::-1] for state in states])  # the nets' row 0 is the top rank
        movers = np.array([COLOUR[to_play(state)] for state in states], dtype=np.int8)
        squares = boards[0].size

        before = self.nets.move(boards, movers)
        log_p = before.log_p.reshape(len(states), -1)
        place = self._picked(log_p, rngs)[:, None]
        if self.moves > 1 and not rngs:
            best = np.argsort(-log_p, axis=1, kind="stable")[:, : self.moves]
            place = np.where(np.isfinite(np.take_along_axis(log_p, best, 1)), best, best[:, :1])
        each, place, several = np.repeat(np.arange(len(states)), place.shape[1]), place.ravel(), place.shape[1]  # type: ignore[misc]
        start = before.amazons[each, place // squares]
        to = (place % squares).astype(np.int16)
        after = self.nets.arrow(after_move(boards[each], movers[each], start, to), movers[each], to)
        arrow = self._picked(after.log_p, rngs)
        actions = (start.astype(np.int64) * squares + to) * squares + arrow
        turn = log_p[each, place] + after.log_p[np.arange(len(each)), arrow]
        chosen = several * np.arange(len(states)) + turn.reshape(-1, several).argmax(1)
        rows = zip(actions[chosen], after.win_rate[chosen], before.win_rate, strict=True)
        return [NetsTurn(int(action), float(rate), float(rate_before)) for action, rate, rate_before in rows]

    def _picked(self, log_p: Floats, rngs: Sequence[np.random.Generator]) -> npt.NDArray[np.int64]:
        """Return a place in each row of log-probabilities [B, A], int64 [B]: the largest, or a drawn one."""
        if rngs:  # the largest of values with Gumbel noise is a draw in proportion to their exponentials
            log_p = log_p / self.temperature + np.stack([rng.gumbel(size=log_p.shape[1]) for rng in rngs])
        places: npt.NDArray[np.int64] = log_p.argmax(axis=1)
        return places


@njit(cache=True, nogil=True)
def settle_values(states: AmazonsState, scratch: EndgameScratch, values: npt.NDArray[np.float32]) -> None:
    """Set the values float32 [B] of stacked states that counting decides to 1 or -1; see `settle_amazons`."""
    for b in range(values.size):
        decided, margin = settle_amazons(row(states, b), scratch)
        if decided:
            values[b] = 1.0 if margin > 0 else -1.0


class SettlingEvaluator:
    """An evaluator of the leaves of Amazons trees together with counting."""

    def __init__(self, evaluate_batch: EvaluateBatch, amazons: int = 4) -> None:
        """``amazons`` is the largest number of amazons of a side."""
        self.evaluate_batch, self._scratch = evaluate_batch, endgame_scratch(amazons)

    def __call__(self, states: Any, steps: npt.NDArray[np.int32], counts: npt.NDArray[np.int32]) -> Answer:
        """See `search.mcts.puct_trees.EvaluateBatch`."""
        priors, values = self.evaluate_batch(states, steps, counts)
        values = np.clip(values, -UNSURE, UNSURE)
        settle_values(states, self._scratch, values)
        return priors, values

    def needs(self, state: AmazonsState) -> list[Need]:
        """See `Puct.needs`."""
        settled = Need(settle_values, (stack(state, 1), self._scratch, np.empty(1, np.float32)))
        return [settled, *needs_of(self.evaluate_batch, state)]


def settled(nets: SearchNets) -> EvaluateBatch:
    """Nets together with counting, which a net of rays has in its kernel."""
    return nets if isinstance(nets, RayEvaluator) else SettlingEvaluator(nets)


@lru_cache(maxsize=2)
def _nets_of(path: str, batch: int, _written: int) -> Forward:
    """Return a model, read once per process, or again if the file has changed."""
    return open_forward(path, batch)


class PuctPlayer(SearchPlayer):
    """Searches all positions in lock step, so that the net sees them as one batch; on time, one after the other.

    Positions that counting decides are not searched.
    """

    def __init__(self, puct: Puct, limit: Limit, nets: SearchNets) -> None:
        """``nets`` are those whose answers the search gets."""
        super().__init__(ClosingFirst(puct), limit)
        self.puct, self.nets = puct, nets

    def check(self, state: Any) -> None:
        """See `Player.check`."""
        self.nets.check_board(*state.board.shape)

    def new_game(self) -> None:
        """See `Player.new_game`."""
        self.puct.forget()

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`."""
        if any(position.clock is not None for position in positions):
            return super().consider(positions)
        return [Thought(action) for action in self.choose(positions)]

    def _limit(self, position: Position, bounds: Bounds) -> Limit:
        """A tree grows to no given depth: where that is the only limit, the player's own applies."""
        return super()._limit(position, replace(bounds, depth=None))

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; nothing here is random."""
        counted = [closing_turn(position.state) for position in positions]
        open_ = [position.state for position, turn in zip(positions, counted, strict=True) if turn is None]
        if self.limit.movetime_ms is None:
            found = iter(self.puct.search_many(open_, self.limit))
        else:
            found = (self.puct.search(state, self.limit) for state in open_)
        return [next(found).action if turn is None else turn.action for turn in counted]

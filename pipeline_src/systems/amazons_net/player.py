"""A net as a player without search: two forward passes per turn (patent CN 111330255 B, 'move generation')."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import COLOUR, AmazonsState, to_fen, to_play
from pipeline_src.games.amazons.turns import has_turn
from pipeline_src.jit.needs import Need
from pipeline_src.players.player import Player, Position
from pipeline_src.systems.amazons_net.forward import NetsForward, after_move
from pipeline_src.systems.amazons_net.models import load_nets
from pipeline_src.systems.amazons_net.protocol import Nets

BATCH = 16
"""Positions of a forward pass: as many as a task of a match has games in lock step."""


class NetsTurn(NamedTuple):
    """A turn and its win rates by the nets."""

    action: int
    win_rate: float
    """Win rate of the side to move by Arrow-Net, after the amazon's move."""
    win_rate_move_net: float
    """Win rate of the side to move by Move-Net, before the amazon's move."""


class NetsPlayer(Player):
    """Best legal (from, to) of Move-Net, then best legal arrow of Arrow-Net on the position after that move."""

    def __init__(self, nets: Nets, batch: int = BATCH) -> None:
        """``batch`` is the size every forward pass is padded to.

        Torch uses one thread: games side by side are what keeps the other cores busy, and a second thread would tie
        the nets' last bits to the number of workers.
        """
        self.nets = NetsForward(nets, batch, threads=1)

    @classmethod
    def load(cls, path: str, batch: int = BATCH) -> "NetsPlayer":
        """The player of a model file.

        Raises:
            ZugwerkError: no model there.
        """
        try:
            written = Path(path).stat().st_mtime_ns
        except OSError:
            written = 0  # `load_nets` says what is wrong
        return cls(_nets_of(Path(path).resolve(), written), batch)

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; nothing here is random."""
        return [turn.action for turn in self.turns([position.state for position in positions])]

    def check(self, state: Any) -> None:
        """See `Player.check`."""
        self.nets.check_board(*state.board.shape)

    def needs(self, start: Any) -> list[Need]:  # noqa: ARG002
        """See `Player.needs`."""
        return self.nets.needs()

    def turns(self, states: Sequence[AmazonsState]) -> list[NetsTurn]:
        """The nets' turn in each position; of equally likely moves the first.

        Raises:
            ZugwerkError: a finished game, or a board or number of amazons that the nets were not made for.
        """
        if not states:
            return []
        for state in states:
            if not has_turn(state):
                raise ZugwerkError(f"the game is over: {to_fen(state)} has no turn for the side to move")
        if len({state.board.shape for state in states}) > 1:
            raise ZugwerkError("the positions have boards of different sizes")
        boards = np.stack([state.board[::-1] for state in states])  # the nets' row 0 is the top rank
        movers = np.array([COLOUR[to_play(state)] for state in states], dtype=np.int8)
        squares = boards[0].size

        before = self.nets.move(boards, movers)
        best = before.log_p.reshape(len(states), -1).argmax(axis=1)
        start = before.amazons[np.arange(len(states)), best // squares]
        to = (best % squares).astype(np.int16)
        after = self.nets.arrow(after_move(boards, movers, start, to), movers, to)
        arrow = after.log_p.argmax(axis=1)
        actions = (start.astype(np.int64) * squares + to) * squares + arrow
        rows = zip(actions, after.win_rate, before.win_rate, strict=True)
        return [NetsTurn(int(action), float(rate), float(rate_before)) for action, rate, rate_before in rows]


@lru_cache(maxsize=2)
def _nets_of(path: Path, _written: int) -> Nets:
    """A model, read once a process; a file written anew is read anew."""
    return load_nets(path)

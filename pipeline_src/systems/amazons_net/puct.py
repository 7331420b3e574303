"""PUCT guided by the Amazons nets as a player."""

from collections.abc import Sequence
from typing import Any

from pipeline_src.jit.needs import Need
from pipeline_src.players.player import Player, Position
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import Puct
from pipeline_src.systems.amazons_net.forward import NetsForward


class PuctPlayer(Player):
    """Searches all positions in lock step, so that the net sees them as one batch; on time, one after the other."""

    limit: Limit

    def __init__(self, searcher: Puct, limit: Limit, nets: NetsForward) -> None:
        """``nets`` are those that the searcher asks."""
        self.searcher, self.limit, self.nets = searcher, limit, nets

    def check(self, state: Any) -> None:
        """See `Player.check`."""
        self.nets.check_board(*state.board.shape)

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`."""
        return [*self.searcher.needs(start), *self.nets.needs()]

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; nothing here is random."""
        states = [position.state for position in positions]
        if self.limit.movetime_ms is None:
            return [found.action for found in self.searcher.search_many(states, self.limit)]
        return [self.searcher.search(state, self.limit).action for state in states]

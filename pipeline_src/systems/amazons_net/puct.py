"""PUCT guided by the Amazons nets as a player."""

from collections.abc import Sequence
from typing import Any

from pipeline_src.players.amazons.closing import ClosingFirst
from pipeline_src.players.player import Position, Thought
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.amazons.endgame import closing_turn
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import Puct
from pipeline_src.systems.amazons_net.backends import SearchNets


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

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`."""
        return [Thought(action) for action in self.choose(positions)]

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; nothing here is random."""
        counted = [closing_turn(position.state) for position in positions]
        open_ = [position.state for position, turn in zip(positions, counted, strict=True) if turn is None]
        if self.limit.movetime_ms is None:
            found = iter(self.puct.search_many(open_, self.limit))
        else:
            found = (self.puct.search(state, self.limit) for state in open_)
        return [next(found).action if turn is None else turn.action for turn in counted]

"""PUCT guided by the Amazons nets as a player."""

from collections.abc import Sequence
from typing import Any

from pipeline_src.jit.needs import Need
from pipeline_src.players.player import Player, Position
from pipeline_src.search.amazons.endgame import closing_needs, closing_turn
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import Puct
from pipeline_src.systems.amazons_net.inference import SearchNets


class PuctPlayer(Player):
    """Searches all positions in lock step, so that the net sees them as one batch; on time, one after the other.

    Positions that counting decides are not searched.
    """

    limit: Limit

    def __init__(self, searcher: Puct, limit: Limit, nets: SearchNets) -> None:
        """``nets`` are those whose answers the searcher gets."""
        self.searcher, self.limit, self.nets = searcher, limit, nets

    def check(self, state: Any) -> None:
        """See `Player.check`."""
        self.nets.check_board(*state.board.shape)

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`."""
        return [*closing_needs(start), *self.searcher.needs(start)]

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; nothing here is random."""
        counted = [closing_turn(position.state) for position in positions]
        open_ = [position.state for position, turn in zip(positions, counted, strict=True) if turn is None]
        if self.limit.movetime_ms is None:
            found = iter(self.searcher.search_many(open_, self.limit))
        else:
            found = (self.searcher.search(state, self.limit) for state in open_)
        return [next(found).action if turn is None else turn.action for turn in counted]

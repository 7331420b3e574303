"""The player ``engine`` of Gomoku: alpha-beta on boards with patterns, with searches by fours and threats."""

from typing import Self

from pydantic import model_validator

from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit


class EngineOptions(Options, Limits):
    """Alpha-beta of Gomoku with searches by threats; one second per move if no limit is given."""

    EXAMPLE = "engine:movetime=300"
    DEFAULT = Limit(movetime_ms=1000)

    @model_validator(mode="after")
    def _threads_have_time(self) -> Self:
        if self.threads > 1 and (self.nodes, self.depth) != (None, None):
            raise ValueError("threads: a search limited by nodes or depth has one; limit its time with movetime")
        return self


class EnginePlayer(SearchPlayer):
    """The engine as a player. In games on time it keeps the results of earlier searches of the game."""

    def __init__(self, engine: Engine, limit: Limit) -> None:
        """See `SearchPlayer`."""
        super().__init__(engine, limit)
        self.engine = engine

    def new_game(self) -> None:
        """See `Player.new_game`."""
        self.engine.forget()


def gomoku_engine(options: EngineOptions) -> EnginePlayer:
    """Make the player ``engine`` of Gomoku."""
    return EnginePlayer(Engine(options), options.limit)

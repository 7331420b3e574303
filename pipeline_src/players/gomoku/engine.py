"""The player ``engine`` of Gomoku: alpha-beta on boards with patterns, with searches by fours and threats."""

from typing import Annotated

from pydantic import Field

from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit

STANDARD = Options()
Number = Annotated[int, Field(ge=0, lt=1 << 30)]


class EngineOptions(Limits):
    """Alpha-beta of Gomoku with searches by threats; one second per move if no limit is given."""

    EXAMPLE = "engine:movetime=300"
    DEFAULT = Limit(movetime_ms=1000)

    leaf_fours: Number = STANDARD.leaf_fours
    """Largest number of positions of a search by fours at the horizon; 0 is no search."""
    inner_fours: Number = STANDARD.inner_fours
    """Largest number of positions of a search by fours above the horizon; 0 is no search."""
    guard: Number = STANDARD.guard
    """Least remaining depth at which the search checks whether the other side threatens to win by fours; 0 is never."""
    reduce_after: Number = STANDARD.reduce_after
    """Number of moves of a node after which the others are first searched less deep; 0 is never."""
    width: Number = STANDARD.width
    """Largest number of moves of a node."""
    first_width: Number = STANDARD.first_width
    """Largest number of moves of a node at the horizon."""
    more_width: Number = STANDARD.more_width
    """Number of further moves for each ply of remaining depth."""
    margin: Number = STANDARD.margin
    """Points above beta, per ply of remaining depth up to three, at which a static value ends a node; 0 is never."""
    tempo: Number = STANDARD.tempo
    """Points for being to move."""
    threats: Number = STANDARD.threats
    """Positions of searches by threats at the root and after its best moves; 0 is none."""
    prove_from: Number = STANDARD.prove_from
    """Least remaining depth for a search by threats at a node; 0 is never."""
    prove_nodes: Number = STANDARD.prove_nodes
    """Largest number of positions of each of these searches."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] = STANDARD.table_mb
    """Size of the transposition table in MB."""


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
    own = {name: getattr(options, name) for name in STANDARD.__dataclass_fields__}
    return EnginePlayer(Engine(Options(**own)), options.limit)

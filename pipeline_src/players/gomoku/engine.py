"""Alpha-beta with threats, patterns kept by move and searches by fours, as a player of Gomoku."""

from typing import Annotated

from pydantic import Field

from pipeline_src.players.searching import Limits, SearchPlayer
from pipeline_src.search.gomoku.engine import Engine, Options
from pipeline_src.search.limits import Limit

STANDARD = Options()
Number = Annotated[int, Field(ge=0, lt=1 << 30)]


class EngineOptions(Limits):
    """Alpha-beta of Gomoku with searches by threats; a second a move if no limit is given."""

    EXAMPLE = "engine:movetime=300"
    DEFAULT = Limit(movetime_ms=1000)

    leaf_fours: Number = STANDARD.leaf_fours
    """Positions of a search by fours at the horizon; 0: none."""
    inner_fours: Number = STANDARD.inner_fours
    """The same above the horizon."""
    guard: Number = STANDARD.guard
    """From which depth on it is asked whether the other side would win by fours, could it move; 0: never."""
    reduce_after: Number = STANDARD.reduce_after
    """After how many moves of a node the others are first searched less deep; 0: never."""
    width: Number = STANDARD.width
    """How many moves of a node are searched."""
    first_width: Number = STANDARD.first_width
    """How many moves of a node at the horizon are searched."""
    more_width: Number = STANDARD.more_width
    """How many more for each ply of remaining depth."""
    margin: Number = STANDARD.margin
    """Points a ply by which a node near the horizon has to be too good to be left at once; 0: never."""
    tempo: Number = STANDARD.tempo
    """Points of being to move."""
    threats: Number = STANDARD.threats
    """Positions of searches by threats at the root and behind its best moves; 0: none."""
    prove_from: Number = STANDARD.prove_from
    """From which depth on a win by threats is looked for; 0: never."""
    prove_nodes: Number = STANDARD.prove_nodes
    """Positions of each of these searches."""
    table_mb: Annotated[float, Field(ge=0, lt=1e6)] = STANDARD.table_mb
    """MiB of the transposition table."""


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
    """The player ``engine`` of Gomoku."""
    own = {name: getattr(options, name) for name in STANDARD.__dataclass_fields__}
    return EnginePlayer(Engine(Options(**own)), options.limit)

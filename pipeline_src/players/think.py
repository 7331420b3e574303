"""Any player on one position, under limits from outside: what the engine protocol and the command line ask for."""

from dataclasses import dataclass

from pipeline_src.games.kernels import rules_need
from pipeline_src.jit.needs import ready
from pipeline_src.players.player import Player, Position
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.limits import Limit, OnInfo, SearchResult

Found = SearchResult
"""What a search reports, by the name that arenas know."""


@dataclass(frozen=True)
class Bounds:
    """Limits of one move; without any, the position's clock or else the player's own hold."""

    depth: int | None = None
    nodes: int | None = None
    movetime_ms: float | None = None
    infinite: bool = False
    """Until it is stopped."""


def think(
    player: Player, position: Position, bounds: Bounds, on_info: OnInfo | None = None
) -> tuple[int, SearchResult | None]:
    """The player's action, and what its search reported; None for players that do not search.

    Players that do not search know no limits: they answer as soon as they have chosen.
    """
    if not isinstance(player, SearchPlayer):
        return player.choose([position])[0], None
    seed = int(position.rng.integers(1 << 62))
    found = player.searcher.search(position.state, _limit(player, position, bounds), seed, on_info)
    return found.action, found


def _limit(player: SearchPlayer, position: Position, bounds: Bounds) -> Limit:
    if bounds.infinite:
        return Limit()
    if (bounds.depth, bounds.nodes, bounds.movetime_ms) != (None, None, None):
        return Limit(bounds.depth, bounds.nodes, bounds.movetime_ms)
    return player.limit_at(position)


def searches(player: Player) -> bool:
    """Whether the player can be limited, watched and stopped."""
    return isinstance(player, SearchPlayer)


def stop(player: Player) -> None:
    """End the player's search, from another thread. A player that does not search goes on to its choice."""
    if isinstance(player, SearchPlayer):
        player.searcher.stop()


def warm_up(player: Player, position: Position) -> None:
    """Load and compile what the first move of a process would else wait for; nothing is chosen."""
    needs, engine_ready = getattr(player, "needs", None), getattr(player, "ready", None)
    ready(rules_need(position.state))
    if engine_ready is not None:
        engine_ready(position.start)
    elif needs is not None:
        ready(needs(position.state))
    else:
        by_depth = isinstance(player, SearchPlayer) and player.limit.depth is not None  # minimax knows no other limit
        think(player, position, Bounds(depth=1 if by_depth else None, nodes=1))


def close(player: Player) -> None:
    """End what the player has started outside this process, if anything."""
    end = getattr(player, "close", None)
    if end is not None:
        end()

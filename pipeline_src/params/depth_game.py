"""Params section ``depth_game``: the engine and the clock of all that has to do with the search depth."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DepthGame:
    """Shared by the labels and the matches, so that the nets meet the engine they learnt from."""

    clock_ms: float
    """Time of a side, in milliseconds; published: 900,000."""
    nodes_per_ms: float
    """What turns the clock into one of nodes, so that no machine decides a game; 0: wall time."""
    game_plies: int
    """Over how many plies of a game a player that deepens iteratively shares out its clock; once the areas are closed
    no move takes time."""
    engine: str
    """Options of the ``alphabeta`` player, e.g. ``width=40,width3=20``."""
    simulations: int
    """Of the small tree search that fills the nets' input."""
    plies: int
    """Turns that each of them plays at random after the tree, before it is evaluated."""
    forward_nodes: int
    """Node equivalents that a forward pass of a net is charged."""
    lowest: int
    """Least depth that is chosen, the lowest class; published: 3."""
    highest: int
    """Greatest depth, the highest class; published: 7."""
    opening_plies: int
    """Random plies before the players take over."""

    def __post_init__(self) -> None:
        if not 0 < self.clock_ms < float("inf"):
            raise ValueError(f"clock_ms must be above 0, not {self.clock_ms}")
        if not 0 <= self.nodes_per_ms < float("inf"):
            raise ValueError(f"nodes_per_ms must be 0 or more, not {self.nodes_per_ms}")
        if self.game_plies < 2:
            raise ValueError(f"game_plies must be at least 2, not {self.game_plies}")
        if self.simulations < 1 or self.plies < 0 or self.forward_nodes < 0:
            raise ValueError("simulations must be at least 1, plies and forward_nodes at least 0")
        if not 1 <= self.lowest < self.highest <= 32:
            raise ValueError(f"lowest and highest must rise within 1 to 32, not {self.lowest} and {self.highest}")
        if not 1 <= self.opening_plies <= 20:
            raise ValueError(
                f"opening_plies must be 1 to 20, not {self.opening_plies}: from the bare start position, players that "
                "draw no lots would play the same game again and again"
            )

    def player(self, options: str = "") -> str:
        """Text of a player on this clock, e.g. with ``depth=4``; what ``options`` give goes before what is here."""
        own = (
            f"clock={self.clock_ms:.12g},nodes_per_ms={self.nodes_per_ms:.12g},game_plies={self.game_plies},"
            f"simulations={self.simulations},plies={self.plies},forward_nodes={self.forward_nodes},{self.engine}"
        )
        given = [part for part in options.split(",") if part]
        names = {part.partition("=")[0] for part in given}
        rest = [part for part in own.split(",") if part and part.partition("=")[0] not in names]
        return "alphabeta:" + ",".join([*given, *rest])

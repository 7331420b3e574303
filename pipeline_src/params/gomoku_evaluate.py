"""Params section ``gomoku_evaluate``: who plays whom, from which openings, and how much."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class GomokuOpponent:
    """A player that learns nothing."""

    player: str
    """Its text."""
    pairs: int
    """Pairs of games of the best player against it."""


def _opponents() -> dict[str, GomokuOpponent]:
    return {
        "mcts1000": GomokuOpponent("mcts:playouts=1000", 50),
        "minimax": GomokuOpponent("minimax:depth=2", 50),
        "alphabeta2": GomokuOpponent("alphabeta:depth=2", 50),
        "alphabeta4": GomokuOpponent("alphabeta:depth=4", 50),
    }


@dataclass(frozen=True)
class GomokuOpenings:
    """The openings that all matches choose from: random stones that decide nothing yet."""

    count: int = 64
    plies: int = 3
    """Stones; 0 is the empty board for all, on which players that draw no lots repeat one game."""
    area: int = 7
    """The stones lie in the square of this side in the middle of the board; 0 is all of it."""
    judge: str = "alphabeta:depth=2"
    """Text of the player whose search says what an opening is worth."""
    bound: float = 40.0
    """The most that it may be worth to either side, in the unit of the judge's evaluation."""

    def __post_init__(self) -> None:
        if self.count < 1 or self.plies < 0 or self.area < 0 or not self.bound > 0:
            raise ValueError(
                f"count must be at least 1, plies and area at least 0, bound above 0, not {self.count}, {self.plies}, "
                f"{self.area}, {self.bound:g}"
            )


@dataclass(frozen=True)
class GomokuEvaluateParams:
    """Of the stage that plays the published tables and the headline matches."""

    simulations: int = 300
    """Of a model's move."""
    search: Literal["puct", "gumbel"] = "puct"
    options: str = ""
    """Further options of a model's player, e.g. ``chunk=16,leaves=4``."""
    opponents: dict[str, GomokuOpponent] = field(default_factory=_opponents)
    """By name; the metrics are called ``score_vs_<name>``."""
    anchor: str = "mcts1000"
    """The opponent whose Elo is 0."""
    anchor_pairs: int = 5
    """Pairs of each rated model against the anchor."""
    every: int = 3
    """Rated are the models 1, 1 + every, ..., and the last one."""
    table2_games: int = 2
    """Between any two of them."""
    table3_games: int = 20
    """Of each of them against each of ``tables_against``."""
    tables_against: tuple[str, ...] = ("minimax", "alphabeta4")
    """Names of the opponents of tables 3 and 4."""
    best_of: int = 5
    """Games of a match of table 4, unless it is decided before."""
    replays: int = 4
    """Drawn games of such a match that are played again, at most."""
    openings: GomokuOpenings = field(default_factory=GomokuOpenings)
    group: int = 40
    """Games that a task plays in lock step; changes no game."""

    def __post_init__(self) -> None:
        for name in ("simulations", "anchor_pairs", "every", "group"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("table2_games", "table3_games"):
            if getattr(self, name) < 2 or getattr(self, name) % 2:
                raise ValueError(f"{name} must be even and at least 2, not {getattr(self, name)}: sides are swapped")
        if self.best_of < 1 or self.best_of % 2 == 0 or self.replays < 0:
            raise ValueError(f"best_of must be odd and replays at least 0, not {self.best_of} and {self.replays}")
        for name, opponent in self.opponents.items():
            if opponent.pairs < 1:
                raise ValueError(f"opponents.{name}.pairs must be at least 1, not {opponent.pairs}")
        for name in (self.anchor, *self.tables_against):
            if name not in self.opponents:
                raise ValueError(f"no opponent is called {name!r}; there are: {', '.join(self.opponents) or 'none'}")
        pairs = [self.anchor_pairs, self.table3_games // 2, self.table2_games // 2]
        pairs += [opponent.pairs for opponent in self.opponents.values()]
        wanted = max(*pairs, (self.best_of + self.replays + 1) // 2)
        if self.openings.count < wanted:
            raise ValueError(f"openings.count must be at least {wanted}: a match plays each opening once")

    def model_text(self, path: str) -> str:
        """Text of the player that a model is here."""
        more = f",{self.options}" if self.options else ""
        return f"zero:{path},simulations={self.simulations},search={self.search}{more}"

    def rated(self, generations: list[int]) -> list[int]:
        """Those of the generations, from 1 on, whose models play in the tables."""
        return sorted({*generations[:: self.every], generations[-1]})

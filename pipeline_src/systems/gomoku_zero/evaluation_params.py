"""Params of the matches that measure the nets of Gomoku.

Apart from `params`, so that another match trains nothing anew.
"""

from typing import Literal, Self

from pydantic import model_validator

from pipeline_src.project.params import (
    Count,
    Even,
    Items,
    Named,
    Params,
    Positive,
    Whole,
)

Search = Literal["puct", "gumbel"]


class GomokuOpponent(Params):
    """A player that learns nothing."""

    player: str
    """Text of the player, see `zugwerk players gomoku`."""
    pairs: Count
    """Pairs of games of the best player against it."""


class GomokuOpenings(Params):
    """Openings that all matches choose from: random stones that decide nothing yet."""

    count: Count = 64
    """Number of openings; a match plays each one once."""
    plies: Whole = 3
    """Stones; 0 is the empty board for all, on which players that draw no lots repeat one game."""
    area: Whole = 7
    """The stones lie in the square of this side in the middle of the board; 0 is all of it."""
    judge: str = "alphabeta:depth=2"
    """Text of the player whose search says what an opening is worth."""
    bound: Positive = 40.0
    """The most that it may be worth to either side, in the unit of the judge's evaluation."""


OPPONENTS = {
    "mcts1000": GomokuOpponent(player="mcts:playouts=1000", pairs=50),
    "minimax": GomokuOpponent(player="minimax:depth=2", pairs=50),
    "alphabeta2": GomokuOpponent(player="alphabeta:depth=2", pairs=50),
    "alphabeta4": GomokuOpponent(player="alphabeta:depth=4", pairs=50),
}


class GomokuEvaluateParams(Params):
    """The published tables and the headline matches: who plays whom, from which openings, and how much."""

    simulations: Count = 300
    """Simulations of a model's move."""
    search: Search = "puct"
    """The models' search, see gomoku_self_play."""
    options: str = ""
    """Further options of a model's player, e.g. ``chunk=16,leaves=4``."""
    opponents: Named[GomokuOpponent] = OPPONENTS
    """Opponents by name; the metrics are called ``score_vs_<name>``."""
    anchor: str = "mcts1000"
    """The opponent whose Elo is 0."""
    anchor_pairs: Count = 5
    """Pairs of each rated model against the anchor."""
    every: Count = 3
    """Rated are the models 1, 1 + every, ..., and the last one."""
    table2_games: Even = 2
    """Games between any two of the rated models; sides are swapped."""
    table3_games: Even = 20
    """Games of each of them against each of ``tables_against``, sides swapped; published: 20."""
    tables_against: Items[str] = ("minimax", "alphabeta4")
    """Names of the opponents of tables 3 and 4."""
    best_of: Count = 5
    """Games of a match of table 4, odd, unless it is decided before."""
    replays: Whole = 4
    """Drawn games of such a match that are played again, at most."""
    openings: GomokuOpenings = GomokuOpenings()
    """The openings of all matches."""
    group: Count = 40
    """Games that a task plays in lock step; changes no game."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.best_of % 2 == 0:
            raise ValueError(f"best_of must be odd, not {self.best_of}")
        for name in (self.anchor, *self.tables_against):
            if name not in self.opponents:
                raise ValueError(f"no opponent is called {name!r}; there are: {', '.join(self.opponents) or 'none'}")
        pairs = [self.anchor_pairs, self.table3_games // 2, self.table2_games // 2]
        pairs += [opponent.pairs for opponent in self.opponents.values()]
        least = max(*pairs, (self.best_of + self.replays + 1) // 2)
        if self.openings.count < least:
            raise ValueError(f"openings.count must be at least {least}: a match plays each opening once")
        return self

    def model_text(self, path: str) -> str:
        """Text of the player that a model is here."""
        more = f",{self.options}" if self.options else ""
        return f"zero:{path},simulations={self.simulations},search={self.search}{more}"

    def rated(self, generations: list[int]) -> list[int]:
        """Those of the generations, from 1 on, whose models play in the tables."""
        return sorted({*generations[:: self.every], generations[-1]})

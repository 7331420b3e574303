"""Params of the matches that measure the nets of Gomoku.

They are separate from `params`, so that a changed match does not train any net again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

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
BEST = "best"
"""Name of the best player after the last generation; the models are called by their generation's number."""


class GomokuOpponent(Params):
    """A fixed opponent, which does not learn."""

    player: str
    """Text of the player, see `zugwerk players gomoku`."""
    pairs: Count
    """Number of pairs of games of the best player against it."""


class GomokuOpenings(Params):
    """The openings of all matches: random stones without a decisive advantage."""

    count: Count = 64
    """Number of openings. A match uses each one once."""
    plies: Whole = 3
    """Number of stones. With 0 all games begin on the empty board, and deterministic players repeat one game."""
    area: Whole = 7
    """Side of the central square that contains the stones; 0 is the whole board."""
    judge: str = "alphabeta:depth=2"
    """Text of the player that evaluates the openings by its search."""
    bound: Positive = 40.0
    """Largest value of an opening for either side, in the unit of the judge's evaluation."""
    quick_games: Whole = 0
    """Number of quick games that the judge plays against itself from an opening. Each side has to win one of them; 0 is
    none."""


OPPONENTS = {
    "mcts1000": GomokuOpponent(player="mcts:playouts=1000", pairs=50),
    "minimax": GomokuOpponent(player="minimax:depth=2", pairs=50),
    "alphabeta2": GomokuOpponent(player="alphabeta:depth=2", pairs=50),
    "alphabeta4": GomokuOpponent(player="alphabeta:depth=4", pairs=50),
}


class GomokuPlayers(Params):
    """The players of the models in matches."""

    simulations: Count = 300
    """Number of simulations of a model's move."""
    search: Search = "puct"
    """Search of the models, see gomoku_self_play."""
    options: str = "chunk=8"
    """Further options of a model's player, e.g. ``chunk=16,leaves=4``. A chunk of 8 suits games in lock step."""
    headline_options: str = ""
    """More options of the best player against the opponents, e.g. ``solver=200``: a search finds threats by itself."""

    def model_text(self, path: Path | str) -> str:
        """Return the text of the player for a model."""
        return self._text(path, self.options)

    def best_text(self, path: Path | str) -> str:
        """Return the text of the player that meets the opponents, for its model."""
        return self._text(path, self.options, self.headline_options)

    def _text(self, path: Path | str, *options: str) -> str:
        limits = (f"simulations={self.simulations}", f"search={self.search}")
        return ",".join([f"zero:{path}", *limits, *filter(None, options)])


class GomokuEvaluateParams(GomokuPlayers):
    """The published tables and the headline matches: opponents, openings and numbers of games."""

    opponents: Named[GomokuOpponent] = OPPONENTS
    """Opponents by name. The metrics are named ``score_vs_<name>``."""
    anchor: str = "mcts1000"
    """Name of the opponent with Elo 0."""
    anchor_pairs: Count = 5
    """Number of pairs of each rated model against the anchor."""
    every: Count = 3
    """Distance between rated models: 1, 1 + every, ..., and the last one are rated."""
    table2_games: Even = 2
    """Number of games between any two of the rated models, with the sides swapped."""
    table3_games: Even = 20
    """Number of games of each rated model against each of ``tables_against``, with the sides swapped; published: 20."""
    tables_against: Items[str] = ("minimax", "alphabeta4")
    """Names of the opponents of tables 3 and 4."""
    best_of: Count = 5
    """Largest number of games in a match of table 4, odd. A decided match ends earlier. The figure best_of_five_won is
    measured with 5 alone."""
    replays: Whole = 4
    """Largest number of drawn games of a match of table 4 that are replayed."""
    openings: GomokuOpenings = GomokuOpenings()
    """The openings of all matches."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.best_of % 2 == 0:
            raise ValueError(f"best_of must be odd, not {self.best_of}")
        for name in self.opponents:
            if name == BEST or name.isdecimal():
                raise ValueError(f"opponents: {name!r} is the name of a model of the cycle; choose another one")
        if len(set(self.tables_against)) < len(self.tables_against):
            raise ValueError(f"tables_against names a player twice: {', '.join(self.tables_against)}")
        for name in (self.anchor, *self.tables_against):
            if name not in self.opponents:
                raise ValueError(f"no opponent is called {name!r}; there are: {', '.join(self.opponents) or 'none'}")
        pairs = [self.anchor_pairs, self.table3_games // 2, self.table2_games // 2]
        pairs += [opponent.pairs for opponent in self.opponents.values()]
        least = max(*pairs, (self.best_of + self.replays + 1) // 2)
        if self.openings.count < least:
            raise ValueError(f"openings.count must be at least {least}: a match plays each opening once")
        return self

    def rated(self, generations: list[int]) -> list[int]:
        """Return the generations, from 1 on, with models that play in the tables."""
        return sorted({*generations[:: self.every], generations[-1]})


def origin_words(params: Mapping[str, Any]) -> str:
    """Return in words how the net began, with the tree of params.yaml; empty if the tree does not say.

    ``from nothing``, or ``from nothing but fours``, whose search finds wins that the net has not learnt.
    """
    section = params.get("gomoku_self_play")
    if not section:
        return ""
    return "from nothing but fours" if section.get("fours") else "from nothing"


def data_words(params: Mapping[str, Any]) -> str:
    """Return in words whose games the nets learn from; empty if the tree of params.yaml does not say."""
    return "its own games" if params.get("gomoku_self_play") else ""


def player_words(params: Mapping[str, Any], best: bool = True) -> str:
    """Return in words the player that the figures are of: the best one, or else the rated models.

    Options that change no move are left out: ``bare net, 64 simulations``. Empty if the tree of params.yaml has no
    section gomoku_evaluate.
    """
    section = params.get("gomoku_evaluate")
    if not section:
        return ""
    given = [section.get("options"), section.get("headline_options") if best else None]
    options = [one for text in given if text for one in text.split(",") if not one.startswith("chunk=")]
    net = "net" if any(one.startswith("solver=") for one in options) else "bare net"
    parts = [
        f"{net} with {' '.join(options)}" if options else net,
        f"{section['simulations']} simulations" if "simulations" in section else "",
        "Gumbel search" if section.get("search") == "gumbel" else "",
        origin_words(params),
    ]
    return ", ".join(filter(None, parts))

"""Messages of the page on what the nets see."""

from typing import Literal

from pipeline_src.web.messages.message import Message

Cells = dict[str, float]
"""Shares by the names of cells; those below 0.0005 are left out."""
Owner = Literal["first", "second", "both"]


class Model(Message):
    """A net that comes with the package, or lies below the server's folders."""

    model: str
    """As requests name it."""
    name: str
    """For people."""
    game: Literal["amazons", "gomoku"]
    group: str
    """Models of one group are of one training; in it they are in the order in which they were made."""
    packaged: bool
    bytes: int
    modified: float
    """Seconds since 1970."""


class Models(Message):
    """All that were found; none has been opened yet."""

    models: tuple[Model, ...]


class NetPosition(Message):
    """A position on a net's board."""

    model: str
    game: Literal["amazons", "gomoku"]
    height: int
    width: int
    variant: str
    moves: tuple[str, ...]
    fen: str
    to_play: Literal["Black", "White"]
    winner: Literal["first", "second", "draw"] | None
    turns: dict[str, dict[str, tuple[str, ...]]]
    """Legal turns of the Amazons, from -> to -> arrows; empty in other games."""
    legal: tuple[str, ...]
    """Legal cells of other games."""
    queen: dict[str, Owner]
    """Amazons: which side reaches each empty square sooner by queen moves (the term t1 of the evaluation)."""
    king: dict[str, Owner]
    """The same by king moves (t2)."""


class Candidate(Message):
    """A move that may be played; in the Amazons the first half of a turn."""

    move: str
    prior: float
    """The net's probability."""
    visits: float
    """Share of the search's visits."""
    value: float | None
    """Win rate of the side to move after it, mean of the search; null without visits."""


class NetView(Message):
    """What a net, and a search guided by it, make of a position."""

    model: str
    win_rate: float
    """Of the side to move, by the net alone."""
    win_rate_searched: float
    """The mean of the search."""
    simulations: int
    policy: Cells
    """Probabilities of the moves' cells; in the Amazons, of the squares where the chosen amazon goes, or any."""
    visits: Cells
    """Shares of the search's visits, likewise."""
    start_policy: Cells
    """Amazons: which amazon moves."""
    start_visits: Cells
    arrow_after: str
    """Amazons: the move ``d1-d7`` after which the arrows are: the one that was asked for, or else the most visited."""
    arrow_policy: Cells
    """Amazons: where the arrow goes after that move."""
    arrow_visits: Cells
    candidates: tuple[Candidate, ...]
    """The most visited moves, then the likeliest."""
    milliseconds: float
    """What the answer took, without loading the model."""

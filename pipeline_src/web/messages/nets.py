"""Messages of the page Nets."""

from typing import Literal

from pipeline_src.web.messages.message import Message

Cells = dict[str, float]
"""Shares by cell name; shares below 0.0005 are left out."""
Owner = Literal["first", "second", "both"]


class Model(Message):
    """A net of the package or of the server's folders."""

    model: str
    """Name of the net in requests."""
    name: str
    """Title to display."""
    game: Literal["amazons", "gomoku"]
    group: str
    """Name of a training. The models of one training are listed in the order in which they were made."""
    packaged: bool
    bytes: int
    modified: float
    """Seconds since 1970."""


class Models(Message):
    """All nets that were found. None has been opened yet."""

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
    """Legal turns of the Amazons: arrows by ``from`` and ``to``; empty in other games."""
    legal: tuple[str, ...]
    """Legal cells of other games."""
    queen: dict[str, Owner]
    """Amazons: the side that reaches each empty square in fewer queen moves (the term t1 of the evaluation)."""
    king: dict[str, Owner]
    """The same for king moves (t2)."""


class Candidate(Message):
    """A move that may be played; in the Amazons the first half of a turn."""

    move: str
    prior: float
    """The net's probability."""
    visits: float
    """Share of the visits of the search."""
    value: float | None
    """Win rate of the side to move if it plays the move, the mean of the search; null without visits."""


class NetView(Message):
    """Policy and value of a net, and of a search guided by it, in a position."""

    model: str
    win_rate: float
    """Win rate of the side to move by the net alone."""
    win_rate_searched: float
    """Mean win rate of the search."""
    simulations: int
    policy: Cells
    """Probabilities of the cells; in the Amazons, of the squares to which the chosen amazon moves, or any amazon."""
    visits: Cells
    """Shares of the visits of the search, for the same cells."""
    start_policy: Cells
    """Amazons: probabilities of the amazon that moves."""
    start_visits: Cells
    arrow_after: str
    """Amazons: the move ``d1-d7`` before the arrows: the requested one, or else the most visited."""
    arrow_policy: Cells
    """Amazons: probabilities of the arrow's square after that move."""
    arrow_visits: Cells
    candidates: tuple[Candidate, ...]
    """The moves with the most visits, then those with the highest probabilities."""
    milliseconds: float
    """Milliseconds of the answer without the loading of the model."""

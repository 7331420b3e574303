"""Requests to a process for moves or values, and its answers: lines of JSON on its stdin and stdout."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline_src.web.messages.message import Message

Ms = Annotated[float, Field(gt=0, le=1e9)]
Unit = Literal["rate", "squares", "points"]
MOST_PLIES = 2_000
MoveText = Annotated[str, Field(min_length=1, max_length=16)]
Moves = Annotated[tuple[MoveText, ...], Field(max_length=MOST_PLIES)]


class Place(Message):
    """A position, as the start of a game and the moves from there."""

    game: Annotated[str, Field(max_length=40)]
    """Game: ``amazons`` or ``gomoku``."""
    size: Annotated[int, Field(ge=3, le=25)]
    """Size of the board of the start position."""
    variant: Annotated[str, Field(max_length=200)]
    """Variant of the rules, such as ``standard`` or ``freestyle``."""
    fen: Annotated[str, Field(max_length=1000)] = ""
    """Start position as a FEN, which replaces size and variant."""
    moves: Moves = ()
    """Moves from the start position as texts: ``d1-d7/g7``, ``h8``."""


class TimeLeft(Message):
    """Clocks of a game for the side to move, in milliseconds."""

    own_ms: float
    other_ms: float
    increment_ms: float


class Task(Message):
    """A move to choose. The first limit reached ends the search; by default the player's own limit or the clock."""

    place: Place
    player: Annotated[str, Field(max_length=500)]
    """Text of the player, see `zugwerk players`."""
    key: str = ""
    """``GAME/SIDE``; players keep separate memories for each."""
    clock: TimeLeft | None = None
    movetime_ms: Ms | None = None
    nodes: Annotated[int, Field(ge=1)] | None = None
    depth: Annotated[int, Field(ge=1, le=96)] | None = None
    infinite: bool = False
    """Search until stopped, or until the search can find no more."""
    lines: Annotated[int, Field(ge=1, le=20)] = 1
    """Number of best moves to report with their lines."""
    only_made: bool = False
    """Only make the player, to check its text and find its board; choose no move."""


class Call(Message):
    """Values to compute, such as the policy and value of a net."""

    function: str
    """``module:function``, a generator function of this package that takes and yields JSON data."""
    arguments: tuple[Any, ...]
    key: str
    """Key of the call. A process that has run a call with this key is preferred, since it has loaded the data."""


class OnlyBoard(Message):
    """The only board of a player, such as that of its net."""

    height: int
    width: int
    variant: str


class ThoughtLine(Message):
    """One of the best moves of a position."""

    moves: tuple[str, ...]
    """The move, with its expected continuation."""
    value: float | None
    """Value to the side to move; null if it is infinite."""
    win_rate: float | None
    """The value as a win rate from 0 to 1."""
    depth: int
    """Depth in plies; for tree searches, length of the line."""
    visits: int | None
    """Simulations of a tree search that began with the move."""


class Thought(Message):
    """Result of a search so far. A player without a search reports nothing."""

    depth: int
    """Depth in plies; for tree searches, of the longest line."""
    nodes: int
    """Positions searched; for tree searches, simulations."""
    seconds: float
    value: float | None
    """Value to the side to move, in ``unit``; null if it is infinite."""
    unit: Unit
    """Unit of the value: ``rate`` from -1 to 1, ``squares`` in the Amazons, ``points`` of Gomoku's evaluations."""
    win_rate: float | None
    """The value as a win rate from 0 to 1: 4 squares, 400 points of Gomoku's engine or 40 of another player are odds of
    e to 1."""
    line: tuple[str, ...]
    """Principal variation, from the best move on."""
    lines: tuple[ThoughtLine, ...] = ()
    """The best moves, as many as the task asks for; one alone from searches that have no more."""


class Chosen(Message):
    """The end of a task."""

    move: str
    """The move; empty for ``only_made``."""
    thought: Thought | None
    only: OnlyBoard | None


class Answer(Message):
    """A line from the child."""

    id: int
    stage: Literal["loading", "thinking"] | None = None
    thought: Thought | None = None
    values: tuple[Any, ...] = ()
    """Next values of a call."""
    chosen: Chosen | None = None
    """The end of a task."""
    ended: bool = False
    """The end of a call."""
    failed: str | None = None
    """Error message that ends the task or call."""

    @property
    def last(self) -> bool:
        """Whether this is the last answer to the task or call."""
        return self.ended or self.chosen is not None or self.failed is not None


class Request(Message):
    """A line to the child: a task, a call, or else a request to stop the task of this id, which still answers."""

    id: int
    task: Task | None = None
    call: Call | None = None

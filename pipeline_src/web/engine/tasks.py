"""What is asked of a process, a move or values, and what comes back: lines of JSON on its stdin and stdout."""

from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline_src.web.messages.message import Message

Ms = Annotated[float, Field(gt=0, le=1e9)]
Unit = Literal["rate", "squares", "points"]
MOST_PLIES = 2_000
MoveText = Annotated[str, Field(min_length=1, max_length=16)]
Moves = Annotated[tuple[MoveText, ...], Field(max_length=MOST_PLIES)]


class Place(Message):
    """A position: where a game began, and the moves from there."""

    game: Annotated[str, Field(max_length=40)]
    """``amazons`` or ``gomoku``."""
    size: Annotated[int, Field(ge=3, le=25)]
    """Of the board of the start position."""
    variant: Annotated[str, Field(max_length=40)]
    """Of the rules, such as ``standard`` or ``freestyle``."""
    fen: Annotated[str, Field(max_length=1000)] = ""
    """Position that the game began with instead, which tells size and variant itself."""
    moves: Moves = ()
    """Moves from there, as texts: ``d1-d7/g7``, ``h8``."""


class TimeLeft(Message):
    """Of a game on a clock, as the side to move sees it; milliseconds."""

    own_ms: float
    other_ms: float
    increment_ms: float


class Task(Message):
    """One move to be chosen, under the first limit that is reached; without any, the player's own or the clock."""

    place: Place
    player: Annotated[str, Field(max_length=500)]
    """Text of the player, `docs/reference/players.md`."""
    key: str = ""
    """``GAME/SIDE``: what a player remembers of one is not seen in another."""
    clock: TimeLeft | None = None
    movetime_ms: Ms | None = None
    nodes: Annotated[int, Field(ge=1)] | None = None
    depth: Annotated[int, Field(ge=1, le=96)] | None = None
    only_made: bool = False
    """Choose no move: make the player, to see whether its text is right and on which board it plays."""


class Call(Message):
    """Values to be computed, such as what a net sees."""

    function: str
    """``module:function``, a generator function of this package that takes and yields what JSON has."""
    arguments: tuple[Any, ...]
    key: str
    """A process that did something of this key before is taken first, with what it has loaded."""


class OnlyBoard(Message):
    """The only board that a player plays on, such as its net's."""

    height: int
    width: int
    variant: str


class Thought(Message):
    """What a search has found so far; a player that does not search reports nothing."""

    depth: int
    """Plies, of a tree search those of the longest line."""
    nodes: int
    """Positions, or simulations of a tree search."""
    seconds: float
    value: float | None
    """To the side to move, in ``unit``; null where it is infinite."""
    unit: Unit
    """Rates go from -1 to 1; squares are the Amazons', points Gomoku's evaluations."""
    win_rate: float | None
    """The value as a chance from 0 to 1: 4 squares, or 400 points, are odds of e to 1."""
    line: tuple[str, ...]
    """The moves that are expected, from the best one on."""


class Chosen(Message):
    """The end of a task."""

    move: str
    """Empty where none was wanted (``only_made``)."""
    thought: Thought | None
    only: OnlyBoard | None


class Answer(Message):
    """A line from the child."""

    id: int
    stage: Literal["loading", "thinking"] | None = None
    thought: Thought | None = None
    values: tuple[Any, ...] = ()
    """The next value of a call."""
    chosen: Chosen | None = None
    """The end of a task."""
    ended: bool = False
    """The end of a call."""
    failed: str | None = None
    """What went wrong; the task or the call is over."""

    @property
    def last(self) -> bool:
        """Whether nothing more is said of this task or call."""
        return self.ended or self.chosen is not None or self.failed is not None


class Request(Message):
    """A line to the child: a task or a call; neither: stop the one of this id, which still answers."""

    id: int
    task: Task | None = None
    call: Call | None = None

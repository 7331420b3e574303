"""Messages of the page Play: games, and the WebSocket of a game."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.engine.tasks import MoveText, OnlyBoard, Place, Thought
from pipeline_src.web.messages.message import Message

PERSON = "person"
Seat = Annotated[str, Field(min_length=1, max_length=500)]
Winner = Literal["first", "second", "draw"]


class Variant(Message):
    """A rule or start position of a game."""

    name: str
    sizes: tuple[int, ...]
    """Sizes of the boards of the variant."""


class PlayerOption(Message):
    """An option of a player."""

    name: str
    """Name in a player's text; ``:MODEL`` is the value after the colon."""
    type: str
    """Type and bounds in words."""
    default: str
    meaning: str


class ListedPlayer(Message):
    """A player of the registry."""

    name: str
    """Name at the start of the player's text."""
    title: str
    """The name, with the options that select this player if several players share the name."""
    with_options: tuple[str, ...]
    """``key`` or ``key=value`` that selects this player; if empty, it has all other texts of the name."""
    meaning: str
    example: str
    options: tuple[PlayerOption, ...]


class GameChoice(Message):
    """A game with its boards, variants and players."""

    game: str
    first: str
    """Name of the side that moves first."""
    second: str
    size: int
    """Size of the usual board."""
    variants: tuple[Variant, ...]
    """Variants. In Gomoku, all but ``renju`` also take a length of the line: ``freestyle-4``."""
    players: tuple[ListedPlayer, ...]
    models: tuple[str, ...]
    """Files below the server's folders that hold nets of this game."""


class Choices(Message):
    """All games that can be played."""

    games: tuple[GameChoice, ...]


class NewGame(Message):
    """A game to begin or to continue."""

    place: Place
    first: Seat = PERSON
    """``person``, or the text of a player."""
    second: Seat = PERSON
    minutes: Annotated[float, Field(gt=0, le=600)] | None = None
    """Time of each side for the whole game; without it, time is not limited."""
    increment_s: Annotated[float, Field(ge=0, le=600)] = 0.0
    """Seconds added after each move."""


class Begun(Message):
    """A game that the server has begun."""

    id: str


class Board(Message):
    """A position to display, with its legal moves."""

    game: str
    fen: str
    height: int
    width: int
    moves: tuple[str, ...]
    """All moves from the start of the game to this position."""
    to_play: Literal[0, 1]
    """Side to move; 0 is the side that moves first."""
    winner: Winner | None
    cells: tuple[str, ...]
    """Gomoku: the legal moves; empty if the game is over."""
    turns: dict[str, dict[str, tuple[str, ...]]]
    """The Amazons: the legal turns, as arrow squares by ``from`` and ``to``."""


class Clocks(Message):
    """Time of both sides."""

    left_ms: tuple[float, float]
    running: Literal[0, 1] | None
    """The side whose clock runs."""


class PlayerCheck(Message):
    """Request to check the text of a player."""

    game: Annotated[str, Field(max_length=40)]
    player: Seat


class Checked(Message):
    """Answer for a valid player."""

    only: OnlyBoard | None
    """The only board of the player; null for a player of several boards."""


class Act(Message):
    """From the page: an action of a person.

    ``move`` plays a move, ``undo`` goes back to the previous turn of a person, ``hint`` asks a player for a move,
    ``resign`` gives up for the person to move, ``stop`` makes the player move at once or ends a hint, and ``pause`` and
    ``go`` stop and resume the players.
    """

    do: Literal["move", "undo", "hint", "resign", "stop", "pause", "go"]
    move: MoveText = "-"
    """Text of a ``move``."""
    ply: Annotated[int, Field(ge=0)] | None = None
    """For ``move``: the number of moves that the page has seen. A move for an older position is refused."""
    player: Seat | None = None
    """For ``hint``: text of the player to ask."""


class GameMessage(Message):
    """To the page: the whole game, at the start and after each change."""

    kind: Literal["game"] = "game"
    id: str
    place: Place
    """Start of the game, without the moves."""
    seats: tuple[str, str]
    board: Board
    ended: Literal["board", "resigned", "time"] | None
    """Reason for the end of the game; null while it goes on."""
    clocks: Clocks | None
    persons_turn: bool
    can_undo: bool
    paused: bool
    thinking: bool
    formats: tuple[str, ...]
    """Suffixes of the files that the game can be saved as."""


class ThoughtMessage(Message):
    """To the page: the state of a player's search, at most ten times a second."""

    kind: Literal["thought"] = "thought"
    purpose: Literal["move", "hint"]
    side: Literal[0, 1]
    thought: Thought | None
    """Report of the search; null if it has just begun."""
    stage: Literal["waiting", "loading", "thinking", "done"]
    before: int = 0
    """Number of searches ahead in the queue for a process, while it waits."""
    hint: str = ""
    """The move, for a hint that is finished."""


class Problem(Message):
    """To the page: an error. The game is unchanged."""

    kind: Literal["problem"] = "problem"
    text: str
    engine: bool = False
    """Whether a player failed; ``go`` asks it again."""

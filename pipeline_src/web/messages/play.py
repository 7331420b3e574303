"""Messages of the page Play: games, and what is said on the WebSocket of one."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.engine.tasks import MoveText, OnlyBoard, Place, Thought
from pipeline_src.web.messages.message import Message

PERSON = "person"
Seat = Annotated[str, Field(min_length=1, max_length=500)]
Winner = Literal["first", "second", "draw"]


class Variant(Message):
    """A rule, or a start position, of a game."""

    name: str
    sizes: tuple[int, ...]
    """Boards that it is played on."""


class PlayerOption(Message):
    """An option of a player."""

    name: str
    """As it stands in a player's text; ``:MODEL`` is what follows the colon without a name."""
    type: str
    """Type and bounds in words."""
    default: str
    meaning: str


class ListedPlayer(Message):
    """A player of the registry."""

    name: str
    """As its text begins."""
    title: str
    """The name, and the options that mean this one where several have the name."""
    with_options: tuple[str, ...]
    """``key`` or ``key=value``: texts with one of them mean this player; empty: all others of the name."""
    meaning: str
    example: str
    options: tuple[PlayerOption, ...]


class GameChoice(Message):
    """A game, and what can be chosen of it."""

    game: str
    first: str
    """Name of the side that moves first."""
    second: str
    size: int
    """Of the usual board."""
    variants: tuple[Variant, ...]
    """Of Gomoku, each but ``renju`` with a length of the line too: ``freestyle-4``."""
    players: tuple[ListedPlayer, ...]
    models: tuple[str, ...]
    """Files below the server's folders that hold nets of this game."""


class Choices(Message):
    """All that can be played."""

    games: tuple[GameChoice, ...]


class NewGame(Message):
    """A game to begin, or to go on with."""

    place: Place
    first: Seat = PERSON
    """``person``, or the text of a player."""
    second: Seat = PERSON
    minutes: Annotated[float, Field(gt=0, le=600)] | None = None
    """Of each side for the whole game; without it, nobody's time is limited."""
    increment_s: Annotated[float, Field(ge=0, le=600)] = 0.0
    """Seconds that are added after each move."""


class Begun(Message):
    """A game that the server has begun."""

    id: str


class Board(Message):
    """A position as a board shows it, and what may be played there."""

    game: str
    fen: str
    height: int
    width: int
    moves: tuple[str, ...]
    """All that led here, from where the game began."""
    to_play: Literal[0, 1]
    """0 is the side that moves first."""
    winner: Winner | None
    cells: tuple[str, ...]
    """Gomoku: the legal moves; none where the game is over."""
    turns: dict[str, dict[str, tuple[str, ...]]]
    """The Amazons: the legal turns, ``from`` to ``to`` to the arrow's squares."""


class Clocks(Message):
    """Both sides' time."""

    left_ms: tuple[float, float]
    running: Literal[0, 1] | None
    """The side whose time runs down."""


class PlayerCheck(Message):
    """A player to be tried."""

    game: Annotated[str, Field(max_length=40)]
    player: Seat


class Checked(Message):
    """A player that can be made."""

    only: OnlyBoard | None
    """None of one that plays on more than one board."""


class Act(Message):
    """From the page: what a person does.

    ``move`` plays one; ``undo`` goes back to the turn of a person before, ``hint`` asks a player for a move to show,
    ``resign`` gives up for the person whose turn it is, ``stop`` has the player move now or ends a hint, ``pause`` and
    ``go`` hold the players and let them go on.
    """

    do: Literal["move", "undo", "hint", "resign", "stop", "pause", "go"]
    move: MoveText = "-"
    """Of ``move``: its text."""
    ply: Annotated[int, Field(ge=0)] | None = None
    """Of ``move``: how many moves the page had seen; a move that comes too late is refused."""
    player: Seat | None = None
    """Of ``hint``: who is asked."""


class GameMessage(Message):
    """To the page: the whole game, after each change and at the beginning."""

    kind: Literal["game"] = "game"
    id: str
    place: Place
    """Where it began, without the moves."""
    seats: tuple[str, str]
    board: Board
    ended: Literal["board", "resigned", "time"] | None
    """Why it is over."""
    clocks: Clocks | None
    persons_turn: bool
    can_undo: bool
    paused: bool
    thinking: bool
    formats: tuple[str, ...]
    """Suffixes of files that it can be saved as."""


class ThoughtMessage(Message):
    """To the page: what a player is thinking, at most ten times a second."""

    kind: Literal["thought"] = "thought"
    purpose: Literal["move", "hint"]
    side: Literal[0, 1]
    thought: Thought | None
    """None: it has just begun."""
    stage: Literal["waiting", "loading", "thinking", "done"]
    before: int = 0
    """Where it waits for a process: how many wait before it."""
    hint: str = ""
    """Of a hint that is done: the move."""


class Problem(Message):
    """To the page: what did not work; the game is as it was."""

    kind: Literal["problem"] = "problem"
    text: str
    engine: bool = False
    """Whether it is a player that failed; ``go`` asks it again."""

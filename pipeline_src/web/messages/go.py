"""Messages about positions of Go in the games below the server's folders."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.engine.tasks import Place
from pipeline_src.web.messages.joseki import Colour
from pipeline_src.web.messages.message import Message


class GoFolder(Message):
    """A folder of the server and the games of Go in it."""

    folder: str
    """Path of the folder; requests name it so."""
    state: Literal["unread", "reading", "ready", "failed"]
    """State of its index. Files are read when a request asks for it; new and changed ones are read again."""
    games: int
    """Games in the index, repeats included; while files are read, those read so far."""
    done: int
    """Files read so far."""
    files: int
    """Files to read, new and changed ones."""
    error: str
    """Reason for a failure; else empty."""
    problems: tuple[str, ...]
    """Why games of some files are not read: the first of the messages."""
    problems_in_all: int


class GoFolders(Message):
    """All folders of the server."""

    folders: tuple[GoFolder, ...]


class GoPosition(Message):
    """A position of Go in question."""

    place: Place
    folder: Annotated[str, Field(max_length=1000)] = ""
    """Folder to search, as in `GoFolder`; empty: the first one."""
    area: Annotated[str, Field(max_length=20)] = ""
    """Part of the board that matters, two of its corners: ``A1-K10``; empty: the whole board."""
    library: Annotated[str, Field(max_length=200)] = ""
    """Joseki library to look the corners up in; empty: the first one."""


class GoNext(Message):
    """A move played in the position, on one of the points that matter, in the colours of the position."""

    colour: Colour
    points: tuple[str, ...]
    """Points such as ``D4``; several if symmetries of the position take one to the other."""
    played: int
    black_won: int
    """How many of these games the side won that is Black in the position."""
    white_won: int
    after_elsewhere: int
    """How many times a move elsewhere, or a pass, came first."""


class GoFoundIn(Message):
    """A game that has the position."""

    source: str
    """Name of the file in requests to open it; empty for a game in a tar."""
    name: str
    """Path of the file below its folder."""
    number: int
    """Number of the game in its file."""
    ply: int
    """Moves played before the position."""
    first_name: str
    second_name: str
    event: str
    winner: Literal["first", "second", "draw"] | None
    next: int
    """Index of the next move in `GoFound.next`; -1 if it is not listed, or if there is none."""


class GoFound(Message):
    """Result of a search, in any symmetry and in either colour."""

    games: int
    """Number of games that have the position."""
    searched: int
    """Games on boards of this size, repeats counted once."""
    occurrences: int
    black_won: int
    """How many occurrences are in games that the side won that is Black in the position."""
    white_won: int
    ended: int
    """Occurrences without a next move on the points that matter."""
    next: tuple[GoNext, ...]
    """The most frequent next moves."""
    next_in_all: int
    found: tuple[GoFoundIn, ...]
    """Some of the occurrences, by file: the first ones of each next move."""

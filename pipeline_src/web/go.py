"""Routes of positions of Go: where they occur in the games below the server's folders.

The games of a folder are read in a thread, into the index that ``zugwerk go find`` uses too.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.engine import Message, Place

if TYPE_CHECKING:
    from pipeline_src.records.go_index import Growth, Index


Colour = Literal["Black", "White"]


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


MOST_NEXT, MOST_FOUND, MOST_PROBLEMS = 60, 200, 5

router = APIRouter(prefix="/api/go", tags=["go"])


class _Folder:
    """A folder and the index of its games, which a thread reads."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.index: Index | None = None
        self.error = ""
        self._growth: Growth | None = None
        self._reading = threading.Lock()

    def read(self) -> None:
        """Begin to read new files, unless that is under way."""
        if self._reading.acquire(blocking=False):
            self.error, self._growth = "", None
            threading.Thread(target=self._read, name="go-index", daemon=True).start()

    def _read(self) -> None:
        from pipeline_src.records.go_index import default_path, update

        try:
            self.index = update(default_path(self.root), self.root, self._tell)
        except Exception as error:
            self.error = str(error) or type(error).__name__
        finally:
            self._reading.release()

    def _tell(self, growth: "Growth") -> None:
        self._growth = growth

    def about(self) -> GoFolder:
        """Return the state of the index."""
        reading, growth = self._reading.locked(), self._growth
        if reading or self.index is None:
            problems, games = list[str](), growth.games if growth else 0
        else:
            problems, games = self.index.problems(), len(self.index.games)
        return GoFolder(
            folder=str(self.root),
            state="reading" if reading else "failed" if self.error else "ready" if self.index else "unread",
            games=games,
            done=growth.done if growth else 0,
            files=growth.files if growth else 0,
            error=self.error,
            problems=tuple(problems[:MOST_PROBLEMS]),
            problems_in_all=len(problems),
        )


_KNOWN: dict[Path, _Folder] = {}


def _folder(request: Request, name: str) -> _Folder:
    folders = request.app.state.settings.folders
    chosen = next((one for one in folders if not name or str(one) == name), None)
    if chosen is None:
        there = ", ".join(map(str, folders)) or "none"
        raise ZugwerkError(f"no such folder as {name[:200]!r} on this server; there are: {there}")
    return _KNOWN.setdefault(chosen, _Folder(chosen))


@router.get("/folders")
def folders(request: Request) -> GoFolders:
    """List the folders and the states of their indexes."""
    return GoFolders(folders=tuple(_folder(request, str(one)).about() for one in request.app.state.settings.folders))


@router.post("/read")
def read(request: Request) -> GoFolders:
    """Begin to read the new and changed files of all folders."""
    for one in request.app.state.settings.folders:
        _folder(request, str(one)).read()
    return folders(request)


@router.post("/find")
def find(request: Request, wanted: GoPosition) -> GoFound:
    """Find a position, or a part of it, in the games of a folder."""
    from pipeline_src.games.rules import to_play
    from pipeline_src.records.go_find import find as find_in
    from pipeline_src.records.go_find import part_of

    index, state = _folder(request, wanted.folder).index, state_at(wanted.place)
    if index is None:
        raise ZugwerkError("the games of this folder are not read yet")
    pattern, size = part_of(state.board, wanted.area) if wanted.area else state.board, len(state.board)
    found = find_in(index, pattern, to_play(state))
    listed = found.continuations[:MOST_NEXT]
    moves = [
        GoNext(**{**one._asdict(), "colour": ("Black", "White")[one.colour], "points": _points(one.points, size)})
        for one in listed
    ]
    return GoFound(
        games=found.games,
        searched=found.searched,
        occurrences=len(found.chosen),
        black_won=found.black_won,
        white_won=found.white_won,
        ended=found.ended,
        next=tuple(moves),
        next_in_all=len(found.continuations),
        found=tuple(_found_in(index, found, place) for place in _spread(found.chosen)),
    )


def state_at(place: Place) -> Any:
    """Return the state after the moves of a place (`ZugwerkError`: not Go, a bad start, or an illegal move)."""
    from pipeline_src.web.game import began, played

    if place.game != "go":
        raise ZugwerkError(f"positions of Go are looked up, not of {place.game}")
    return played(*began(place), place.moves)[1]


def _points(points: tuple[int, ...], size: int) -> tuple[str, ...]:
    from pipeline_src.games.go import format_move

    return tuple(format_move(point, size, size) for point in points)


def _spread(chosen: Any) -> list[int]:
    """Return which occurrences to list: the first with each next move, then the second ones, as many as fit."""
    import numpy as np

    order = np.argsort(chosen, kind="stable")
    turn = np.empty(len(chosen), np.int64)
    turn[order] = np.arange(len(chosen)) - np.searchsorted(chosen[order], chosen[order])
    return sorted(np.argsort(turn, kind="stable")[:MOST_FOUND].tolist())


def _found_in(index: "Index", found: Any, place: int) -> GoFoundIn:
    where, chosen = index.where(int(found.occurrences.game[place])), int(found.chosen[place])
    return GoFoundIn(
        source="" if where.member else f"file:{where.path}",
        name=where.member or where.path.relative_to(index.root).as_posix(),
        number=where.number,
        ply=int(found.occurrences.ply[place]),
        first_name=where.first_name[:100],
        second_name=where.second_name[:100],
        event=where.event[:100],
        winner=(None, "first", "second", "draw")[where.winner],
        next=chosen if chosen < MOST_NEXT else -1,
    )

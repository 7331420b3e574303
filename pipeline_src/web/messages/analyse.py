"""Messages of the page Analyse."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.messages.message import Message

GameName = Literal["amazons", "gomoku", "go"]
Winner = Literal["first", "second", "draw"]


class RecordFile(Message):
    """A file with games below the server's folders."""

    source: str
    """Name of the file in requests."""
    name: str
    """Path below its folder."""
    bytes: int
    modified: float
    """Seconds since 1970."""


class RecordFiles(Message):
    """Files that can be opened."""

    files: tuple[RecordFile, ...]
    """The files by name; journals of matches first, with the newest at the top."""
    left_out: int
    """Number of files that are not listed."""


class Opened(Message):
    """The answer to an upload."""

    source: str
    """Name of the upload in requests. The server keeps some uploads in memory and drops the oldest first."""
    name: str
    games: int


class GameHead(Message):
    """A game in a list."""

    number: int
    """Number of the game in the file (gid)."""
    game: str
    first_name: str
    second_name: str
    winner: Winner | None
    resigned: bool
    plies: int
    event: str


class Games(Message):
    """A page of the games of a file."""

    source: str
    name: str
    games: tuple[GameHead, ...]
    first: int
    """Index of the first listed game in the file, from 0."""
    games_in_all: int
    rejects: tuple[str, ...]
    """Why the other records of the file are no games: the first of them."""
    rejects_in_all: int


class Ply(Message):
    """A move of a game."""

    move: str
    fen: str
    """The position after it."""


class Replay(Message):
    """A whole game, move by move."""

    source: str
    name: str
    """Name of the file."""
    head: GameHead
    variant: str
    height: int
    width: int
    fen: str
    """The position before the first move."""
    plies: tuple[Ply, ...]
    illegal: str
    """Error message for the first illegal move, at which the game is cut; empty if all moves are legal."""
    analysts: tuple[str, ...]
    """Texts of the players that can analyse the game; empty for games without players in this package."""


class AnalysisRequest(Message):
    """First message on the WebSocket ``/api/analyse/watch``: a game to analyse. The analysis ends with the socket."""

    source: Annotated[str, Field(max_length=1000)]
    number: int
    player: Annotated[str, Field(min_length=1, max_length=300)]
    """Text of a player that searches, e.g. ``alphabeta`` or ``engine:threats=0``."""
    movetime: Annotated[float, Field(ge=1, le=60_000)] = 100.0
    """Milliseconds per position."""


class PlyAnalysis(Message):
    """Analysis of one position of a game."""

    kind: Literal["ply"] = "ply"
    ply: int
    """Number of moves played before the position."""
    win_rate: float
    """Win rate of the side that moved first in the game, 0 to 1."""
    value: float | None
    """Value of the search for the side to move, in the player's unit; null if the game is over."""
    depth: int
    nodes: int
    line: tuple[str, ...]
    """Principal variation; its first move is the best one. Empty if the game is over."""
    lost: float | None
    """Win rate lost by the move before this position; null at the start, or if the position before is not analysed."""


class AnalysisState(Message):
    """Progress of an analysis."""

    kind: Literal["state"] = "state"
    state: Literal["waiting", "preparing", "running", "done", "failed"]
    """State of the analysis; it waits while all processes of the server are busy."""
    done: int
    """Number of positions analysed."""
    positions: int
    """Number of positions of the game, including the one after the last move."""
    error: str
    """Reason for a failure; else empty."""


class ExportRequest(Message):
    """Request for a game as an annotated record, with an analysis that the server has."""

    source: Annotated[str, Field(max_length=1000)]
    number: int
    analyses: Annotated[tuple[AnalysisRequest, ...], Field(max_length=2)] = ()
    """The analyses to write as comments."""


class Exported(Message):
    """An annotated record."""

    name: str
    """Suggested file name."""
    text: str
    """The record as SGF with the analysis in comments: GM[18] is the Amazons, GM[4] Gomoku, GM[1] Go."""

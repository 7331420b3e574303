"""Messages of the page Analyse."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.messages.message import Message

GameName = Literal["amazons", "gomoku", "go"]
Winner = Literal["first", "second", "draw"]


class RecordFile(Message):
    """A file with games below the server's folders."""

    source: str
    """As requests name it."""
    name: str
    """Path below its folder."""
    bytes: int
    modified: float
    """Seconds since 1970."""


class RecordFiles(Message):
    """Files that can be opened."""

    files: tuple[RecordFile, ...]
    """By name; journals of matches first, the newest before the others."""
    left_out: int
    """How many more there are."""


class Opened(Message):
    """What an upload has become."""

    source: str
    """As requests name it; the server keeps some uploads in memory, the oldest go first."""
    name: str
    games: int


class GameHead(Message):
    """A game in a list."""

    number: int
    """Its number in the file (gid)."""
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
    """Place of the first one in the file, from 0."""
    games_in_all: int


class Ply(Message):
    """A move of a game."""

    move: str
    fen: str
    """The position after it."""


class Replay(Message):
    """A whole game, move by move."""

    source: str
    name: str
    """Of the file."""
    head: GameHead
    variant: str
    height: int
    width: int
    fen: str
    """The position before the first move."""
    plies: tuple[Ply, ...]
    illegal: str
    """What is wrong with the first illegal move, where the game is cut; else empty."""
    analysts: tuple[str, ...]
    """Players that can analyse the game, as texts; none for games that no player of this package knows."""


class AnalysisRequest(Message):
    """First message on the WebSocket ``/api/analyse/watch``: what to analyse. Closing the socket ends the analysis."""

    source: Annotated[str, Field(max_length=1000)]
    number: int
    player: Annotated[str, Field(min_length=1, max_length=300)]
    """Text of a player that searches, e.g. ``alphabeta`` or ``engine:threats=0``."""
    movetime: Annotated[float, Field(ge=1, le=60_000)] = 100.0
    """Milliseconds a position."""


class PlyAnalysis(Message):
    """What a player makes of one position of a game."""

    kind: Literal["ply"] = "ply"
    ply: int
    """Moves played before it."""
    win_rate: float
    """Of the side that moved first in the game, 0 to 1."""
    value: float | None
    """The search's own value for the side to move, in its own unit; null where the game is over."""
    depth: int
    nodes: int
    line: tuple[str, ...]
    """Best line; its first move is the best one. Empty where the game is over."""
    lost: float | None
    """Win rate that the move before this position gave away; null at the start, or where that one is not analysed."""


class AnalysisState(Message):
    """How far an analysis is."""

    kind: Literal["state"] = "state"
    state: Literal["waiting", "preparing", "running", "done", "failed"]
    """It waits where all processes of the server think for others."""
    done: int
    """Positions analysed."""
    positions: int
    """All of the game, that after the last move included."""
    error: str
    """Why it failed; else empty."""


class ExportRequest(Message):
    """Which game to write as an annotated record, with which of the analyses that the server has."""

    source: Annotated[str, Field(max_length=1000)]
    number: int
    analyses: Annotated[tuple[AnalysisRequest, ...], Field(max_length=2)] = ()
    """Those whose results are wanted as comments."""


class Exported(Message):
    """An annotated record."""

    name: str
    """Proposed name of the file."""
    text: str
    """SGF: GM[18] is the Amazons, GM[4] Gomoku, GM[1] Go; the comments have the analysis."""

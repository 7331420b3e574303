"""Messages of the page Analyse."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.engine.pool import Place, Thought
from pipeline_src.web.messages import Message

GameName = Literal["amazons", "gomoku", "go"]
MOST_NODES = 5_000  # Largest number of positions of a tree of variations
MOST_LETTERS = 20_000  # Largest length of a comment
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


class Judgement(Message):
    """A player's judgement of a position, to be written as a comment."""

    player: str
    movetime: float | None = None
    """Milliseconds that the player had; null if it searched until it was stopped."""
    win_rate: float
    """Win rate of the side that moved first in the game, 0 to 1."""
    depth: int
    nodes: int
    line: tuple[str, ...]
    """Principal variation, from the best move on."""
    lost: float | None = None
    """Win rate lost by the move that leads to the position."""


class TreeNode(Message):
    """A position of a tree of variations, as the move that leads to it."""

    parent: Annotated[int, Field(ge=0)]
    """Number of the position that the move is played in: 0 is the start, k the k-th entry of the list."""
    move: Annotated[str, Field(min_length=1, max_length=16)]
    name: Annotated[str, Field(max_length=200)] = ""
    comment: Annotated[str, Field(max_length=MOST_LETTERS)] = ""
    judgements: Annotated[tuple[Judgement, ...], Field(max_length=4)] = ()


class Tree(Message):
    """A game with variations. The first of the moves played in a position continues the main line."""

    place: Place
    """Start position; its moves begin the main line, before those of ``nodes``."""
    nodes: Annotated[tuple[TreeNode, ...], Field(max_length=MOST_NODES)] = ()
    comment: Annotated[str, Field(max_length=MOST_LETTERS)] = ""
    """Comment on the start position."""
    judgements: Annotated[tuple[Judgement, ...], Field(max_length=4)] = ()
    """Judgements of the start position."""
    first_name: Annotated[str, Field(max_length=200)] = ""
    second_name: Annotated[str, Field(max_length=200)] = ""
    event: Annotated[str, Field(max_length=4_000)] = ""
    winner: Winner | None = None
    resigned: bool = False


class Pasted(Message):
    """A position or moves as text."""

    place: Place
    """Board for moves without a position, and the game."""
    text: Annotated[str, Field(max_length=20_000)]
    """A FEN, or moves from the start position, such as ``h8 i9`` or ``1. d1-d7/g7 a7-f2/i5``."""


class DrawnNode(TreeNode):
    """A position of a tree of variations, to be shown."""

    fen: str


class Replay(Message):
    """A game with its variations."""

    source: str = ""
    """Name of the file in requests; empty for a game that is in no file."""
    name: str = ""
    """Name of the file."""
    head: GameHead
    place: Place
    """Start position, with its text in ``fen`` and without moves."""
    height: int
    width: int
    comment: str
    """Comment on the start position."""
    nodes: tuple[DrawnNode, ...]
    """All positions but the start, each after the one that it is played in; the main line first."""
    left_out: tuple[str, ...] = ()
    """Error messages for illegal moves of the file, which are left out with all that follows them."""
    analysts: tuple[str, ...]
    """Texts of the players that can analyse the game; empty for games without players in this package."""
    formats: tuple[str, ...]
    """Formats in which a tree from this start can be exported."""


class AnalysisRequest(Message):
    """First message on the WebSocket ``/api/analyse/watch``: a line to analyse. The analysis ends with the socket."""

    place: Place
    """Start position and moves."""
    player: Annotated[str, Field(min_length=1, max_length=300)]
    """Text of a player that searches, e.g. ``alphabeta`` or ``engine:threats=0``."""
    movetime: Annotated[float, Field(ge=1, le=60_000)] = 100.0
    """Milliseconds per position."""


class ThinkRequest(Message):
    """On the WebSocket ``/api/analyse/think``: a position to think about until the next one, or until it is closed."""

    number: Annotated[int, Field(ge=0)]
    """Number of the request, which the answers repeat."""
    place: Place
    player: Annotated[str, Field(min_length=1, max_length=300)]
    """Text of a player that searches."""
    lines: Annotated[int, Field(ge=1, le=10)] = 3
    """Number of best moves to report."""


class Thinking(Message):
    """Thoughts of a player about a position so far, at most twelve times a second."""

    kind: Literal["thinking"] = "thinking"
    number: int
    state: Literal["waiting", "loading", "thinking", "done", "failed"]
    """State of the search; it waits while all processes of the server are busy."""
    thought: Thought | None = None
    error: str = ""
    """Reason for a failure; else empty."""


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
    """Request for a tree as a file."""

    tree: Tree
    format: Literal["sgf", "psq", "txt"] = "sgf"
    """``sgf`` has variations, names and comments; ``psq`` (Gomoku) and ``txt`` (LittleGolem) have the main line."""
    name: Annotated[str, Field(max_length=200)] = "game"
    """Name of the file without its suffix."""


class Exported(Message):
    """A tree as a file."""

    name: str
    """Suggested file name."""
    text: str
    """The contents. In SGF, GM[18] is the Amazons, GM[4] Gomoku, GM[1] Go."""


class ForcedWin(Message):
    """A position of Gomoku in which the side to move wins by force."""

    number: int
    """Place in the collection, from 1."""
    place: Place
    plies: int
    """Length of the proven line."""


class ForcedWins(Message):
    """The collection of forced wins that comes with the package."""

    wins: tuple[ForcedWin, ...]


class ForcedLine(Message):
    """A proven win of the side to move."""

    moves: tuple[str, ...]
    """The winning line; empty if no win is proven."""


class ForcedAnswer(Message):
    """Fate of a forced win after a move."""

    state: Literal["won", "holds", "spoilt"]
    """``won``: the move ends the game. ``holds``: a win is proven against every answer. ``spoilt``: not against one."""
    answer: str = ""
    """The answer that spoils the win, or else the one that holds out longest; empty at the end of the game."""
    plies: int = 0
    """For ``holds``: length of the line that wins after the answer."""

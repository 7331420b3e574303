"""Messages between the server and the pages Play, Analyse and Nets, as models; `go` and `joseki` have their own.

`GET /api/openapi.json` describes all of them.
"""

import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from pipeline_src.web.engine import Message, MoveText, OnlyBoard, Place, Thought

if TYPE_CHECKING:
    from fastapi import WebSocket

BURST, A_SECOND = 40, 20  # Largest number of messages that a tab may send at once, and per second on average
FLOOD = 4008  # Code that closes the WebSocket of a page that sends more
MOST_NODES = 5_000  # Largest number of positions of a tree of variations
MOST_LETTERS = 20_000  # Largest length of a comment
PERSON = "person"
Seat = Annotated[str, Field(min_length=1, max_length=500)]
Winner = Literal["first", "second", "draw"]
Ending = Literal["board", "resigned", "time", "agreed"]
OpeningKind = Literal["", "balanced", "swap", "swap2"]
Cells = dict[str, float]  # Shares by cell name; shares below 0.0005 are left out
Owner = Literal["first", "second", "both"]
Choice = Literal["swap", "stay", "place"]


async def received(socket: "WebSocket") -> AsyncIterator[str]:
    """Yield the messages of a page, which may send `BURST` at once and `A_SECOND` per second on average.

    One of bytes, which no page sends, is an empty text. The socket of a page that sends more is closed.

    Raises:
        WebSocketDisconnect: the page is gone.
        RuntimeError: the socket was closed from here.
    """
    left, at = float(BURST), time.monotonic()
    while True:
        try:
            text = await socket.receive_text() or ""
        except KeyError:  # Starlette takes it for granted that there is text
            text = ""
        now = time.monotonic()
        left, at = min(BURST, left + A_SECOND * (now - at)) - 1, now
        if left < 0:
            await socket.close(FLOOD, "this page sent too many messages; reload it")
            return
        yield text


def reason(error: ValidationError) -> str:
    """Return what is wrong with a message: its first field that is not as the model has it, and why."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'message'}: {first['msg']}"[:500]


# Messages of the page Play: games, and the WebSocket of a game.


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


class LevelChoice(Message):
    """An opponent of measured strength."""

    name: str
    elo: float
    low: float
    """Lower end of the 95 % interval of its Elo."""
    high: float
    """Upper end of it."""
    games: int


class LadderChoice(Message):
    """The levels of a board, the weakest first: the players ``level:1``, ``level:2`` and so on."""

    size: int
    """Size of the board that their Elo was measured on."""
    sizes: tuple[int, ...]
    """Sizes of all boards that have these levels."""
    variant: str
    levels: tuple[LevelChoice, ...]


class NetBoard(Message):
    """The board that a net of a game in one file was made for."""

    size: int
    variant: str


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
    ladders: tuple[LadderChoice, ...]
    """Opponents of measured strength, by board; other boards have none."""
    players: tuple[ListedPlayer, ...]
    models: tuple[str, ...]
    """Files below the server's folders that hold nets of this game."""
    rules: str = ""
    """The rules in words, of a game in one file."""
    boards: dict[str, NetBoard] = Field(default_factory=dict)
    """The only board of each of ``models``, of a game in one file."""


class Choices(Message):
    """All games that can be played."""

    games: tuple[GameChoice, ...]


class NewGame(Message):
    """A game to begin or to continue."""

    place: Place
    first: Seat = PERSON
    """``person``, or the text of a player."""
    second: Seat = PERSON
    opening: OpeningKind = ""
    """Gomoku from the empty board: ``balanced`` begins with three level stones; in ``swap`` and ``swap2`` the first
    seat places three stones, and then the seats choose colours."""
    minutes: Annotated[float, Field(gt=0, le=600)] | None = None
    """Time of each side for the whole game; without it, time is not limited."""
    increment_s: Annotated[float, Field(ge=0, le=600)] = 0.0
    """Seconds added after each move."""


class Begun(Message):
    """A game that the server has begun."""

    id: str


class Plain(Message):
    """Board and moves of a game in one file, whose rules no page knows."""

    look: Literal["points", "squares", "hexagons"]
    stones: dict[str, Literal["x", "o", "X", "O", "#"]]
    """Cells that are not empty: ``x`` is the first side's, ``o`` the second's, ``#`` nobody's; ``X`` and ``O`` are
    further kinds of pieces."""
    picks: dict[str, str]
    """The legal moves by the cells that choose them, ``d4`` or ``d2-d3``, or by ``pass``."""
    last: str
    """Cells of the last move; empty at the start."""


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
    line: tuple[str, ...]
    """Gomoku: the stones of the line that has won."""
    forbidden: dict[str, str]
    """Renju: the points that are forbidden to Black, whoever is to move, each with the reason."""
    threats: tuple[dict[str, Literal[3, 4, 5]], dict[str, Literal[3, 4, 5]]]
    """Gomoku: by side, the points where its stone makes a winning line (5), a four that nothing stops (4), or an open
    three (3), which such a four follows."""
    plain: Plain | None = None
    """Pieces and moves of a game in one file."""


class Squares(Message):
    """Empty squares of one side in the Amazons."""

    settled: tuple[str, ...]
    """Squares that its amazons alone can reach."""
    nearer: tuple[str, ...]
    """Squares open to both sides that it reaches in fewer moves, by queen moves."""


class Counted(Message):
    """The result of a position of the Amazons in which each side has squares of its own only."""

    winner: Literal["first", "second"]
    spare: int
    """Turns that the winner could waste, at least."""


class Territory(Message):
    """Empty squares of both sides in a position of the Amazons."""

    first: Squares
    second: Squares
    counted: Counted | None
    """The result, if no square is open to both sides and counting decides it; else null."""


class OpeningStep(Message):
    """The next thing to do in the opening of a game of Gomoku."""

    seat: Literal[0, 1] | None
    """The seat that has to do it; null if the server places level stones."""
    stones: int
    """Number of stones to place, black and white in turn; 0 if a colour is to be chosen."""
    may_place: bool = False
    """Whether two more stones may be placed in place of a choice."""


class Clocks(Message):
    """Time of both sides."""

    left_ms: tuple[float, float]
    running: Literal[0, 1] | None
    """The side whose clock runs."""


class PlayerCheck(Message):
    """Request to check the text of a player."""

    game: Annotated[str, Field(max_length=200)]
    player: Seat


class Checked(Message):
    """Answer for a valid player."""

    only: OnlyBoard | None
    """The only board of the player; null for a player of several boards."""


class Judge(Message):
    """Request to judge a move before it is played."""

    place: Place
    move: MoveText


class Judged(Message):
    """Judgement of a quick analysis on a move."""

    win_rates: tuple[float, float]
    """Win rate of the side that moves first in the game, 0 to 1, before and after the move."""
    lost: float
    """Win rate that the move gives away; 0 for the analysis's own move."""
    line: tuple[str, ...]
    """Principal variation before the move, from the best move on."""


class Act(Message):
    """From the page: an action of a person.

    ``move`` plays a move, ``undo`` goes back to the previous turn of a person, ``hint`` asks a player for a move,
    ``resign`` gives up for the person to move, ``agree`` ends a game of the Amazons that is ``counted``, ``stop`` makes
    the player move at once or ends a hint, and ``pause`` and ``go`` stop and resume the players. In the opening of a
    game of Gomoku, ``choose`` makes a choice, and ``balance`` places level stones for the person.
    """

    do: Literal["move", "undo", "hint", "resign", "agree", "choose", "balance", "stop", "pause", "go"]
    move: MoveText = "-"
    """Text of a ``move``."""
    ply: Annotated[int, Field(ge=0)] | None = None
    """For ``move``: the number of moves that the page has seen. A move for an older position is refused."""
    player: Seat | None = None
    """For ``hint``: text of the player to ask."""
    choice: Choice = "stay"
    """For ``choose``: ``swap`` takes Black, ``stay`` White, and ``place`` places two more stones."""


class GameMessage(Message):
    """To the page: the whole game, at the start and after each change."""

    kind: Literal["game"] = "game"
    id: str
    place: Place
    """Start of the game, without the moves."""
    seats: tuple[str, str]
    levels: tuple[str, str]
    """The seats' levels in words, such as ``Level 5, strong club player, about 1,500``; empty for other players."""
    board: Board
    ended: Ending | None
    """Reason for the end of the game; null before it."""
    opening: OpeningStep | None
    """The next thing to do in the opening; null once the game is under way."""
    counted: Counted | None
    """The Amazons: the result that can be agreed on before the end of the game; null if there is none yet."""
    clocks: Clocks | None
    persons_turn: bool
    can_undo: bool
    paused: bool
    thinking: bool
    formats: tuple[str, ...]
    """Suffixes of the files that the game can be saved as."""


class ThoughtMessage(Message):
    """To the page: the state of a player's search, at most twelve times a second."""

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


# Messages of the page Analyse.


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
    date: Annotated[str, Field(pattern=r"^(\d{4}-\d\d-\d\d)?$")] = ""
    """Day of the game, for DT in SGF."""


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
    sides: tuple[int, ...] = ()
    """Side to move at the start and in each of ``nodes``, of a game in one file; no page reads its positions."""
    look: str | None = None
    """Look of the board, of a game in one file."""
    analysts: tuple[str, ...]
    """Texts of the players that can analyse the game; empty for games without players in this package."""
    formats: tuple[str, ...]
    """Formats in which a tree from this start can be exported."""


class AnalysisRequest(Message):
    """A line to analyse: first message on the WebSocket ``/api/analyse/watch``, with which the analysis ends."""

    place: Place
    """Start position and moves."""
    player: Annotated[str, Field(min_length=1, max_length=300)]
    """Text of a player that searches, e.g. ``alphabeta`` or ``engine:threats=0``."""
    nodes: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    """Nodes per position, simulations of a tree search; by default 50,000 nodes or 400 simulations."""
    first: Annotated[int, Field(ge=0)] = 0
    """Number of moves before the first position to analyse."""


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
    budget: int
    """Nodes or simulations that the search was allowed."""


class Analysed(Message):
    """Answer to a request for an analysis."""

    positions: tuple[PlyAnalysis, ...]
    """The positions from ``first`` on, in the order of the game."""


class AnalysisState(Message):
    """Progress of an analysis."""

    kind: Literal["state"] = "state"
    state: Literal["waiting", "preparing", "running", "done", "failed"]
    """State of the analysis; it waits while all processes of the server are busy."""
    done: int
    """Number of positions analysed."""
    positions: int
    """Number of positions to analyse, including the one after the last move."""
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


# Messages of the page Nets.


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

"""Messages of the joseki page."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.engine.pool import Place
from pipeline_src.web.messages import Message

Colour = Literal["Black", "White"]


class LibraryFile(Message):
    """A joseki library of this server."""

    name: str
    """File name without the suffix; requests give it as ``library``."""
    games: int
    """Number of games in the library."""
    patterns: int
    transitions: int
    fewest_games: int
    """Least number of games of a move in the library: rarer moves were dropped; 1 if none were."""


class Libraries(Message):
    """All libraries; the first one is the default."""

    libraries: tuple[LibraryFile, ...]
    problems: tuple[str, ...]
    """Errors of files that cannot be read."""


class Occurrence(Message):
    """A place in the records where a move was played."""

    gid: int
    """Number of the game in ``records/joseki/games.parquet``."""
    ply: int
    """Number of moves played before it."""


class Continuation(Message):
    """A continuation of a corner's pattern by the side to move: a move in the corner, or a move elsewhere."""

    corner: int
    """Corner: 0 top left, 1 top right, 2 bottom left, 3 bottom right."""
    points: tuple[str, ...]
    """Points of the board such as ``D4``, two in a pattern that is its own mirror image; empty for a move elsewhere."""
    played: int
    """Number of times it was played, in all symmetries of the pattern."""
    share: float
    """Share of all continuations of this side in the pattern, 0 to 1."""
    share_low: float
    """Lower end of the share's 95 % interval."""
    won: int
    """Number of games that the side to move won."""
    lost: int
    """Number of games that the other side won; draws and unknown results count as neither."""
    win_rate: float | None
    """Win rate of the side to move, 0 to 1; null if no result is known."""
    win_rate_low: float | None
    """Ends of the win rate's 95 % interval."""
    win_rate_high: float | None
    games: tuple[Occurrence, ...]
    """Some games with this continuation."""


class Corner(Message):
    """The pattern of one corner of the position."""

    name: str
    known: bool
    """Whether the library has the pattern."""
    seen: int
    """Number of times that a local move led to the pattern, in all symmetries."""
    pattern: str
    """Stones as text, ``X 3,5 4,4 O 3,6``: distances from the corner's two borders, X black."""
    code: str
    """Pattern code S of the paper, a whole number up to 2^64 as text."""
    key: str
    """Exact key, hex digits; the same in all symmetries, different for any two other patterns."""


class JosekiPosition(Message):
    """A position of Go on 19x19 and what the library knows about it."""

    moves: tuple[str, ...]
    """Moves played so far, including ``pass``, Black first."""
    fen: str
    """The position as text; its first word has the ranks from the top one down, ``x`` black, ``o`` white."""
    to_play: Colour
    forbidden: tuple[str, ...]
    """Empty points where the side to move may not play."""
    corners: tuple[Corner, ...]
    """The four corners, in the order of `Continuation.corner`."""
    continuations: tuple[Continuation, ...]
    """Continuations of all corners, by the lower end of the share's interval; moves elsewhere come last."""
    continuations_in_all: int
    """Number of entries before the list was cut."""


class Pattern(Message):
    """A pattern of the library."""

    board: tuple[str, ...]
    """Ten lines of ten points in the corner's frame, the first line on top: ``x``, ``o``, ``.``."""
    pattern: str
    """The pattern as text."""
    key: str
    seen: int
    is_asked: bool
    """Whether it is the pattern of the requested corner."""


class Factors(Message):
    """Factors of the paper's code of a set of points: K = A * B + C, modulo 2^64; numbers as text."""

    a: str
    """Neighbour code."""
    b: str
    """Row-column code."""
    c: str
    """Outline code."""
    k: str


class CodeOfCorner(Message):
    """Pattern code of a corner, and the patterns of the library with the same code."""

    corner: int
    code: str
    black: Factors
    white: Factors
    both: Factors
    """Factors for the stones of both colours together; the code is the product of the three K."""
    patterns: tuple[Pattern, ...]
    """Patterns with this code, the most frequent first; more than one is a clash."""
    patterns_in_all: int
    """Number of entries before the list was cut."""


class Clash(Message):
    """Different patterns with one code."""

    code: str
    patterns: tuple[Pattern, ...]


class Clashes(Message):
    """Clashes of the paper's code in a library."""

    patterns: int
    """Number of patterns in the library."""
    clashing: int
    """Number of patterns that share their code with another pattern."""
    clashes: tuple[Clash, ...]
    """Some of the clashes, those of the most frequent patterns first."""


class JosekiGame(Message):
    """A game of the library."""

    gid: int
    source_file: str
    """Archive of the game, as the page Analyse names it."""
    event: str
    source: str
    """Source: ``engine`` (made games and games of our engines), ``littlegolem`` or ``file``."""
    first_name: str
    """Black."""
    second_name: str
    winner: Literal["first", "second", "draw"] | None
    resigned: bool
    moves: tuple[str, ...]


# Messages about positions of Go in the games below the server's folders.


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


# Messages of the page Nets.


Cells = dict[str, float]  # Shares by cell name; shares below 0.0005 are left out
Owner = Literal["first", "second", "both"]


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

"""Messages of the joseki page."""

from typing import Literal

from pipeline_src.web.messages.message import Message

Colour = Literal["Black", "White"]


class LibraryFile(Message):
    """A joseki library of this server."""

    name: str
    """Its file's name without the ending, as ``library`` in requests has it."""
    games: int
    """Games that it counted."""
    patterns: int
    transitions: int
    fewest_games: int
    """Moves of fewer games were dropped; 1 if none were."""


class Libraries(Message):
    """All libraries, the one that is asked if none is named first."""

    libraries: tuple[LibraryFile, ...]
    problems: tuple[str, ...]
    """What is wrong with files that cannot be read."""


class Occurrence(Message):
    """Where a move is found in the records."""

    gid: int
    """Number of the game in ``records/joseki/games.parquet``."""
    ply: int
    """Moves played before it."""


class Continuation(Message):
    """A move of the side to move in a corner's pattern, or that it played elsewhere."""

    corner: int
    """0 top left, 1 top right, 2 bottom left, 3 bottom right."""
    points: tuple[str, ...]
    """Points of the board such as ``D4``, two in a pattern that is its own mirror image; none: it played elsewhere."""
    played: int
    """How often, in all symmetries of the pattern."""
    share: float
    """Of all that this side did in the pattern, 0 to 1."""
    share_low: float
    """Low end of the share's 95 % interval."""
    won: int
    """Games that the side to move won in the end."""
    lost: int
    """Games that the other side won; drawn and unknown results count as neither."""
    win_rate: float | None
    """Of the side to move, 0 to 1; null where no result is known."""
    win_rate_low: float | None
    """Ends of its 95 % interval."""
    win_rate_high: float | None
    games: tuple[Occurrence, ...]
    """Some that have it."""


class Corner(Message):
    """The pattern of one corner of the position."""

    name: str
    known: bool
    """Whether the library has it."""
    seen: int
    """How often a local move led to it, in all symmetries."""
    pattern: str
    """Its stones as text, ``X 3,5 4,4 O 3,6``: lines from the corner's two borders, X black."""
    code: str
    """Pattern code S of the paper, a whole number up to 2^64 as text."""
    key: str
    """Exact key, hex digits; the same in all symmetries, different for any two other patterns."""


class JosekiPosition(Message):
    """A position of Go on 19x19 and what the library knows of it."""

    moves: tuple[str, ...]
    """Played so far, ``pass`` among them, Black first."""
    fen: str
    """The position as text; its first word has the ranks from the top one down, ``x`` black, ``o`` white."""
    to_play: Colour
    forbidden: tuple[str, ...]
    """Empty points where the side to move may not play."""
    corners: tuple[Corner, ...]
    """Four of them, in the order of `Continuation.corner`."""
    continuations: tuple[Continuation, ...]
    """Of all corners, the surest share first, moves played elsewhere last."""
    continuations_in_all: int
    """Before the list was cut."""


class Pattern(Message):
    """A pattern of the library."""

    board: tuple[str, ...]
    """Ten lines of ten points in the corner's frame, the first line on top: ``x``, ``o``, ``.``."""
    pattern: str
    """The same as text."""
    key: str
    seen: int
    is_asked: bool
    """Whether it is the pattern of the corner that was asked for."""


class Factors(Message):
    """How the paper makes the code of a set of points: K = A * B + C, modulo 2^64; numbers as text."""

    a: str
    """Neighbour code."""
    b: str
    """Row-column code."""
    c: str
    """Outline code."""
    k: str


class CodeOfCorner(Message):
    """A corner's pattern code, and the patterns of the library that have the same one."""

    corner: int
    code: str
    black: Factors
    white: Factors
    both: Factors
    """Of both colours taken as one; the code is the product of the three K."""
    patterns: tuple[Pattern, ...]
    """Those with this code, the most often seen first; more than one is a clash."""
    patterns_in_all: int
    """Before the list was cut."""


class Clash(Message):
    """Different patterns with one code."""

    code: str
    patterns: tuple[Pattern, ...]


class Clashes(Message):
    """How well the paper's code tells the patterns of a library apart."""

    patterns: int
    """Of the library."""
    clashing: int
    """Of them those whose code is also another one's."""
    clashes: tuple[Clash, ...]
    """Some, those of the most frequent patterns first."""


class JosekiGame(Message):
    """A game that the library counted."""

    gid: int
    source_file: str
    """Where the page Analyse finds it."""
    event: str
    source: str
    """``engine`` for made games and those of our engines, ``littlegolem`` or ``file``."""
    first_name: str
    """Black."""
    second_name: str
    winner: Literal["first", "second", "draw"] | None
    resigned: bool
    moves: tuple[str, ...]

"""Messages of the joseki page."""

from typing import Literal

from pipeline_src.web.messages.message import Message

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

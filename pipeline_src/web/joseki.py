"""Routes of the joseki page: positions looked up in a library, the codes of their corners, games of the library.

Libraries are ``models/joseki/*.joseki`` below the server's folders. They stay in memory, so that a request takes
milliseconds.
"""

import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.engine import Message, Place
from pipeline_src.web.go import Colour, GoPosition, state_at
from pipeline_src.web.records import game_of

if TYPE_CHECKING:
    from pipeline_src.systems.joseki.library import Library
    from pipeline_src.systems.joseki.recommend import Recommendation, SharedCodes


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


SIZE = 19
FIRST = "library"  # Name of the default library
MOST_MOVES, MOST_LISTED, MOST_PATTERNS, MOST_OPEN = 400, 60, 12, 4

router = APIRouter(prefix="/api/joseki", tags=["joseki"])
Moves = Annotated[
    str, Query(max_length=8 * MOST_MOVES, description="Played so far, Black first: ``Q16,D4,pass``.", examples=["Q16"])
]
Name = Annotated[str, Query(max_length=200, description="A library's name; empty: the first one.")]
CornerNumber = Annotated[int, Query(ge=0, le=3, description="0 top left, 1 top right, 2 bottom left, 3 bottom right.")]


_LOCK = threading.Lock()


def _paths(request: Request) -> list[Path]:
    folders = request.app.state.settings.folders
    found = [path for folder in folders for path in sorted((folder / "models/joseki").glob("*.joseki"))]
    return sorted(found, key=lambda path: path.stem != FIRST)


def _library(path: Path) -> "Library":
    """Return a library, which is read once, and again if its file has changed."""
    with _LOCK:
        return _load(path, path.stat().st_mtime_ns, path.stat().st_size)


@lru_cache(MOST_OPEN)
def _load(path: Path, *_stamp: int) -> "Library":
    from pipeline_src.systems.joseki.library import load

    return load(path)


@lru_cache(MOST_OPEN)
def _codes(library: "Library") -> "SharedCodes":
    from pipeline_src.systems.joseki.recommend import SharedCodes

    return SharedCodes(library)


def _chosen(request: Request, name: str) -> Path:
    paths = _paths(request)
    chosen = next((path for path in paths if not name or path.stem == name), None)
    if chosen is None:
        there = ", ".join(path.stem for path in paths) or "none; `dvc repro joseki_build` makes the project's"
        raise ZugwerkError(f"no joseki library{f' {name!r}' if name else ''} here; there are: {there}")
    return chosen


@router.get("/libraries")
def libraries(request: Request) -> Libraries:
    """List the libraries of this server."""
    found, problems = [], []
    for path in _paths(request):
        try:
            one = _library(path)
        except ZugwerkError as error:
            problems.append(str(error))
            continue
        counts = {"games": len(one.fingerprints), "patterns": one.states, "transitions": one.transitions}
        found.append(LibraryFile(name=path.stem, fewest_games=one.fewest_games, **counts))
    return Libraries(libraries=tuple(found), problems=tuple(problems))


@router.get("/position")
def position(request: Request, moves: Moves = "", library: Name = "") -> JosekiPosition:
    """Look up the position after some moves in a library."""
    words = _words(moves)
    return _look(_library(_chosen(request, library)), _state(words), words)


@router.post("/position")
def position_at(request: Request, wanted: GoPosition) -> JosekiPosition:
    """Look up a position with any start, such as one with handicap stones, in a library."""
    return _look(_library(_chosen(request, wanted.library)), state_at(wanted.place), list(wanted.place.moves))


def _look(library: "Library", state: Any, moves: list[str]) -> JosekiPosition:
    from pipeline_src.games.go import is_legal, to_fen
    from pipeline_src.systems.joseki.recommend import recommend

    found, empty = recommend(library, state), (state.board.ravel() == 0).nonzero()[0].tolist()
    return JosekiPosition(
        moves=tuple(moves),
        fen=to_fen(state),
        to_play="White" if state.turn[0] else "Black",
        forbidden=tuple(_point(point) for point in empty if not is_legal(state, point)),
        corners=tuple(_corner(library, state, number) for number in range(4)),
        continuations=tuple(_continuation(one) for one in found[:MOST_LISTED]),
        continuations_in_all=len(found),
    )


@router.get("/code")
def code(request: Request, corner: CornerNumber, moves: Moves = "", library: Name = "") -> CodeOfCorner:
    """Return the pattern code of a corner, and the patterns that share it."""
    from pipeline_src.systems.joseki import patterns

    own = _library(_chosen(request, library))
    window = patterns.corner_window(_state(_words(moves)).board, corner)
    number, asked = int(patterns.pattern_code(window)), patterns.key_text(patterns.canonical_key(window)[0])
    states = _codes(own).sharing(number)
    return CodeOfCorner(
        corner=corner,
        code=str(number),
        black=_factors(window, patterns.BLACK),
        white=_factors(window, patterns.WHITE),
        both=_factors(window, patterns.BOTH),
        patterns=tuple(_pattern(own, state, asked) for state in states[:MOST_PATTERNS]),
        patterns_in_all=len(states),
    )


@router.get("/clashes")
def clashes(request: Request, library: Name = "") -> Clashes:
    """List groups of different patterns of the library with the same code."""
    from pipeline_src.systems.joseki.patterns import pattern_code
    from pipeline_src.systems.joseki.recommend import state_window

    own = _library(_chosen(request, library))
    codes = _codes(own)
    return Clashes(
        patterns=own.states,
        clashing=codes.clashing,
        clashes=tuple(
            Clash(
                code=str(int(pattern_code(state_window(own, states[0])))),
                patterns=tuple(_pattern(own, state) for state in states[:MOST_PATTERNS]),
            )
            for states in codes.groups(MOST_PATTERNS)
        ),
    )


@router.get("/games/{gid}")
def game(request: Request, gid: int, library: Name = "") -> JosekiGame:
    """Return a game of the library.

    After a merge its number may be another game's in the archive: the moves must be those that the library counted.
    """
    from pipeline_src.systems.joseki.patterns import fingerprint

    chosen = _chosen(request, library)
    path, own = chosen.parents[2] / "records/joseki/games.parquet", _library(chosen)
    record = game_of(path, gid)
    if (record.game, record.height, record.width) != ("go", SIZE, SIZE):
        raise ZugwerkError(f"game {gid} is {record.game} on {record.height}x{record.width}, not Go on {SIZE}x{SIZE}")
    if record.variant.partition("/")[2] or record.variant.startswith("handicap"):
        raise ZugwerkError(f"game {gid} begins with handicap stones; open it in Analyse")
    if fingerprint(record) not in own.fingerprints[own.gids == gid].tolist():
        raise ZugwerkError(f"{path.name}: game {gid} there is another game than the library's; that one is not in it")
    names = ("gid", "event", "source", "first_name", "second_name", "winner", "resigned")
    moves = tuple(map(_point, record.actions))
    return JosekiGame(source_file=f"file:{path}", moves=moves, **{name: getattr(record, name) for name in names})


def _words(moves: str) -> list[str]:
    words = [word for word in moves.split(",") if word]
    if len(words) > MOST_MOVES:
        raise ZugwerkError(f"{len(words)} moves; joseki are looked up after {MOST_MOVES} at most")
    return words


def _state(moves: list[str]) -> Any:
    from pipeline_src.web.game import began, played

    return played(*began(Place(game="go", size=SIZE, variant="")), moves)[1]


def _point(action: int) -> str:
    from pipeline_src.games.go import format_move

    return format_move(action, SIZE, SIZE)


def _corner(library: "Library", state: Any, number: int) -> Corner:
    from pipeline_src.systems.joseki import patterns, recommend

    window = patterns.corner_window(state.board, number)
    at = recommend.look_up(library, window, patterns.BLACK).state
    return Corner(
        name=patterns.CORNER_NAMES[number],
        known=at >= 0,
        seen=int(library.seen[at]) if at >= 0 else 0,
        pattern=patterns.format_pattern(window),
        code=str(int(patterns.pattern_code(window))),
        key=patterns.key_text(patterns.canonical_key(window)[0]),
    )


def _continuation(one: "Recommendation") -> Continuation:
    from pipeline_src.arena.score import rate

    decided = one.wins + one.losses
    wins = rate(one.wins, decided)
    return Continuation(
        corner=one.corner,
        points=tuple(_point(action) for action in one.actions),
        played=one.played,
        share=one.share,
        share_low=one.sure_share,
        won=one.wins,
        lost=one.losses,
        win_rate=one.win_rate,
        win_rate_low=wins.low if decided else None,
        win_rate_high=wins.high if decided else None,
        games=tuple(Occurrence(gid=gid, ply=ply) for gid, ply in one.samples),
    )


def _factors(window: Any, colours: int) -> Factors:
    from pipeline_src.systems.joseki.patterns import colour_code, factors

    a, b, c = (str(int(factor)) for factor in factors(window, colours))
    return Factors(a=a, b=b, c=c, k=str(int(colour_code(window, colours))))


def _pattern(library: "Library", state: int, asked: str = "") -> Pattern:
    from pipeline_src.systems.joseki.patterns import format_pattern, key_text
    from pipeline_src.systems.joseki.recommend import state_window

    window, key = state_window(library, state), key_text(library.keys[state])
    return Pattern(
        board=tuple("".join(".xo"[stone] for stone in row) for row in window.tolist()),
        pattern=format_pattern(window),
        key=key,
        seen=int(library.seen[state]),
        is_asked=key == asked,
    )

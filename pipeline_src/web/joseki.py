"""Routes of the joseki page: positions looked up in a library, the codes of their corners, games of the library.

Libraries are ``models/joseki/*.joseki`` below the server's folders. They stay in memory, so that a request takes
milliseconds.
"""

import threading
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.go import state_at
from pipeline_src.web.messages.boards import (
    Clash,
    Clashes,
    CodeOfCorner,
    Continuation,
    Corner,
    Factors,
    GoPosition,
    JosekiGame,
    JosekiPosition,
    Libraries,
    LibraryFile,
    Occurrence,
    Pattern,
)
from pipeline_src.web.moves import played
from pipeline_src.web.records import game_of

if TYPE_CHECKING:
    from pipeline_src.systems.joseki.library import Library
    from pipeline_src.systems.joseki.recommend import Recommendation, SharedCodes

SIZE = 19
FIRST = "library"  # Name of the default library
MOST_MOVES, MOST_LISTED, MOST_PATTERNS = 400, 60, 12

router = APIRouter(prefix="/api/joseki", tags=["joseki"])
Moves = Annotated[
    str, Query(max_length=8 * MOST_MOVES, description="Played so far, Black first: ``Q16,D4,pass``.", examples=["Q16"])
]
Name = Annotated[str, Query(max_length=200, description="A library's name; empty: the first one.")]
CornerNumber = Annotated[int, Query(ge=0, le=3, description="0 top left, 1 top right, 2 bottom left, 3 bottom right.")]


@dataclass
class Opened:
    """A library in memory."""

    path: Path
    library: "Library"
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def _codes(self) -> "SharedCodes":
        from pipeline_src.systems.joseki.recommend import SharedCodes

        return SharedCodes(self.library)

    def codes(self) -> "SharedCodes":
        """States of the library by pattern code, computed at the first use."""
        with self._lock:
            return self._codes


_OPENED: dict[Path, tuple[tuple[int, int], Opened]] = {}
_LOCK = threading.Lock()


def _paths(request: Request) -> list[Path]:
    folders = request.app.state.settings.folders
    found = [path for folder in folders for path in sorted((folder / "models/joseki").glob("*.joseki"))]
    return sorted(found, key=lambda path: path.stem != FIRST)


def open_library(path: Path) -> Opened:
    """Return a library, which is read once, and again if its file has changed.

    Raises:
        ZugwerkError: no such library, or it is damaged.
    """
    from pipeline_src.systems.joseki.library import load

    with _LOCK:
        written = (path.stat().st_mtime_ns, path.stat().st_size)
        known = _OPENED.get(path)
        if known is None or known[0] != written:
            known = _OPENED[path] = (written, Opened(path, load(path)))
        return known[1]


def _opened(request: Request, name: str) -> Opened:
    paths = _paths(request)
    chosen = next((path for path in paths if not name or path.stem == name), None)
    if chosen is None:
        there = ", ".join(path.stem for path in paths) or "none; `dvc repro joseki_build` makes the project's"
        raise ZugwerkError(f"no joseki library{f' {name!r}' if name else ''} here; there are: {there}")
    return open_library(chosen)


@router.get("/libraries")
def libraries(request: Request) -> Libraries:
    """List the libraries of this server."""
    found, problems = [], []
    for path in _paths(request):
        try:
            one = open_library(path).library
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
    return _look(_opened(request, library).library, _state(words), words)


@router.post("/position")
def position_at(request: Request, wanted: GoPosition) -> JosekiPosition:
    """Look up a position with any start, such as one with handicap stones, in a library."""
    return _look(_opened(request, wanted.library).library, state_at(wanted.place), list(wanted.place.moves))


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
    from pipeline_src.systems.joseki.patterns import (
        BLACK,
        BOTH,
        WHITE,
        canonical_key,
        corner_window,
        key_text,
        pattern_code,
    )

    opened = _opened(request, library)
    window = corner_window(_state(_words(moves)).board, corner)
    number, asked = int(pattern_code(window)), key_text(canonical_key(window)[0])
    states = opened.codes().sharing(number)
    return CodeOfCorner(
        corner=corner,
        code=str(number),
        black=_factors(window, BLACK),
        white=_factors(window, WHITE),
        both=_factors(window, BOTH),
        patterns=tuple(_pattern(opened.library, state, asked) for state in states[:MOST_PATTERNS]),
        patterns_in_all=len(states),
    )


@router.get("/clashes")
def clashes(request: Request, library: Name = "") -> Clashes:
    """List groups of different patterns of the library with the same code."""
    from pipeline_src.systems.joseki.patterns import pattern_code
    from pipeline_src.systems.joseki.recommend import state_window

    opened = _opened(request, library)
    codes, own = opened.codes(), opened.library
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

    opened = _opened(request, library)
    path, own = opened.path.parents[2] / "records/joseki/games.parquet", opened.library
    record = game_of(path, gid)
    if (record.game, record.height, record.width) != ("go", SIZE, SIZE):
        raise ZugwerkError(f"game {gid} is {record.game} on {record.height}x{record.width}, not Go on {SIZE}x{SIZE}")
    if record.variant.partition("/")[2] or record.variant.startswith("handicap"):
        raise ZugwerkError(f"game {gid} begins with handicap stones; open it in Analyse")
    if fingerprint(record) not in own.fingerprints[own.gids == gid].tolist():
        raise ZugwerkError(f"{path.name}: game {gid} there is another game than the library's; that one is not in it")
    return JosekiGame(
        gid=record.gid,
        source_file=f"file:{path}",
        event=record.event,
        source=record.source,
        first_name=record.first_name,
        second_name=record.second_name,
        winner=record.winner,
        resigned=record.resigned,
        moves=tuple(_point(action) for action in record.actions),
    )


def _words(moves: str) -> list[str]:
    words = [word for word in moves.split(",") if word]
    if len(words) > MOST_MOVES:
        raise ZugwerkError(f"{len(words)} moves; joseki are looked up after {MOST_MOVES} at most")
    return words


def _state(moves: list[str]) -> Any:
    from pipeline_src.games import go
    from pipeline_src.games.game import get_game

    return played(get_game("go"), go.initial_state(SIZE), moves)[1]


def _point(action: int) -> str:
    from pipeline_src.games.go import format_move

    return format_move(action, SIZE, SIZE)


def _rows(board: Any) -> tuple[str, ...]:
    return tuple("".join(".xo"[stone] for stone in row) for row in board.tolist())


def _corner(library: "Library", state: Any, number: int) -> Corner:
    from pipeline_src.systems.joseki.patterns import (
        BLACK,
        CORNER_NAMES,
        canonical_key,
        corner_window,
        format_pattern,
        key_text,
        pattern_code,
    )
    from pipeline_src.systems.joseki.recommend import look_up

    window = corner_window(state.board, number)
    at = look_up(library, window, BLACK).state
    return Corner(
        name=CORNER_NAMES[number],
        known=at >= 0,
        seen=int(library.seen[at]) if at >= 0 else 0,
        pattern=format_pattern(window),
        code=str(int(pattern_code(window))),
        key=key_text(canonical_key(window)[0]),
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
        board=_rows(window),
        pattern=format_pattern(window),
        key=key,
        seen=int(library.seen[state]),
        is_asked=key == asked,
    )

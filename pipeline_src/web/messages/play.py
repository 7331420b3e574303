"""Messages of the page Play: games, and the WebSocket of a game."""

from typing import Annotated, Literal

from pydantic import Field

from pipeline_src.web.engine.pool import MoveText, OnlyBoard, Place, Thought
from pipeline_src.web.messages import Message

PERSON = "person"
Seat = Annotated[str, Field(min_length=1, max_length=500)]
Winner = Literal["first", "second", "draw"]
Ending = Literal["board", "resigned", "time", "agreed"]
OpeningKind = Literal["", "balanced", "swap", "swap2"]
Choice = Literal["swap", "stay", "place"]


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
    """Renju: the points that are forbidden to the side to move, each with the reason."""


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

    game: Annotated[str, Field(max_length=40)]
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

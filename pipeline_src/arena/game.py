"""`play`, the only game loop: many games in lock step, or on a clock each move of each game by itself; and openings.

Openings are played before the players take over: random plies, none, or the lines of a file.
"""

import time
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES, Game, load_game
from pipeline_src.learning.symmetry import board_maps
from pipeline_src.players.player import Bounds, ErrorKind, Player, PlayerError, Position, Thought
from pipeline_src.players.registry import make_player
from pipeline_src.records.record import Winner
from pipeline_src.search.limits import Clock, on_cpu_time


@dataclass(frozen=True)
class Opening:
    """Moves from a start position."""

    start: str = ""  # Position text; empty for the standard start position
    actions: tuple[int, ...] = ()


ATTEMPTS = 1_000  # Number of draws of one opening after which the game counts as having no more openings


def random_openings(game: Game, start: Any, count: int, plies: int, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """Return ``count`` different openings of uniformly random legal plies, none of which ends the game.

    Opening i depends on ``seed`` and i alone, except that repeated ones are drawn again. With 0 plies, every opening is
    the start position.

    Raises:
        ZugwerkError: the game has too few openings of this length.
    """
    found = draw_openings(game, start, count, plies, seed, lambda opening, _: opening)
    if len(found) < count:
        raise ZugwerkError(f"{ATTEMPTS} draws gave no opening of {plies} plies beside the {len(found)} already drawn")
    return found


def draw_openings(
    game: Game,
    start: Any,
    count: int,
    plies: int,
    seed: Sequence[int],
    form: Callable[[tuple[int, ...], Any], Hashable],
    among: Collection[int] | None = None,
    on_found: Callable[[tuple[int, ...]], None] | None = None,
) -> list[tuple[int, ...]]:
    """Return openings as `random_openings` does, or fewer if `ATTEMPTS` draws give no further one.

    No two have the same ``form``, the key of an opening and the position after it; None rejects the opening. Actions
    are drawn from those legal ones that are ``among`` some; None is all. ``on_found``
    receives each opening, in place of a progress bar.
    """
    if plies == 0:
        return [()] * count
    openings: dict[Hashable, tuple[int, ...]] = {None: ()}
    for number in tqdm(range(count), "openings", delay=2, leave=False, disable=None if on_found is None else True):
        for attempt in range(ATTEMPTS):
            drawn = _draw(game, start, plies, np.random.default_rng([*seed, number, attempt]), among)
            if drawn is not None and (found := form(*drawn)) not in openings:
                openings[found] = drawn[0]
                if on_found is not None:
                    on_found(drawn[0])
                break
        else:
            break
    return [*openings.values()][1:]


def _draw(
    game: Game, start: Any, plies: int, rng: np.random.Generator, among: Collection[int] | None
) -> tuple[tuple[int, ...], Any] | None:
    """Draw an opening and return it with the position after it; None if it ends the game."""
    state, opening = start, list[int]()
    for _ in range(plies):
        legal = game.legal_actions(state)
        if among is not None:
            legal = legal[np.isin(legal, list(among))]
        if not len(legal):
            return None
        opening.append(int(rng.choice(legal)))
        state = game.play(state, opening[-1])
        if game.winner(state) is not None:
            return None
    return tuple(opening), state


def read_plies(text: str) -> int:
    """Return the number of plies of openings such as ``random:4``.

    Raises:
        ZugwerkError: it is no number, or more than a game has.
    """
    kind, _, plies = text.partition(":")
    if not (plies.isascii() and plies.isdigit()) or int(plies[:4]) > 1000:
        raise ZugwerkError(f"openings {text!r}: expected {kind}:PLIES, a number of plies")
    return int(plies)


# Balanced openings. In games such as Gomoku the first player wins most games. An opening compares two players only if
# both sides still have a chance, and if it is played with both colours.


LEVEL_AREA = 9  # Side of the square that has the stones of level openings of Gomoku
LEVEL = {"gomoku": ("alphabeta:depth=2", 40.0), "amazons": ("alphabeta:nodes=3000", 0.5)}
"""Judges of `level_openings`, and what they call level at most: in squares for the Amazons."""
LEVEL_OTHERS = "mcts:playouts=1000", 0.3


def balanced_openings(
    game: str,
    start: Any,
    count: int,
    plies: int,
    seed: Sequence[int],
    judge: str,
    bound: float,
    among: Collection[int] | None = None,
    played: Sequence[int] = (),
    on_found: Callable[[tuple[int, ...]], None] | None = None,
) -> list[tuple[int, ...]]:
    """Return ``count`` openings of random plies in which the judge sees no decisive advantage for either side.

    As for `random_openings`, but an opening is also drawn again if an earlier one is equal, on the square boards of the
    Amazons and Gomoku under any of the eight symmetries, or if the value to the ``judge``, a player that searches, is
    above ``bound``. With ``played``, nodes per move of games that the judge plays against itself from the opening, each
    side has to win one of them: a value near 0 often hides a win just beyond the search depth. For ``among`` see
    `draw_openings`, and for ``on_found``.

    Raises:
        ZugwerkError: the judge does not search, or too few openings pass.
    """
    if plies == 0:
        return [()] * count
    rules, expert = load_game(game), make_player(game, judge)
    if not expert.searches:
        raise ZugwerkError(f"{judge!r} cannot judge openings: it does not search; try alphabeta:depth=2")

    def form(opening: tuple[int, ...], state: Any) -> Hashable:
        if abs(_value(expert, state, start, opening)) > bound:
            return None
        if played and not _both_win(rules, expert, state, played):
            return None
        return canonical_form(state.board, rules.to_play(state)) if game in GAMES else rules.to_fen(state)

    openings = draw_openings(rules, start, count, plies, seed, form, among, on_found)
    if len(openings) < count:
        raise ZugwerkError(
            f"{ATTEMPTS} draws gave no opening of {plies} plies that {judge} calls balanced (within {bound:g}) "
            f"beside the {len(openings)} already found; ask for fewer openings, more plies or a wider bound"
        )
    return openings


def level_openings(game: str, start: Any, count: int, plies: int, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """Return ``count`` openings that a short search calls level; those of Gomoku lie near the middle of a square board.

    Raises:
        ZugwerkError: the game has no players, or too few openings pass.
    """
    cells = None
    if game == "gomoku":
        side = start.board.shape[0]
        cells = central_cells(side, min(side, LEVEL_AREA))
    return balanced_openings(game, start, count, plies, seed, *LEVEL.get(game, LEVEL_OTHERS), cells)


def central_cells(size: int, side: int) -> list[int]:
    """Return the cells (row * size + column) of the central square with side ``side``; 0 is the whole board."""
    if not 0 <= side <= size:
        raise ZugwerkError(f"no square of {side} cells a side in the middle of a board of {size}")
    begin = (size - (side or size)) // 2
    rows = range(begin, begin + (side or size))
    return [row * size + column for row in rows for column in rows]


def canonical_form(board: npt.NDArray[np.int8], side: int) -> bytes:
    """Return bytes that are equal for a board [H, H] and its eight symmetric forms; ``side`` is the side to move."""
    forms: npt.NDArray[np.int8] = board.ravel()[board_maps(board.shape[0])]
    smallest: bytes = min(form.tobytes() for form in forms)
    return smallest + bytes([side])


def quick_games(count: int) -> list[int]:
    """Return ``count`` different numbers of nodes per move: 1,500, and half as many more each time."""
    return [round(1500 * 1.5**i) for i in range(count)]


def _both_win(rules: Game, expert: Player, start: Any, played: Sequence[int]) -> bool:
    """Whether each side wins one of the judge's games against itself, at ``played`` nodes per move."""
    winners = set()
    for nodes in played:
        expert.new_game()
        state, rng = start, np.random.default_rng(0)
        while (winner := rules.winner(state)) is None:
            found = expert.think(Position(state, rng, start, ()), Bounds(nodes=nodes))
            state = rules.play(state, found.action)
        winners.add(winner)
        if {"first", "second"} <= winners:
            return True
    return False


def _value(expert: Player, state: Any, start: Any, opening: tuple[int, ...]) -> float:
    """Return the judge's value of a position to the side to move."""
    found = expert.think(Position(state, np.random.default_rng(0), start, opening)).found
    return 0.0 if found is None else found.value


@dataclass(frozen=True)
class TimeControl:
    """Time control of the games of a match; times in milliseconds."""

    clock_ms: float | None = None
    """Time of each side for the whole game; None: each move is timed by itself, and the players see no clock."""
    increment_ms: float = 0.0  # Time added after each move
    nodes_per_ms: float = 0.0
    """Nodes charged as one millisecond. Above 0, the clock counts nodes, and results do not depend on the machine."""
    margin_ms: float = 100.0  # Time by which a move may exceed the player's own limit, without a clock
    cpu: bool = False  # Whether times are CPU times: those of this process, or of an engine's


class GameClock:
    """Both sides' clocks in one game."""

    def __init__(
        self,
        control: TimeControl,
        limits_ms: Sequence[float | None] = (None, None),
        first_ms: Sequence[float] = (0.0, 0.0),
    ) -> None:
        """Start both clocks. Pairs are of the first and of the second side.

        ``limits_ms`` are the players' own limits for a move, ``first_ms`` the time by which the first move may exceed
        them.
        """
        self.control, self.limits_ms, self._first_ms = control, limits_ms, [*first_ms]
        self.left_ms = None if control.clock_ms is None else [control.clock_ms] * 2

    def seen_by(self, side: int) -> Clock | None:
        """Return the clock as the player of ``side`` sees it; None without a clock."""
        if self.left_ms is None:
            return None
        return Clock(self.left_ms[side], self.left_ms[1 - side], self.control.increment_ms)

    def cost(self, thought: Thought, used_ms: float) -> float:
        """Return the cost of a move that took ``used_ms``: nodes, or milliseconds to the microsecond."""
        return thought.nodes if self.control.nodes_per_ms else round(used_ms, 3)

    def spend(self, side: int, cost: float) -> str:
        """Charge a side for a move; return the reason if the move came too late, and otherwise an empty text."""
        if self.left_ms is None:
            limit = self.limits_ms[side]
            first, self._first_ms[side] = self._first_ms[side], 0.0
            if limit is None or cost <= limit + self.control.margin_ms + first:
                return ""
            said = f"late by {cost - limit:.0f} ms: {cost:.0f} ms for a move of {limit:.0f} ms"
            return f"{said}, the first one, which may take {first:.0f} ms more" if first else said
        self.left_ms[side] -= cost / self.control.nodes_per_ms if self.control.nodes_per_ms else cost
        if self.left_ms[side] < 0:
            return f"the flag fell: {-self.left_ms[side]:.0f} ms over"
        self.left_ms[side] += self.control.increment_ms
        return ""


NO_ACTION = -1  # An action that is illegal in every position
Ended = Literal["board"] | ErrorKind  # The end of a game: on the board, or by a forfeit
SIDES: tuple[Winner, Winner] = ("first", "second")
POINTS: dict[Winner, tuple[float, float]] = {"first": (1.0, 0.0), "draw": (0.5, 0.5), "second": (0.0, 1.0)}
"""Points of the first and of the second side, by winner."""


@dataclass(frozen=True)
class Fixture:
    """A game to be played."""

    first: str  # Text of the player of the first side, which begins unless `start` has the other one to move
    second: str
    opening: tuple[int, ...]  # Legal actions that are played before the players take over
    seed: tuple[int, ...]  # Seed of the game's random generator, which both players use
    start: str = ""  # Position text before the opening; empty for the standard start position


@dataclass(frozen=True)
class PlayedGame:
    """One finished game."""

    fixture: Fixture
    actions: tuple[int, ...]  # All actions, including the opening. An action that forfeited the game is left out.
    winner: Winner
    ended: Ended = "board"
    detail: str = ""  # Reason of a forfeit: the number of the move, from 1, and the error
    mover: int = 0  # Side of the first move after the opening
    spent: tuple[float, ...] = ()
    """Cost of each move after the opening on the game's clock, including a forfeiting one; empty without a clock."""
    notes: tuple[tuple[float, ...], ...] = ()  # Notes of the players on their moves (`Thought.note`)

    @property
    def began(self) -> int:
        """Side of the first move of all: the second one in games from a position with that side to move."""
        return self.mover ^ len(self.fixture.opening) % 2

    @property
    def forfeit(self) -> str:
        """Text ``forfeit:KIND: move N: ...``; empty if the game ended on the board."""
        return "" if self.ended == "board" else f"forfeit:{self.ended}: {self.detail}"

    def moves_by(self, side: int) -> int:
        """Return the number of moves of one side after the opening."""
        return len(self.actions[len(self.fixture.opening) :][0 if side == self.mover else 1 :: 2])

    def spent_by(self, side: int) -> tuple[float, ...]:
        """Return the costs of one side's moves."""
        return self.spent[0 if side == self.mover else 1 :: 2]

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> "PlayedGame":
        """Return the game for a row that `dataclasses.asdict` made and JSON has carried."""
        plain = {name: tuple(row[name]) for name in ("actions", "spent")}
        lists = {name: tuple(row["fixture"][name]) for name in ("opening", "seed")}
        notes = tuple(map(tuple, row["notes"]))
        return cls(**{**row, **plain, "notes": notes, "fixture": Fixture(**{**row["fixture"], **lists})})


class OpenGame:
    """A game under way."""

    def __init__(
        self, rules: Game, start: Any, fixture: Fixture, players: tuple[Player, Player], clock: GameClock | None = None
    ) -> None:
        """Play the opening of the fixture from ``start``. The two players may play many games at once.

        With a clock, moves are requested one by one; without, together with those of other games.
        """
        self.rules, self.start, self.fixture, self.players, self.clock = rules, start, fixture, players, clock
        self.rng = np.random.default_rng(fixture.seed)
        self.state, self.actions = reduce(rules.play, fixture.opening, start), [*fixture.opening]
        rules.is_legal(self.state, NO_ACTION)  # loads the kernel, which players call too, before any clock runs
        self.mover = rules.to_play(self.state)
        self.spent, self.notes = list[float](), list[tuple[float, ...]]()
        self.played: PlayedGame | None = None
        self._look()

    @property
    def side(self) -> int:
        """The side to move."""
        return self.rules.to_play(self.state)

    def position(self) -> Position:
        """The game as seen by the player of the side to move."""
        clock = None if self.clock is None else self.clock.seen_by(self.side)
        return Position(self.state, self.rng, self.start, tuple(self.actions), clock)

    def move(self, answer: Thought | PlayerError, used_ms: float) -> None:
        """Play the answer of the player to move, or end the game with a forfeit if the answer is wrong."""
        thought, late = (Thought(NO_ACTION) if isinstance(answer, PlayerError) else answer), ""
        if thought.note is not None:
            self.notes.append(thought.note)
        if self.clock is not None:
            self.spent.append(self.clock.cost(thought, used_ms))
            late = self.clock.spend(self.side, self.spent[-1])
        winner = SIDES[1 - self.side]
        if isinstance(answer, PlayerError):
            self._end(winner, answer.kind, str(answer))
        elif late:
            self._end(winner, "time", late + self.players[self.side].last_words())
        elif not self.rules.is_legal(self.state, answer.action):
            self._end(winner, "illegal", f"action {answer.action} is not legal")
        else:
            self.actions.append(answer.action)
            self.state = self.rules.play(self.state, answer.action)
            self._look()

    def _look(self) -> None:
        winner = self.rules.winner(self.state)
        if winner is not None:
            self._end(winner)

    def _end(self, winner: Winner, ended: Ended = "board", why: str = "") -> None:
        detail, lists = f"move {len(self.actions) + 1}: {why}" if why else "", (tuple(self.spent), tuple(self.notes))
        self.played = PlayedGame(self.fixture, tuple(self.actions), winner, ended, detail, self.mover, *lists)


def play(games: Sequence[OpenGame]) -> list[PlayedGame]:
    """Play games to their end in lock step, each as if it were alone.

    A player gets one request for its moves in all games without a clock where it is to move, as first side before
    second side. A player that gives no legal move in time, or fails (`PlayerError`), loses that game only.
    """
    while going := [game for game in games if game.played is None]:
        for side in (0, 1):
            tables: dict[int, list[OpenGame]] = {}
            for game in going:
                if game.played is None and game.side == side:
                    tables.setdefault(id(game.players[side]) if game.clock is None else id(game), []).append(game)
            for table in tables.values():
                positions = [game.position() for game in table]
                player, clock = table[0].players[side], table[0].clock
                cpu = clock is not None and clock.control.cpu
                now = player.cpu_seconds if cpu else time.perf_counter
                begin = now()
                with on_cpu_time(cpu):
                    answers = _ask(player, positions)
                used_ms = max(0.0, now() - begin) * 1000 - (0.0 if cpu else player.waited_ms)
                for game, answer in zip(table, answers, strict=True):
                    game.move(answer, used_ms)
    return [game.played for game in games if game.played is not None]


def _ask(player: Player, positions: list[Position]) -> list[Thought | PlayerError]:
    """Return the player's answers. If it fails, each position is asked for by itself."""
    try:
        return [*player.consider(positions)]
    except PlayerError as error:
        if len(positions) == 1:
            return [error]
        return [answer for position in positions for answer in _ask(player, [position])]

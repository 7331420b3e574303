"""Positions by the rules: moves as texts, a game in progress, and the marks of its board.

The modules of the games import numba, so the server imports this one when a page asks for a position.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline_src.arena.runner import Board as Table
from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.amazons import AmazonsState, format_square
from pipeline_src.games.game import GAMES, get_game, load_game
from pipeline_src.games.game import Game as Rules
from pipeline_src.games.gomoku import EMPTY, GomokuState, forbidden, kind_of_line, line_through, on_board, run
from pipeline_src.games.grid import PASS, cell_text, owner_letters
from pipeline_src.games.rules import to_play as to_play_of
from pipeline_src.jit import njit
from pipeline_src.search.amazons.endgame import PLAY_NODES, closed, count_out, endgame_scratch
from pipeline_src.search.amazons.evaluation import FIRST, SECOND, distances, territory
from pipeline_src.web.engine import Place
from pipeline_src.web.messages import Board, Counted, Plain, Squares, Territory
from pipeline_src.web.settings import GAME_FILES

FORMATS = {"gomoku": ("sgf", "psq", "parquet"), "amazons": ("sgf", "txt", "parquet")}
"""Suffixes of files by game; txt is LittleGolem's text."""
WAYS = ((0, 1), (1, 0), (1, 1), (1, -1))  # (rows, columns) to the next cell, for the four directions of a row
SIDES: tuple[Literal["first"], Literal["second"]] = ("first", "second")
Cell = tuple[int, int]


def rules_of(game: str) -> Rules:
    """Return the rules of a game that pages may name (`ZugwerkError`: there is none)."""
    if game.endswith(".py") and game not in GAME_FILES:
        raise ZugwerkError(f"no game called {game!r} here; `zugwerk web {game}` offers it")
    return get_game(game) if game in GAMES else load_game(game)


def began(place: Place) -> tuple[Rules, Any]:
    """Return the rules of a place's game, and the position before its moves (`ZugwerkError`: no such game or start)."""
    return rules_of(place.game), Table(place.game, place.size, place.variant or None).start(place.fen)


def step(rules: Rules, state: Any, text: str, number: int) -> tuple[int, Any]:
    """Play move ``number`` of a game; return its action, and the position after it (`ZugwerkError`: no legal move)."""
    action = rules.parse_move(text, *state.board.shape)
    if not rules.is_legal(state, action):
        why = "comes after the end of the game" if rules.winner(state) is not None else "is not legal here"
        raise ZugwerkError(f"move {number}, {text[:16]}, {why}")
    return action, rules.play(state, action)


def played(rules: Rules, state: Any, texts: Iterable[str]) -> tuple[tuple[int, ...], Any]:
    """Return the actions of moves from a position on, and the position after them (`ZugwerkError`: see `step`)."""
    actions = []
    for number, text in enumerate(texts, 1):
        action, state = step(rules, state, text, number)
        actions.append(action)
    return tuple(actions), state


def turn_tree(turns: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return turns such as ``d1-d7/g7`` as arrow squares by ``d1``, then ``d7``."""
    tree: dict[str, dict[str, list[str]]] = {}
    for turn in turns:
        move, _, arrow = turn.partition("/")
        start, _, to = move.partition("-")
        tree.setdefault(start, {}).setdefault(to, []).append(arrow)
    return {start: {to: tuple(arrows) for to, arrows in below.items()} for start, below in tree.items()}


class Game:
    """A game with moves as texts. Calls may come from any thread, one at a time."""

    def __init__(self, place: Place) -> None:
        """Load the rules, and play the moves of a place (`ZugwerkError`: see `began` and `step`)."""
        self.rules, self.start = began(place)
        self.place = place.model_copy(update={"moves": ()})
        self._states, self.moves = [self.start], list[str]()
        for text in place.moves:
            self.play(text)

    @property
    def state(self) -> Any:
        """The position."""
        return self._states[-1]

    @property
    def to_play(self) -> Literal[0, 1]:
        """Side to move, 0 or 1."""
        return 1 if self.rules.to_play(self.state) else 0

    @property
    def winner(self) -> Literal["first", "second", "draw"] | None:
        """Winner by the rules."""
        return self.rules.winner(self.state)

    def play(self, text: str) -> None:
        """Play a move (`ZugwerkError`: the move is malformed or illegal)."""
        action, state = step(self.rules, self.state, text, len(self.moves) + 1)
        self._states.append(state)
        self.moves.append(self.rules.format_move(action, *self.state.board.shape))

    def back_to(self, ply: int) -> None:
        """Take back all moves after the first ``ply``."""
        del self._states[ply + 1 :], self.moves[ply:]

    def side_at(self, ply: int) -> int:
        """Return the side to move after ``ply`` moves."""
        return self.rules.to_play(self._states[ply])

    def board(self, legal: bool = True) -> Board:
        """Return the position as a message, with the legal moves if a person is to move."""
        height, width = self.start.board.shape
        over = self.winner is not None
        actions: list[int] = self.rules.legal_actions(self.state).tolist() if legal and not over else []
        texts = [self.rules.format_move(action, height, width) for action in actions]
        is_turns, is_gomoku = self.place.game == "amazons", self.place.game == "gomoku"
        is_plain = self.place.game not in GAMES
        line, forbidden = (winning_line(self.state), forbidden_cells(self.state)) if is_gomoku else ([], {})
        first, second = threats_of(self.state) if is_gomoku and not over else ({}, {})
        return Board(
            game=self.place.game,
            fen=self.rules.to_fen(self.state),
            height=height,
            width=width,
            moves=tuple(self.moves),
            to_play=self.to_play,
            winner=self.winner,
            cells=() if is_turns or is_plain else tuple(texts),
            turns=turn_tree(texts) if is_turns else {},
            line=tuple(self.rules.format_move(cell, height, width) for cell in line),
            forbidden={self.rules.format_move(cell, height, width): why for cell, why in forbidden.items()},
            threats=(first, second),
            plain=self._plain(actions, texts) if is_plain else None,
        )

    @cached_property
    def _look(self) -> Literal["points", "squares", "hexagons"]:
        return look_of(self.rules, self.start)

    def _plain(self, actions: list[int], texts: list[str]) -> Plain:
        rules: Any = self.rules
        states, last = self._states, ""
        if self.moves:
            last = touched(states[-2], rules.parse_move(self.moves[-1], *self.state.board.shape))
        picks = [touched(self.state, action) for action in actions]
        letters = owner_letters(rules.OWNERS)
        codes = enumerate(self.state.board.flat)
        stones = {cell_text(cell, *self.state.board.shape): letters[code] for cell, code in codes if code}
        named = dict(zip(reversed(picks), reversed(texts), strict=True))  # of moves alike, the first one
        return Plain(look=self._look, stones=stones, picks=named, last=last)

    def counted(self) -> Counted | None:
        """Return the result of an unfinished game of the Amazons, if counting decides it."""
        return counted(self.state) if self.place.game == "amazons" and self.winner is None else None

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the suffixes of files that the game can be saved as."""
        if self.place.fen:
            return ("sgf",)
        found = FORMATS.get(self.place.game, ("parquet",))
        return found if self.place.game != "amazons" or self.place.size == 10 else ("sgf", "parquet")


# Boards of games in one file.


def touched(state: Any, action: int) -> str:
    """Return the cells that an action names before it is played: ``d4``, ``d2-d3``, or ``pass``."""
    cells = [int(cell) for cell in kernels.squares(state, action) if cell >= 0]
    return "-".join(cell_text(cell, *state.board.shape) for cell in cells) or PASS


def look_of(rules: Any, start: Any) -> Literal["points", "squares", "hexagons"]:
    """Return how a board looks: hexagons with lines in three directions, points where a stone is put on any cell."""
    if len(rules.LINES) == 3:
        return "hexagons"
    plain = all(tuple(kernels.squares(start, action)) == (-1, action) for action in rules.legal_actions(start).tolist())
    return "points" if plain else "squares"


# Marks of boards in addition to their pieces: lines that won, points that Renju forbids, the squares of each side.


def winning_line(state: GomokuState) -> list[int]:
    """Return the cells of the winning lines, ascending; none without a winner."""
    if state.turn[gomoku.STANDING] != gomoku.WON:
        return []
    colour = 2 - int(state.turn[gomoku.SIDE])
    line, kind = int(state.turn[gomoku.LINE]), int(kind_of_line(state, colour))
    stones = np.flatnonzero(state.board == colour).tolist()
    return [cell for cell in stones if line_through(state.board, cell, colour, line, kind)]


def _row(board: npt.NDArray[np.int8], cell: Any, way: Cell) -> list[Cell]:
    """Return the cells of the row of one colour through a stone, in order."""
    (r, c), (down, right), colour = cell, way, int(board[tuple(cell)])
    behind, ahead = run(board, r, c, -down, -right, colour), run(board, r, c, down, right, colour)
    return [(r + k * down, c + k * right) for k in range(-behind, ahead + 1)]


def forbidden_cells(state: GomokuState) -> dict[int, str]:
    """Return the cells that Renju forbids to Black, whoever is to move, each with the reason."""
    if state.turn[gomoku.RULE] != gomoku.RENJU or state.turn[gomoku.STANDING] != gomoku.GOING:
        return {}
    width = state.board.shape[1]
    empty = [(r, c) for r, c in np.argwhere(state.board == EMPTY).tolist() if forbidden(state.board, r, c)]
    return {r * width + c: _reason(state.board.copy(), (r, c)) for r, c in empty}


def _reason(board: npt.NDArray[np.int8], cell: Cell) -> str:
    """Return why a cell is forbidden to Black. The stone is put on the board."""
    board[cell] = gomoku.BLACK
    if any(len(_row(board, cell, way)) > 5 for way in WAYS):
        return "six or more in a row"
    return "two fours" if sum(len(_fours(board, cell, way)) for way in WAYS) > 1 else "two threes"


def _fours(board: npt.NDArray[np.int8], cell: Cell, way: Cell) -> list[Cell]:
    """Return the fours of a black stone in one direction, as cells that make exactly five of them.

    A straight four, which two cells complete, counts once.
    """
    found = []
    for k in (-4, -3, -2, -1, 1, 2, 3, 4):
        at = (cell[0] + k * way[0], cell[1] + k * way[1])
        if on_board(board, *at) and board[at] == EMPTY:
            board[at] = gomoku.BLACK
            row = _row(board, at, way)
            board[at] = EMPTY
            if len(row) == 5 and cell in row:
                found.append(at)
    return found[:1] if len(_row(board, cell, way)) == 4 else found


WINS, OPEN_FOUR, OPEN_THREE = 5, 4, 3


@njit(cache=True)
def _ends(
    board: npt.NDArray[np.int8], cell: int, colour: int, line: int, kind: int, marks: npt.NDArray[np.int8], ways: int
) -> int:
    """Number of cells in line with a stone that win only since it stands, in directions that are bits of ``ways``."""
    (height, width), found = board.shape, 0
    for way in range(4):
        down, right = (0, 1) if way == 0 else (1, way - 2)
        for k in range(1 - line, line):
            r, c = cell // width + k * down, cell % width + k * right
            if not (ways >> way & 1 and 0 <= r < height and 0 <= c < width):
                continue
            if board[r, c] == EMPTY and marks[r * width + c] != WINS:
                found += line_through(board, r * width + c, colour, line, kind)
    return found


@njit(cache=True)
def _nothing_stops(
    board: npt.NDArray[np.int8], cell: int, colour: int, line: int, kind: int, marks: npt.NDArray[np.int8], ways: int
) -> bool:
    """Whether a stone on an empty cell makes fours, in directions that are bits of ``ways``, of which one stays."""
    width = board.shape[1]
    board[cell // width, cell % width] = colour
    stands = _ends(board, cell, colour, line, kind, marks, ways) > 1
    if stands and kind == gomoku.ONE_END_OPEN:  # a stone on one end may shut a line through the other
        for answer in range(board.size):
            r, c = answer // width, answer % width
            if board[r, c] == EMPTY and marks[answer] != WINS and line_through(board, answer, colour, line, kind):
                board[r, c] = 3 - colour
                stands = stands and _ends(board, cell, colour, line, kind, marks, ways) > 0
                board[r, c] = EMPTY
    board[cell // width, cell % width] = EMPTY
    return stands


@njit(cache=True)
def _makes_three(
    board: npt.NDArray[np.int8], cell: int, colour: int, kind: int, marks: npt.NDArray[np.int8], bans: bool
) -> bool:
    """Whether a stone on an empty cell makes an open three: one more in its line makes a four that nothing stops."""
    (height, width), row, found = board.shape, cell // board.shape[1], False
    column = cell - row * width
    board[row, column] = colour
    for way in range(4):
        down, right = (0, 1) if way == 0 else (1, way - 2)
        own = 0
        for k in range(-3, 4):
            r, c = row + k * down, column + k * right
            own += 0 <= r < height and 0 <= c < width and board[r, c] == colour
        if found or own < 3 or _ends(board, cell, colour, 5, kind, marks, 1 << way) > 0:
            continue
        for k in range(-3, 4):
            r, c = row + k * down, column + k * right
            if 0 <= r < height and 0 <= c < width and board[r, c] == EMPTY and marks[r * width + c] < OPEN_FOUR:
                found = found or (
                    not (bans and forbidden(board, r, c))
                    and _nothing_stops(board, r * width + c, colour, 5, kind, marks, 1 << way)
                )
    board[row, column] = EMPTY
    return found


@njit(cache=True)
def mark_threats(state: GomokuState, marks: npt.NDArray[np.int8]) -> None:
    """Mark what a stone on each empty cell would do for either side; `forbidden` cells are not Black's.

    Args:
        state: the board is changed during the call and restored at its end.
        marks: int8 [2, H * W], by side: `WINS` for a winning line, `OPEN_FOUR` if the next stone wins whatever the
            other side answers, unless that one wins first, `OPEN_THREE` (of lines of five) if it makes such a four,
            else 0.
    """
    board, line = state.board, int(state.turn[gomoku.LINE])
    width = board.shape[1]
    for side in range(2):
        colour, kind, own = side + 1, kind_of_line(state, side + 1), marks[side]
        bans = colour == gomoku.BLACK and state.turn[gomoku.RULE] == gomoku.RENJU
        for cell in range(board.size):
            wins = board[cell // width, cell % width] == EMPTY and line_through(board, cell, colour, line, kind)
            own[cell] = WINS if wins else 0
        for mark in (OPEN_FOUR, OPEN_THREE):
            for cell in range(board.size):
                row, column = cell // width, cell % width
                if board[row, column] != EMPTY or own[cell] or (bans and forbidden(board, row, column)):
                    continue
                if mark == OPEN_FOUR:
                    own[cell] = mark * _nothing_stops(board, cell, colour, line, kind, own, 15)
                elif line == gomoku.LINE_LENGTH:
                    own[cell] = mark * _makes_three(board, cell, colour, kind, own, bans)


def threats_of(state: GomokuState) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what `mark_threats` marks by side and by the cell's text."""
    marks = np.zeros((2, state.board.size), np.int8)
    mark_threats(state, marks)
    shape = state.board.shape
    first, second = (
        {gomoku.format_move(c, *shape): int(own[c]) for c in np.flatnonzero(own).tolist()} for own in marks
    )
    return first, second


def squares_of(state: AmazonsState) -> Territory:
    """Return the empty squares of each side in a position of the Amazons, and the winner if counting decides it."""
    reached, width = _reached(state), state.board.shape[1]
    nearer = territory(state).queen.reshape(state.board.shape)

    def named(which: npt.NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(format_square(square, width) for square in np.flatnonzero(which).tolist())

    first, second = (
        Squares(settled=named(own & ~other), nearer=named(own & other & (nearer == side)))
        for side, own, other in ((FIRST, *reached), (SECOND, *reached[::-1]))
    )
    return Territory(first=first, second=second, counted=counted(state))


def counted(state: AmazonsState) -> Counted | None:
    """Return the result of a position in which no empty square is open to both sides, if counting decides it."""
    if state.turn[1] >= 0 or not closed(state):
        return None
    least, most, _ = count_out(state, PLAY_NODES, endgame_scratch(state.amazons.shape[1]))
    to_play = to_play_of(state)
    if least > 0:
        return Counted(winner=SIDES[to_play], spare=least - 1)
    return Counted(winner=SIDES[1 - to_play], spare=-most) if most <= 0 else None


def _reached(state: AmazonsState) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return the empty squares that each side's amazons reach by king moves through empty squares, bool [H, W]."""
    first, second = (np.isfinite(distances(state, side, far=False)) for side in (0, 1))
    return first, second

"""The board of a session, as the manager's commands build it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import (
    BLACK,
    DRAWN,
    FIRST,
    LINE_LENGTH,
    MAX_SIDE,
    PLY,
    SECOND,
    STANDING,
    WHITE,
    GomokuState,
)
from pipeline_src.games.gomoku.moves import any_line
from pipeline_src.games.gomoku.renju import WHAT
from pipeline_src.games.gomoku.setup import from_board
from pipeline_src.jit import plainly
from pipeline_src.players.engines.gomocup_text import read_cell, write_cell

OWN, OTHER = 1, 2
"""Third number of a stone in ``BOARD``."""


@dataclass
class Board:
    """A game: its start position and its actions. It works without kernels while they are being compiled."""

    height: int
    width: int
    variant: str
    start: GomokuState = field(init=False)
    state: GomokuState = field(init=False)
    actions: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not (min(self.height, self.width) >= LINE_LENGTH and max(self.height, self.width) <= MAX_SIDE):
            raise ZugwerkError(
                f"no board of {self.width}x{self.height}; sides go from {LINE_LENGTH} to {MAX_SIDE}, such as 15 or 20"
            )
        self.start = self.state = from_board(np.zeros((self.height, self.width), np.int8), FIRST, self.variant)

    @property
    @plainly()
    def over(self) -> bool:
        """Whether a side has won, or the board is full."""
        return gomoku.winner(self.state) is not None

    @property
    def played(self) -> int:
        """Number of stones."""
        return int(self.state.turn[PLY])

    def read(self, text: str) -> int:
        """Return the action id of ``x,y``.

        Raises:
            ZugwerkError: the text is not a cell of the board.
        """
        return read_cell(text, self.height, self.width)

    def write(self, action: int) -> str:
        """Return the text ``x,y`` of an action id."""
        return write_cell(action, self.width)

    @plainly()
    def place(self, action: int) -> None:
        """Place a stone of the side to move.

        Raises:
            ZugwerkError: the cell is occupied or forbidden in Renju, or the game is over.
        """
        if self.over:
            raise ZugwerkError("the game is over")
        if not gomoku.is_legal(self.state, action):
            if self.state.board.flat[action]:
                raise ZugwerkError(f"there is a stone on {self.write(action)} already")
            raise ZugwerkError(f"{self.write(action)} is forbidden to Black: {WHAT}")
        self.state = gomoku.play(self.state, action)
        self.actions.append(action)

    def take_back(self, action: int) -> None:
        """Undo the last stone.

        Raises:
            ZugwerkError: the stone is not the last one.
        """
        if not self.actions or self.actions[-1] != action:
            last = f"the last stone is on {self.write(self.actions[-1])}" if self.actions else "there is none"
            raise ZugwerkError(f"cannot take back {self.write(action)}: {last}")
        self._replay(self.actions[:-1])

    @contextmanager
    def unless_refused(self) -> Iterator["Board"]:
        """Context in which an error restores the board."""
        before = self.variant, self.start, self.state, list(self.actions)
        try:
            yield self
        except Exception:
            self.variant, self.start, self.state, self.actions = before
            raise

    @plainly()
    def change_rule(self, variant: str) -> None:
        """Continue the game by another rule. If that rule refuses a move, the stones stay, without a history."""
        start: Any = from_board(self.start.board, int(gomoku.to_play(self.start)), variant)
        state, actions = start, list(self.actions)
        for action in actions:
            if not gomoku.is_legal(state, action):  # forbidden, or the game is over
                side = int(gomoku.to_play(self.state))
                start = state = from_board(self.state.board, side, variant)
                if any_line(start, BLACK if side == FIRST else WHITE):
                    start.turn[STANDING] = DRAWN  # the other side moved after the end, so nobody wins by the last move
                actions = []
                break
            state = gomoku.play(state, action)
        self.variant, self.start, self.state, self.actions = variant, start, state, actions

    @plainly()
    def set_up(self, stones: Sequence[tuple[int, int]]) -> None:
        """Set up the position of a ``BOARD`` command, cells with OWN or OTHER, with us to move.

        The lines give the order of the moves within each colour. If no legal game has that order, the stones are set up
        without a history.

        Raises:
            ZugwerkError: two stones are on one cell, the numbers of stones are impossible, or we have a winning line
                already. The board is not changed.
        """
        own, other = ([cell for cell, whose in stones if whose == side] for side in (OWN, OTHER))
        if len({cell for cell, _ in stones}) < len(stones):
            raise ZugwerkError("two stones on one cell")
        if len(other) - len(own) not in (0, 1):
            raise ZugwerkError(f"{len(own)} own and {len(other)} other stones, with own to move")
        black, white = (own, other) if len(own) == len(other) else (other, own)
        empty = from_board(np.zeros((self.height, self.width), np.int8), FIRST, self.variant)
        order = [cell for pair in zip_longest(black, white) for cell in pair if cell is not None]
        state: Any = empty
        for cell in order:
            if not gomoku.is_legal(state, cell):
                self._forget_order(black, white)
                return
            state = gomoku.play(state, cell)
        self.start, self.state, self.actions = empty, state, order

    def _forget_order(self, black: Sequence[int], white: Sequence[int]) -> None:
        board = np.zeros(self.height * self.width, np.int8)
        board[black], board[white] = BLACK, WHITE
        side = FIRST if len(black) == len(white) else SECOND
        start = from_board(board.reshape(self.height, self.width), side, self.variant)
        if any_line(start, BLACK if side == FIRST else WHITE):
            raise ZugwerkError("own stones make a line already, with own to move")
        self.start = self.state = start
        self.actions = []

    @plainly()
    def _replay(self, actions: Sequence[int]) -> None:
        self.state, self.actions = self.start, []
        for action in actions:
            self.place(action)

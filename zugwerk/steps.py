"""A game in steps with planes, as the environments of other libraries see it.

In the Amazons a turn has two steps of the same side, the amazon's move (``from * N + to``, with N squares) and the
arrow (``to``). In other games a step is an action. A game in one file has as many numbers as its board has cells, and
one for a pass; or as pairs of cells, where an action names two.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games import kernels
from pipeline_src.games.amazons import COLOUR
from pipeline_src.games.check import MOST_PLIES
from pipeline_src.games.game import GAMES
from pipeline_src.games.rules import copy_state
from zugwerk import Player, Position, ZugwerkError

Planes = npt.NDArray[np.float32]


class Steps:
    """A game under way."""

    def __init__(self, start: Position) -> None:
        self.position = start  # After the last whole move
        self._state: Any = copy_state(start.state)
        self._first: int | None = None  # First step of a move that has another one
        self._planned = -1, -1  # Steps of the move that `choose` has thought of
        self._two = kernels.max_steps(start.state) != kernels.max_actions(start.state)
        squares, rules = start.state.board.size, start._rules
        self._owners: tuple[int, ...] = getattr(rules, "OWNERS", (0, 1))
        # Steps are 0 to choices - 1, and no game has more than longest, except of Go.
        self.choices, self.longest = kernels.max_actions(start.state), squares
        if self._two:
            self.choices, self.longest = squares**2, 2 * squares
        elif start.game not in GAMES:
            pair = any(kernels.squares(start.state, action)[0] >= 0 for action in start.legal_actions.tolist())
            self.choices, self.longest = squares**2 if pair else squares + 1, MOST_PLIES * squares

    @property
    def side(self) -> int:
        """The side to move, 0 or 1."""
        return int(kernels.to_play(self._state))

    @property
    def returns(self) -> tuple[float, float] | None:
        """Result to side 0 and to side 1: 1, 0 or -1; None while the game is not over."""
        if self._first is not None or (winner := self.position.winner) is None:
            return None
        return {"first": (1.0, -1.0), "second": (-1.0, 1.0), "draw": (0.0, 0.0)}[winner]

    def legal(self) -> npt.NDArray[np.int32]:
        """Return the legal steps, int32 [S], ascending; none after the end."""
        out = np.empty(kernels.max_steps(self._state), np.int32)
        return np.sort(out[: kernels.write_steps(self._state, out)]) if self.returns is None else out[:0]

    def mask(self) -> npt.NDArray[np.int8]:
        """Return int8 [choices]: 1 for legal steps."""
        mask = np.zeros(self.choices, np.int8)
        mask[self.legal()] = 1
        return mask

    def play(self, step: int) -> None:
        """Make a step.

        Raises:
            ZugwerkError: it is not legal.
        """
        if step not in self.legal():
            raise ZugwerkError(f"step {step} is not legal in {self.position.fen}")
        if self._two and self._first is None:
            kernels.play_step(self._state, step)
            self._first = step
            return
        action = step if self._first is None else self._first * self._state.board.size + step
        self.position, self._first, self._planned = self.position.play(action), None, (-1, -1)
        self._state = copy_state(self.position.state)

    def text(self, step: int) -> str:
        """Return a step's text; of two steps in the form FROM-TO and then /ARROW, as squares' numbers."""
        if not self._two:
            return self.position.text(step)
        squares = self._state.board.size
        return f"{step // squares}-{step % squares}" if self._first is None else f"/{step}"

    def choose(self, player: Player) -> int:
        """Return the step by which a player goes on; the second one of a move is that of the same thought.

        Raises:
            ZugwerkError: another first step was made, so that there is no such thought.
        """
        if self._first is None:
            action = player.think(self.position).action
            self._planned = divmod(action, self._state.board.size) if self._two else (action, -1)
            return self._planned[0]
        if self._planned[0] != self._first:
            raise ZugwerkError("the first step of this move is not the one that the player chose; make both or none")
        return self._planned[1]

    def planes(self, side: int) -> Planes:
        """Return the nets' planes as a side sees them, row 0 the top of the board.

        Returns:
            float32 [3, H, W]: own stones, stones of the other side, and ones if the side is 0. A game with more kinds
                of pieces has a plane for each: own, the other side's, nobody's. In the Amazons [15, H, W], see
                `pipeline_src.systems.amazons_net.encode.encode_planes`.
        """
        board = self._state.board
        if self._two:
            from pipeline_src.systems.amazons_net.encode import encode_planes

            moved = self._state.turn[1] if side == self.side else -1
            boards, movers = board[None, ::-1], np.array([COLOUR[side]], np.int8)
            return np.asarray(encode_planes(boards, movers, np.array([moved], np.int16)).features[0], np.float32)
        kinds = [code for owner in (side, 1 - side, -1) for code, of in enumerate(self._owners, 1) if of == owner]
        return np.stack([*(board == code for code in kinds), np.full(board.shape, side == 0)]).astype(np.float32)

"""Whether a game keeps its promises: random games of a few seconds, before anything learns from it.

`check` raises `GameError` at the first broken promise, with the position that shows it.
"""

import random
import re
import time
import traceback
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.core.errors import NumbaError

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels, rules
from pipeline_src.games.grid import cell_text
from pipeline_src.games.rules import copy_state
from pipeline_src.jit import Need, plainly, ready

MOST_GAMES, PLAIN_PLIES = 200, 40
MOST_PLIES = 40  # For each cell of the board
SAMPLE = 6  # Actions of a position that are played and taken back
MAPS: dict[str, Any] = {
    "mirror": np.fliplr,
    "turn": lambda board: np.rot90(board, 2),
    "upside down": np.flipud,
    "quarter turn": np.rot90,
    "transposed": np.transpose,
}
_DECLARED = {"square": tuple(MAPS), "mirror": ("mirror",), "turn": ("turn",), "none": ()}


class GameError(ZugwerkError):
    """A promise that a game breaks, and the position that shows it."""


class Checked(NamedTuple):
    """The random games on a board."""

    board: tuple[int, int]  # Height and width
    plies: list[int]  # Of each game
    winners: Counter[str]  # first, second, draw


def check(game: Any, seconds: float = 5.0) -> list[Checked]:
    """Play random games of each size and variant of a game, and test in each position what a search relies on.

    Args:
        game: as `games.game.load_game` returns it.
        seconds: after them no game begins, but each board has one in plain Python, and one of the compiled kernels.

    Raises:
        GameError: a promise is broken.
    """
    found, boards = [], list(product(game.SIZES, game.VARIANTS))
    for size, variant in boards:
        start = game.initial_state(size, variant)
        plain = _Game(game, start, f"plain Python {size} {variant}", ", run as plain Python")
        with plainly():
            plain.play(PLAIN_PLIES, sample=1)
        _compile(game, start)
        replayed = copy_state(start)
        for action in plain.actions:
            kernels.play(replayed, action)
        plain.want_same(plain.state, replayed, "compiled kernels play otherwise than in plain Python")
        one, until = Checked(start.board.shape, [], Counter()), time.monotonic() + seconds / len(boards)
        while len(one.plies) < MOST_GAMES and (not one.plies or time.monotonic() < until):
            played = _Game(game, start, f"{size} {variant} {len(one.plies)}")
            played.play(MOST_PLIES * start.board.size, SAMPLE)
            if not kernels.outcome(played.state)[0]:
                raise played.fault(f"no end after {len(played.actions)} plies")
            one.plies.append(len(played.actions))
            one.winners[str(rules.winner(played.state))] += 1
        for name in _DECLARED[game.SYMMETRIES]:
            if start.board.shape == MAPS[name](start.board).shape:
                _mapped_game(game, start, name)
        found.append(one)
    return found


def _compile(game: Any, state: Any) -> None:
    needs = [Need(kernel, (state, 0)) for kernel in (kernels.take_back, kernels.squares)]
    needs += [Need(kernels.copy_into, (state, state)), Need(kernels.position_hash, (state,))]
    try:
        ready([*kernels.rules_need(state), *needs])
    except NumbaError as error:
        said = re.sub(r"\x1b\[\d*m", "", str(error)).strip()  # numba's colours
        raise GameError(f"{game.NAME}: a kernel does not compile: {said}") from error


class _Game:
    """A random game and what has been seen in it."""

    def __init__(self, game: Any, start: Any, seed: str, how: str = "") -> None:
        self.game, self.rng, self.how = game, random.Random(seed), how
        self.start, self.state, self.actions = start, copy_state(start), list[int]()
        self.hashes: dict[bytes, int] = {}
        self.positions: dict[int, bytes] = {}

    def fault(self, what: str, *more: int) -> GameError:
        """Return the error about what is wrong here, or after ``more`` actions from here."""
        moves = " ".join(self.text(action) for action in (*self.actions, *more)) or "none"
        try:
            shown = f"{self.game.diagram(self.state)}\nposition: {self.game.to_fen(self.state)}"
        except IndexError:  # codes without letters
            shown = str(self.state.board)
        return GameError(
            f"{self.game.NAME} {'x'.join(map(str, self.start.board.shape))}: {what}\n{shown}\nmoves: {moves}"
        )

    def text(self, action: int) -> str:
        try:
            return str(self.game.format_move(action, *self.start.board.shape))
        except Exception:  # a fault of its own, and here it is asked for in another fault's words
            return str(action)

    def want_same(self, state: Any, other: Any, what: str, *more: int) -> None:
        for name, array, found in zip(state._fields, state, other, strict=True):
            if not np.array_equal(array, found):
                raise self.fault(f"{what}: {name} differs", *more)

    def play(self, plies: int, sample: int) -> None:
        """Play on at random, for so many plies or to the end; test each position, and ``sample`` of its actions."""
        try:
            while len(self.actions) < plies:
                legal = self.test_position(sample)
                if not legal:
                    return
                self.actions.append(self.rng.choice(legal))
                kernels.play(self.state, self.actions[-1])
        except GameError:
            raise
        except Exception as error:  # of the game's own code
            frames = traceback.extract_tb(error.__traceback__)
            last = next((one for one in reversed(frames) if one.filename == self.game.__file__), frames[-1])
            where = f"{Path(last.filename).name}, line {last.lineno}, in {last.name}"
            raise self.fault(f"{type(error).__name__} ({where}{self.how}): {error}") from error

    def test_position(self, sample: int) -> list[int]:
        """Test what holds here; return the legal actions."""
        game, state, board = self.game, self.state, self.state.board
        if not 0 <= board.min() <= board.max() <= len(game.OWNERS):
            raise self.fault(f"a cell has code {board.max()}; OWNERS names those of {len(game.OWNERS)} codes")
        if state.turn[0] not in (0, 1):
            raise self.fault(f"turn[0] is {state.turn[0]}, and neither side's number")
        most = int(kernels.max_actions(state))
        room = np.full(2 * most + 4 * board.size, -1, np.int32)
        before = copy_state(state)
        legal: list[int] = room[: kernels.write_actions(state, room)].tolist()
        over, result = kernels.outcome(state)
        if len(legal) > most:
            raise self.fault(f"write_actions writes {len(legal)} actions, max_actions says {most}")
        if over and legal:
            raise self.fault(f"the game is over, and {self.text(legal[0])} is legal")
        if not over and not legal:
            raise self.fault("no action is legal, and the game goes on; a side that cannot move passes or has lost")
        if result not in ((-1, 0, 1) if over else (0,)):
            raise self.fault(f"outcome is {bool(over), float(result)}")
        if len({*legal}) < len(legal):
            raise self.fault(f"write_actions writes {self.text(Counter(legal).most_common(1)[0][0])} twice")
        self.test_legal({*legal}, sample)
        self.want_same(before, state, "write_actions, is_legal or outcome changes the state")
        other = copy_state(self.start)
        kernels.copy_into(state, other)
        self.want_same(state, other, "copy_into leaves out something")
        self.test_hash(state)
        if not self.actions:
            self.test_texts(legal)
        if legal:
            self.test_cells(legal)
            for action in self.rng.sample(legal, min(sample, len(legal))):
                self.test_action(action)
            if sample > 1:
                self.test_orders()
        return legal

    def test_legal(self, legal: set[int], sample: int) -> None:
        board, some = self.state.board, self.rng.sample(sorted(legal), min(4 * sample, len(legal)))
        tried = [self.rng.randrange(board.size + 1) for _ in range(2 * sample)]
        tried += [self.rng.randrange(board.size**2) for _ in range(2 * sample)]
        for action in (*some, *tried, -1, board.size, board.size**3, 1 << 40, -(1 << 40)):
            if bool(kernels.is_legal(self.state, action)) != (action in legal):
                word = "writes" if action in legal else "does not write"
                raise self.fault(f"is_legal({action}) disagrees with write_actions, which {word} it")

    def test_hash(self, state: Any, *more: int) -> None:
        """Equal positions have one hash, others have others."""
        position = state.board.tobytes() + state.turn[:1].tobytes()
        whole = position + state.turn.tobytes() + rules.legal_actions(state).tobytes()
        key = int(kernels.position_hash(state))
        if self.hashes.setdefault(whole, key) != key:
            raise self.fault("two orders of moves to the same position give two hashes", *more)
        if self.positions.setdefault(key, position) != position:
            raise self.fault(f"two positions of this game have the hash {key:x}: board or side to move differ", *more)

    def test_cells(self, legal: list[int]) -> None:
        """Each action names cells of the board, or is the only one that names none."""
        named: dict[tuple[int, int], int] = {}
        for action in legal:
            cells = self.cells(action)
            if not all(-1 <= cell < self.state.board.size for cell in cells):
                raise self.fault(f"squares of {action} are {cells}, of which one is no cell")
            if (twin := named.setdefault(cells, action)) != action:
                raise self.fault(f"actions {twin} and {action} name the same squares {cells}")

    def cells(self, action: int) -> tuple[int, int]:
        source, target = kernels.squares(self.state, action)
        return int(source), int(target)

    def test_action(self, action: int) -> None:
        """Played on a copy: it changes the cells that it names, and is taken back without a trace."""
        after, cells = copy_state(self.state), self.cells(action)
        kernels.play(after, action)
        changed = {*map(int, np.flatnonzero(after.board != self.state.board))}
        if changed and not changed & {*cells}:
            places = ", ".join(cell_text(cell, *after.board.shape) for cell in sorted(changed))
            raise self.fault(f"action {action} names the squares {cells}, and changes {places}: see `squares`", action)
        self.test_hash(after, action)
        kernels.take_back(after, action)
        self.want_same(self.state, after, "take_back does not restore the state", action)

    def test_orders(self) -> None:
        """Actions a, b, c and c, b, a (a, b and b, a where one side makes both) lead to one hash if to one position."""
        for _ in range(2):
            after, line = copy_state(self.state), list[int]()
            while len(line) < 3 and (legal := rules.legal_actions(after).tolist()):
                line.append(self.rng.choice(legal))
                kernels.play(after, line[-1])
                self.test_hash(after, *line)
            for order in (line[::-1], [*line[1::-1], *line[2:]]):
                after = copy_state(self.state)
                for i, action in enumerate(order):
                    if not kernels.is_legal(after, action):
                        break
                    kernels.play(after, action)
                    self.test_hash(after, *order[: i + 1])

    def test_texts(self, legal: list[int]) -> None:
        """At the start: texts are read as they are written."""
        game, state = self.game, self.state
        for action in legal:
            try:
                text = game.format_move(action, *state.board.shape)
                again = game.parse_move(text, *state.board.shape)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise self.fault(f"the text of action {action}: {error}; define format_move and parse_move") from error
            if again != action:
                raise self.fault(f"{text} is action {action}, read as {again}; define format_move and parse_move")
        if game.to_fen(game.from_fen(game.to_fen(state))) != game.to_fen(state):
            raise self.fault("from_fen does not read what to_fen writes")


def _mapped_game(game: Any, start: Any, name: str) -> None:
    """Play a random game and its image side by side, by the cells of the actions."""
    grid: npt.NDArray[Any] = MAPS[name](np.arange(start.board.size).reshape(start.board.shape))
    place = [*np.argsort(grid.ravel()).tolist(), -1]  # where each cell comes to lie
    played, image = _Game(game, start, name), copy_state(start)
    image.board[:] = MAPS[name](start.board)
    for _ in range(MOST_PLIES * start.board.size):
        other = _Game(game, start, name)
        other.state = image
        by_cells = {other.cells(action): action for action in rules.legal_actions(image).tolist()}
        wanted = {tuple(place[cell] for cell in played.cells(action)): action for action in _legal(played)}
        if set(by_cells) != set(wanted) or not np.array_equal(image.board, MAPS[name](played.state.board)):
            raise played.fault(f"SYMMETRIES is {game.SYMMETRIES!r}, and the {name} of this position goes on otherwise")
        if kernels.outcome(image) != kernels.outcome(played.state):
            raise played.fault(f"SYMMETRIES is {game.SYMMETRIES!r}, and the {name} of this position ends otherwise")
        if not wanted:
            return
        cells = played.rng.choice(sorted(wanted))
        kernels.play(image, by_cells[cells])
        kernels.play(played.state, wanted[cells])
        played.actions.append(wanted[cells])


def _legal(played: _Game) -> list[int]:
    return [int(action) for action in rules.legal_actions(played.state)]

"""Parsers for the arguments of ``position`` and ``go``."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game
from pipeline_src.players.engines.uci_text import read_move
from pipeline_src.players.player import Bounds, Position
from pipeline_src.search.limits import Clock

MOST_MS, MOST_NODES, MOST_DEPTH = 1e9, 1 << 62, 1_000
"""Largest limits, which no search reaches. Larger ones are reduced to them."""
_START = re.compile(r"startpos(\d*)")


@dataclass(frozen=True)
class Placed:
    """A position as the ``position`` command gives it."""

    start: Any
    state: Any
    actions: tuple[int, ...] = ()


def read_position(game: Game, words: Sequence[str]) -> Placed:
    """Read ``startpos[SIZE]|fen RANKS w|b [COUNTERS] [moves MOVE...]``, the words after ``position``.

    Raises:
        ZugwerkError: the position is malformed or a move is illegal; the message says why.
    """
    at = words.index("moves") if "moves" in words else len(words)
    head, moves = words[:at], words[at + 1 :]
    match = _START.fullmatch(head[0]) if len(head) == 1 else None
    if match:
        start = game.initial_state(int(match[1][:4])) if match[1] else game.initial_state()
    elif len(head) >= 3 and head[0] == "fen":
        start = game.from_fen(" ".join(head[1:]))
    else:
        raise ZugwerkError("position: expected startpos, or fen RANKS w|b, then moves MOVE...")
    state, actions = start, []
    for number, text in enumerate(moves, 1):
        action = read_move(game, state, text)
        if game.winner(state) is not None or not game.is_legal(state, action):
            raise ZugwerkError(f"position: move {number}, {text}, is not legal there")
        actions.append(action)
        state = game.play(state, action)
    return Placed(start, state, tuple(actions))


@dataclass
class GoCommand:
    """The limits of a ``go`` command; times in milliseconds, pairs by side."""

    numbers: dict[str, float] = field(default_factory=dict)
    infinite: bool = False
    ponder: bool = False
    moves: list[str] = field(default_factory=list)
    """Texts of ``searchmoves``."""
    actions: tuple[int, ...] = ()
    """Legal ones among them, from `read_moves`."""
    complaints: list[str] = field(default_factory=list)
    """Messages about words that could not be read and were ignored."""

    def place(self, placed: Placed, side: int, rng: np.random.Generator, overhead_ms: float) -> Position:
        """Return the position for the player of ``side``, with ``overhead_ms`` of its clock reserved for delays."""
        numbers = self.numbers
        own, other, increment = ("wtime", "btime", "winc") if side == 0 else ("btime", "wtime", "binc")
        clock = None
        if own in numbers:
            left = _less(numbers[own], overhead_ms)
            moves = int(numbers.get("movestogo", 0)) or None  # some programs send 0 for a time without an end
            clock = Clock(left, numbers.get(other, left), numbers.get(increment, 0.0), moves)
        return Position(placed.state, rng, placed.start, placed.actions, clock)

    def bounds(self, overhead_ms: float) -> Bounds:
        """Return the limits other than the clock, with ``overhead_ms`` of a move's time reserved for delays."""
        numbers = self.numbers
        movetime = numbers.get("movetime")
        depth = min(numbers.get("depth", math.inf), 2 * numbers.get("mate", math.inf) - 1)
        return Bounds(
            depth=None if depth == math.inf else int(depth),
            nodes=int(numbers["nodes"]) if "nodes" in numbers else None,
            movetime_ms=None if movetime is None else _less(movetime, overhead_ms),
            infinite=self.infinite,
            actions=self.actions,
        )

    def read_moves(self, game: Game, state: Any) -> None:
        """Read ``moves`` in a position; note those that are not legal in ``complaints``."""
        for text in self.moves:
            try:
                action = read_move(game, state, text)
                legal = game.is_legal(state, action)
            except ZugwerkError:
                legal = False
            if legal:
                self.actions += (action,)
            else:
                self.complaints.append(f"go searchmoves: {text[:40]!r} is not legal there and left out")


def _less(time_ms: float, overhead_ms: float) -> float:
    return max(1.0, time_ms / 2, time_ms - overhead_ms)


_RANGES = {
    "depth": (1.0, float(MOST_DEPTH)),
    "nodes": (1.0, float(MOST_NODES)),
    "movetime": (1.0, MOST_MS),
    "wtime": (1.0, MOST_MS),
    "btime": (1.0, MOST_MS),
    "winc": (0.0, MOST_MS),
    "binc": (0.0, MOST_MS),
    "movestogo": (0.0, MOST_MS),
    "mate": (1.0, float(MOST_DEPTH)),
}
_WORDS = {*_RANGES, "infinite", "ponder", "searchmoves"}


def read_go(words: Sequence[str]) -> GoCommand:
    """Read the words after ``go``, in any order; of one given twice the last counts.

    Unreadable words are ignored and noted in ``complaints``; no error is raised.
    """
    go, left = GoCommand(), list(words)
    while left:
        word = left.pop(0)
        if word == "infinite":
            go.infinite = True
        elif word == "ponder":
            go.ponder = True
        elif word == "searchmoves":
            while left and left[0] not in _WORDS:
                go.moves.append(left.pop(0))
        elif word in _RANGES:
            text = left.pop(0) if left and left[0] not in _WORDS else ""
            if not re.fullmatch(r"[+-]?\d{1,30}(\.\d*)?", text, re.ASCII):
                go.complaints.append(f"go {word}: {text[:40]!r} is not a number")
            else:
                low, high = _RANGES[word]
                go.numbers[word] = min(high, max(low, float(text)))
        else:
            go.complaints.append(f"go: {word[:40]!r} is not known and left out")
    return go

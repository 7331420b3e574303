import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pipeline_src import __version__ as __version__
from pipeline_src.arena.result import Match
from pipeline_src.errors import ZugwerkError as ZugwerkError
from pipeline_src.players.packaged import Card
from pipeline_src.records.record import GameRecord

__all__ = [
    "Evaluation",
    "Line",
    "Net",
    "Player",
    "Position",
    "Thought",
    "ZugwerkError",
    "__version__",
    "game",
    "games",
    "match",
    "net",
    "nets",
    "player",
    "read",
    "replay",
]

@dataclass(frozen=True, eq=False)
class Position:
    game: str
    state: Any
    start: Any
    actions: tuple[int, ...] = ...
    def play(self, *moves: str | int) -> Position: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def to_play(self) -> int: ...
    @property
    def winner(self) -> Literal["first", "second", "draw"] | None: ...
    @property
    def legal_actions(self) -> npt.NDArray[np.int32]: ...
    @property
    def legal_moves(self) -> list[str]: ...
    @property
    def moves(self) -> list[str]: ...
    @property
    def fen(self) -> str: ...
    def text(self, action: int) -> str: ...

def games() -> dict[str, tuple[int, ...]]: ...
def game(name: str, size: int | None = None, variant: str | None = None, *, fen: str | None = None) -> Position: ...

@dataclass(frozen=True)
class Line:
    moves: tuple[str, ...]
    value: float
    visits: int | None = ...

@dataclass(frozen=True)
class Thought:
    move: str
    action: int
    value: float | None = ...
    by_results: bool = ...
    lines: tuple[Line, ...] = ...
    depth: int | None = ...
    nodes: int | None = ...
    @property
    def policy(self) -> dict[str, float]: ...

@dataclass(eq=False)
class Player:
    text: str
    game: str
    def think(
        self,
        position: Position,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        movetime: float | None = None,
        lines: int = 1,
        seed: int = 0,
    ) -> Thought: ...
    def close(self) -> None: ...
    def __enter__(self) -> Player: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

def player(text: str, game: str | None = None) -> Player: ...
def match(
    game: str, a: str, b: str, games: int = 100, size: int | None = None, *, workers: int = 1, **spec: Any
) -> Match: ...
def read(path: str | os.PathLike[str]) -> list[GameRecord]: ...
def replay(record: GameRecord) -> Iterator[Position]: ...

@dataclass(frozen=True)
class Evaluation:
    value: float
    policy: dict[str, float]

@dataclass(frozen=True)
class Net:
    name: str
    file: Path
    card: Card
    def evaluate(self, position: Position) -> Evaluation: ...

def nets() -> list[str]: ...
def net(name: str) -> Net: ...

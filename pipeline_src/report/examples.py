"""The boards of the report as a file, ``artifacts/reports/positions.json``: a list of `Example`, one object each.

Squares have the names of the game's moves: ``d9``, in Go without the letter i. Boards are listed from the top rank
down. Probabilities and win rates are 0 to 1, rounded to four digits; squares with 0 are left out::

    [{"system": "gomoku", "name": "gomoku-ply-8", "title": "...", "caption": "...", "game": "gomoku", "moves": [],
      "panels": [{"label": "...", "board": ["...x.", ".o...", ...], "to_play": "Black", "value": 0.5312,
                  "last": ["e5"], "played": ["f6"], "heat": {"f6": 0.41, ...}, "texts": {}, "owned": {},
                  "candidates": [{"move": "f6", "probability": 0.41}, ...]}]}, ...]
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.games.game import get_game
from pipeline_src.project.params import Items, Params, at, build, read_tree
from pipeline_src.records.record import GameRecord

POSITIONS = Path("artifacts/reports/positions.json")
DIGITS = 4
GameName = Literal["amazons", "gomoku", "go"]
Side = Literal["White", "Black"]
LETTERS: dict[GameName, str] = {"amazons": "*.qQ", "gomoku": ".xo", "go": ".xo"}
"""Letters of a board by the game's board codes: ``Q`` White's amazons, ``q`` Black's, ``*`` arrows; ``x`` black stones,
``o`` white ones."""
SIDES: dict[GameName, tuple[Side, Side]] = {
    "amazons": ("White", "Black"),
    "gomoku": ("Black", "White"),
    "go": ("Black", "White"),
}  # Names of the first and second side


class Candidate(Params):
    """A move that may be played."""

    move: str
    probability: float


class Panel(Params):
    """One board with one heat map."""

    label: str
    """Title of the map."""
    board: Items[str]
    """Ranks from the top down, with a letter for each square (`LETTERS`)."""
    to_play: Side | None = None
    """Side to move, to which ``value`` belongs; None if the game is over."""
    last: Items[str] = ()
    """Squares of the last turn."""
    played: Items[str] = ()
    """Squares of the next turn of the game."""
    heat: dict[str, float] = Field(default_factory=dict)
    """Shares by square, 0 to 1."""
    texts: dict[str, str] = Field(default_factory=dict)
    """Texts on squares: move numbers, or values of the heat that are not probabilities."""
    owned: dict[str, Side] = Field(default_factory=dict)
    """Empty squares that only one side can still reach, with this side."""
    candidates: Items[Candidate] = ()
    """Candidate moves, the likeliest first."""
    value: float | None = None
    """Win rate of the side to move, 0 to 1; a draw counts half."""

    @model_validator(mode="after")
    def _is_a_board_of_shares(self) -> Self:
        if not self.board or any(len(rank) != len(self.board) for rank in self.board):
            raise ValueError(f"{self.label!r}: a board of {len(self.board)} ranks, but some are not as long")
        shares = [*self.heat.values(), *(one.probability for one in self.candidates)]
        shares += [] if self.value is None else [self.value]
        if wrong := [share for share in shares if not 0 <= share <= 1]:
            raise ValueError(f"{self.label!r}: {wrong[0]} is no probability")
        return self


class Example(Params):
    """Boards that belong together: one position as several nets see it, or a whole game."""

    system: str
    name: str
    """Short unique name of lower-case letters, digits and hyphens."""
    title: str
    caption: str
    game: GameName
    panels: Items[Panel]
    moves: Items[str] = ()
    """All moves of a whole game; empty for a position."""


def write_examples(path: Path | str, examples: Iterable[Example]) -> None:
    """Write the file as a whole. The same examples give the same bytes."""
    write_json(path, [example.model_dump() for example in examples])


def read_examples(path: Path | str) -> list[Example]:
    """Read the file that `write_examples` writes. Raises ZugwerkError: missing, or of another form, by key."""
    found = read_json(path)
    if not isinstance(found, list):
        raise ZugwerkError(f"{path}: expected a list of examples; `dvc repro -f report_positions` makes it again")
    return [build(Example, values, f"[{i}]", str(path)) for i, values in enumerate(found)]


def ranks(game: GameName, board: npt.NDArray[np.int8]) -> tuple[str, ...]:
    """Return a state's board int8 [H, W] as `Panel.board`."""
    rows = board[::-1] if game == "amazons" else board  # whose row 0 is rank 1
    return tuple("".join(LETTERS[game][code] for code in row) for row in rows)


def square_names(game: GameName, size: int) -> list[str]:
    """Return the names of a board's squares, in the order of their numbers."""
    if game == "amazons":
        from pipeline_src.games.amazons import format_square

        return [format_square(square, size) for square in range(size * size)]
    rules = get_game(game)
    return [rules.format_move(point, size, size) for point in range(size * size)]


def rounded(share: float) -> float:
    """Return a share rounded as in the file."""
    return round(float(share), DIGITS)


def heat_map(names: list[str], shares: npt.NDArray[np.float64]) -> dict[str, float]:
    """Return the shares [N] above 0 by square name."""
    return {name: value for name, share in zip(names, shares, strict=True) if (value := rounded(share)) > 0}


def likeliest(heat: dict[str, float], count: int = 3) -> tuple[Candidate, ...]:
    """Return the squares with the highest shares; ties go to the first."""
    best = sorted(heat.items(), key=lambda item: -item[1])[:count]
    return tuple(Candidate(move=name, probability=share) for name, share in best)


# The choice of the games that the report shows.


Draw = Callable[[str], np.random.Generator]  # Generator of random numbers of an example, by its name
PLAYED_BY = {"engine": "played by engines", "littlegolem": "from LittleGolem", "file": "from a file"}
"""Words for the source of a record."""


def draw_game(records: Sequence[GameRecord], plies: int, rng: np.random.Generator, missing: str) -> GameRecord:
    """Return a random game of more than ``plies`` plies, else the longest. Raises ZugwerkError: ``missing``."""
    longest = max(records, key=lambda record: len(record.actions), default=None)
    if longest is None or not longest.actions:
        raise ZugwerkError(missing)
    long = [record for record in records if len(record.actions) > plies]
    return long[int(rng.integers(len(long)))] if long else longest


def within(plies: Iterable[int], record: GameRecord) -> list[int]:
    """Return the plies, limited to the last turn of a game, in order and without repeats."""
    return sorted({min(ply, len(record.actions) - 1) for ply in plies})


def between(records: Iterable[GameRecord], a: str, b: str) -> list[GameRecord]:
    """Return the games of two players, with either of them moving first."""
    return [record for record in records if {record.first_name, record.second_name} == {a, b}]


def check_name(key: str, name: str, mapping: str) -> None:
    """Raise a ZugwerkError unless a name that a key of ``report_positions`` has is one of a mapping in params.yaml."""
    known = at(read_tree(), mapping) or {}  # which names there are; one of them is read
    if name not in known:
        raise ZugwerkError(f"params.yaml: report_positions.{key}: no {name!r}; there are: {', '.join(known)}")


def check_model(path: Path, stage: str) -> Path:
    """Return the path of a model after a check that it exists. Raises ZugwerkError: the file is missing."""
    if not path.is_file():
        raise ZugwerkError(f"{path}: no such model; `dvc repro {stage}` makes it")
    return path

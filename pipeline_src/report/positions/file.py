"""The boards of the report as a file, ``artifacts/reports/positions.json``: a list of `Example`, one object each.

Squares are named as the game's moves name them: ``d9``, in Go without the letter i. Lists of a board's squares go from
the top rank down. Probabilities and win rates are 0 to 1, rounded to four digits; squares without any are left out::

    [{"system": "gomoku", "name": "gomoku-ply-8", "title": "...", "caption": "...", "game": "gomoku", "moves": [],
      "panels": [{"label": "...", "board": ["...x.", ".o...", ...], "to_play": "Black", "value": 0.5312,
                  "last": ["e5"], "played": ["f6"], "heat": {"f6": 0.41, ...}, "texts": {}, "owned": {},
                  "candidates": [{"move": "f6", "probability": 0.41}, ...]}]}, ...]
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json
from pipeline_src.games.game import get_game
from pipeline_src.project.params import Items, Params, build

POSITIONS = Path("artifacts/reports/positions.json")
DIGITS = 4
GameName = Literal["amazons", "gomoku", "go"]
Side = Literal["White", "Black"]
LETTERS: dict[GameName, str] = {"amazons": "*.qQ", "gomoku": ".xo", "go": ".xo"}
"""What stands on a square, by the game's board code: ``Q`` White's amazons, ``q`` Black's, ``*`` arrows; ``x`` black
stones, ``o`` white ones."""
SIDES: dict[GameName, tuple[Side, Side]] = {
    "amazons": ("White", "Black"),
    "gomoku": ("Black", "White"),
    "go": ("Black", "White"),
}
"""First and second side."""


class Candidate(Params):
    """A move that may be played."""

    move: str
    probability: float


class Panel(Params):
    """One board with one heat map."""

    label: str
    """Name of what the map shows."""
    board: Items[str]
    """Ranks from the top one down, a letter a square (`LETTERS`)."""
    to_play: Side | None = None
    """Side whose win rate ``value`` is; None where the game is over."""
    last: Items[str] = ()
    """Squares that the last turn touched."""
    played: Items[str] = ()
    """Squares that the turn touched which was played next."""
    heat: dict[str, float] = Field(default_factory=dict)
    """By square, 0 to 1."""
    texts: dict[str, str] = Field(default_factory=dict)
    """A few letters to stand on squares: numbers of moves, or what the heat stands for where that is no probability."""
    owned: dict[str, Side] = Field(default_factory=dict)
    """Empty squares that one side alone can still reach."""
    candidates: Items[Candidate] = ()
    """The likeliest moves first."""
    value: float | None = None
    """Win rate of the side to move, 0 to 1, a draw counting half."""

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
    """Short and unique, of small letters, digits and dashes."""
    title: str
    caption: str
    game: GameName
    panels: Items[Panel]
    moves: Items[str] = ()
    """All moves of a whole game from the start; else none."""


def write_examples(path: Path | str, examples: Iterable[Example]) -> None:
    """Write the file, aside and renamed; the same examples give the same bytes."""
    write_json(path, [example.model_dump() for example in examples])


def read_examples(path: Path | str) -> list[Example]:
    """Read what `write_examples` wrote.

    Raises:
        ZugwerkError: no such file, or it is not of this shape; names the file and the key.
    """
    found = read_json(path)
    if not isinstance(found, list):
        raise ZugwerkError(f"{path}: expected a list of examples; `dvc repro -f report_positions` makes it again")
    return [build(Example, values, f"[{i}]", str(path)) for i, values in enumerate(found)]


def ranks(game: GameName, board: npt.NDArray[np.int8]) -> tuple[str, ...]:
    """A state's board int8 [H, W] as `Panel.board`."""
    rows = board[::-1] if game == "amazons" else board  # whose row 0 is rank 1
    return tuple("".join(LETTERS[game][code] for code in row) for row in rows)


def square_names(game: GameName, size: int) -> list[str]:
    """Names of the squares of a board by the game's own numbers."""
    if game == "amazons":
        from pipeline_src.games.amazons.notation import format_square

        return [format_square(square, size) for square in range(size * size)]
    rules = get_game(game)
    return [rules.format_move(point, size, size) for point in range(size * size)]


def rounded(share: float) -> float:
    """As the file has it."""
    return round(float(share), DIGITS)


def heat_map(names: list[str], shares: npt.NDArray[np.float64]) -> dict[str, float]:
    """Shares [N] by the names of their squares."""
    return {name: value for name, share in zip(names, shares, strict=True) if (value := rounded(share)) > 0}


def likeliest(heat: dict[str, float], count: int = 3) -> tuple[Candidate, ...]:
    """The squares of the most heat, of equals the first."""
    best = sorted(heat.items(), key=lambda item: -item[1])[:count]
    return tuple(Candidate(move=name, probability=share) for name, share in best)

"""Params sections growing_first and growing_larger: the boards, each of which is grown from the one before it.

The names in ``growing_larger`` are the boards' sizes, which is how dvc.yaml makes a stage of each:
``"9": {before: "6", generations: 12}``.
"""

from dataclasses import dataclass
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.params.gomoku_game import GomokuGame
from pipeline_src.params.load import PARAMS_FILE, build, load, read_tree

SECTION = "growing_larger"


@dataclass(frozen=True)
class GrowingFirst:
    """The smallest board."""

    size: int
    generations: int
    """At most; fewer where it converges."""
    variant: str = "freestyle"
    """Of all boards, see `GomokuGame`."""

    def __post_init__(self) -> None:
        GomokuGame(self.size, self.variant)
        _check(self.generations)


@dataclass(frozen=True)
class GrowingLarger:
    """Each other one."""

    before: str
    """Size of the board that its net comes from."""
    generations: int
    """At most; fewer where it converges."""

    def __post_init__(self) -> None:
        _check(self.generations)


@dataclass(frozen=True)
class GrowingBoard:
    """One of the boards."""

    size: int
    before: int | None
    generations: int
    variant: str


def read_boards(path: Path | str = PARAMS_FILE) -> list[GrowingBoard]:
    """The boards, from the smallest on.

    Raises:
        ZugwerkError: a section is missing or malformed, or a board is not grown from the next smaller one.
    """
    first = load(GrowingFirst, "growing_first", path)
    section = read_tree(path).get(SECTION)
    if not isinstance(section, dict):
        raise ZugwerkError(f'{path}: {SECTION}: expected boards by size, such as "9": {{before: "6", generations: 12}}')
    boards = [GrowingBoard(first.size, None, first.generations, first.variant)]
    for name, values in section.items():
        row = build(GrowingLarger, values, f"{SECTION}.{name}", str(path))
        last = boards[-1].size
        if not str(name).isdecimal() or int(name) <= last or row.before != str(last):
            raise ZugwerkError(
                f'{path}: {SECTION}.{name}: expected a board larger than {last}, with before: "{last}"; '
                "list the boards from small to large, each grown from the one before it"
            )
        try:
            GomokuGame(int(name), first.variant)
        except ValueError as error:
            raise ZugwerkError(f"{path}: {SECTION}.{name}: {error}") from None
        boards.append(GrowingBoard(int(name), last, row.generations, first.variant))
    return boards


def _check(generations: int) -> None:
    if generations < 1:
        raise ValueError(f"generations must be at least 1, not {generations}")

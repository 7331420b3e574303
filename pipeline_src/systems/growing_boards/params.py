"""Params of growing boards: the boards and their convergence.

Net, self-play, training and gate are the models of `pipeline_src.systems.gomoku_zero.params` in sections ``growing_*``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import PARAMS_FILE, Count, Fraction, Params, build, load, read_tree
from pipeline_src.systems.gomoku_zero.params import GomokuGame, Side

SECTION = "growing_larger"
"""Maps each larger board's size to a `GrowingLarger`: dvc.yaml makes a stage of each."""


class GrowingFirst(GomokuGame):
    """The smallest board, and the rules of all boards."""

    size: Side
    """Side of the board."""
    generations: Count
    """Largest number of generations; convergence can end the board earlier."""


class GrowingLarger(Params):
    """A larger board, by its size. Its net comes from the board before it; published: up to the full board."""

    before: str
    """Size of the board that its net comes from."""
    generations: Count
    """Largest number of generations; convergence can end the board earlier."""


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
        key = f"{SECTION}.{name}"
        row = build(GrowingLarger, values, key, str(path))
        last = boards[-1].size
        if not str(name).isdecimal() or int(name) <= last or row.before != str(last):
            raise ZugwerkError(
                f'{path}: {key}: expected a board larger than {last}, with before: "{last}"; '
                "list the boards from small to large, each grown from the one before it"
            )
        board = build(GomokuGame, {"size": int(name), "variant": first.variant}, key, str(path))
        boards.append(GrowingBoard(board.size, last, row.generations, board.variant))
    return boards


class GrowingConvergence(Params):
    """Convergence: a board ends when neither loss nor gate improves from one span of generations to the next."""

    span: Count = 3
    """Number of generations in a span."""
    loss_drop: Fraction = 0.03
    """The loss improves if its mean over the last span is lower than over the span before by more than this share."""
    score_gain: Annotated[float, Field(ge=0, le=0.5)] = 0.05
    """The gate improves if the new players of the last span together scored more than one half plus this number."""

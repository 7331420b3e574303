"""Params of growing boards, the boards and their convergence; and the paths of their files.

Net, self-play, training and gate are the models of `pipeline_src.systems.gomoku_zero.params` in sections ``growing_*``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import (
    PARAMS_FILE,
    Count,
    Fraction,
    Params,
    at,
    build,
    load,
    load_part,
    load_value,
    read_tree,
    read_value,
)
from pipeline_src.selfplay.params import ARTIFACTS
from pipeline_src.systems.gomoku_zero.params import GomokuBoard, GomokuGame, GomokuOpenings, Side

FIRST, SECTION = "growing_first", "growing_larger"
"""The smallest board; and each larger board by its size, of which dvc.yaml makes a stage."""


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


def read_board(size: int, path: Path | str = PARAMS_FILE) -> GrowingBoard:
    """One of the boards, from its own section and the first one's. Raises ZugwerkError: no such board, or malformed."""
    smallest = load_value(int, f"{FIRST}.size", path)
    if size == smallest:
        first = load(GrowingFirst, FIRST, path)
        return GrowingBoard(size, None, first.generations, first.variant)
    known = [str(smallest), *map(str, at(read_tree(path), SECTION) or ())]  # which boards there are, for the message
    if str(size) not in known:
        raise ZugwerkError(f"{path} has no board of size {size}; it has: {', '.join(known)}")
    row = load(GrowingLarger, f"{SECTION}.{size}", path)
    before = int(row.before) if row.before.isdecimal() else smallest
    return _grown(str(size), row, before, load_part(GomokuBoard, FIRST, path, ["variant"]).variant, path)


def read_boards(path: Path | str = PARAMS_FILE) -> list[GrowingBoard]:
    """The boards, from the smallest on. Raises ZugwerkError: a section is missing or malformed, or skips a board."""
    first, section = load(GrowingFirst, FIRST, path), read_value(SECTION, path)
    if not isinstance(section, dict):
        raise ZugwerkError(f'{path}: {SECTION}: expected boards by size, such as "9": {{before: "6", generations: 12}}')
    boards = [GrowingBoard(first.size, None, first.generations, first.variant)]
    for name, values in section.items():
        row = build(GrowingLarger, values, f"{SECTION}.{name}", str(path))
        boards.append(_grown(str(name), row, boards[-1].size, first.variant, path))
    return boards


def _grown(name: str, row: GrowingLarger, last: int, variant: str, path: Path | str) -> GrowingBoard:
    """A board that is grown from board ``last``, once it is known to be a larger one."""
    key = f"{SECTION}.{name}"
    if not name.isdecimal() or int(name) <= last or row.before != str(last):
        raise ZugwerkError(
            f'{path}: {key}: expected a board larger than {last}, with before: "{last}"; '
            "list the boards from small to large, each grown from the one before it"
        )
    board = build(GomokuGame, {"size": int(name), "variant": variant}, key, str(path))
    return GrowingBoard(board.size, last, row.generations, board.variant)


class GrowingConvergence(Params):
    """Convergence: a board ends when neither loss nor gate improves from one span of generations to the next."""

    span: Count = 3
    """Number of generations in a span."""
    loss_drop: Fraction = 0.03
    """The loss improves if its mean over the last span is lower than over the span before by more than this share."""
    score_gain: Annotated[float, Field(ge=0, le=0.5)] = 0.05
    """The gate improves if the new players of the last span together scored more than one half plus this number."""


CURVE = (
    *("generation", "games", "positions", "mean_plies", "loss", "policy_loss", "value_loss", "gate_score"),
    *("evaluations", "multiply_adds", "multiply_adds_in_all"),
)  # Columns of a board's table of generations


class BoardFiles:
    """The files of one board."""

    def __init__(self, size: int, artifacts: Path = ARTIFACTS) -> None:
        self.size = size
        self.models = artifacts / "models/growing" / str(size)  # Folder of the nets of all generations, and of the best
        self.best = self.models / "best.pt"  # The best player in the end
        self.games = artifacts / "records/growing" / str(size)  # Self-play games, a file a generation
        self.report = artifacts / "reports/growing/boards" / f"{size}.json"  # Metrics
        self.curve = self.report.with_suffix(".csv")  # A row a generation, `CURVE`: losses, gate, computing
        self.timings = self.report.with_suffix(".timings.json")  # Seconds of each generation's phases

    def model(self, generation: int) -> Path:
        """Return the path of a generation's net; 0 is the net at the start of the first generation."""
        return self.models / f"{generation:02d}.pt"


class GrowingEvaluateParams(Params):
    """Matches of the largest board's models against one opponent."""

    opponent: str = "mcts:playouts=1000"
    """Text of the fixed opponent, see `zugwerk players gomoku`."""
    pairs: Count = 50
    """Number of pairs of games of the final best player."""
    every: Count = 3
    """Distance between rated generations. The last one, and the net carried over from the smaller board, are rated
    too."""
    rated_pairs: Count = 10
    """Number of pairs of games of each rated generation."""
    simulations: Count = 64
    """Number of simulations of a model's move."""
    openings: GomokuOpenings = GomokuOpenings()
    """The openings of all matches."""

    @model_validator(mode="after")
    def _openings_suffice(self) -> Self:
        least = max(self.pairs, self.rated_pairs)
        if self.openings.count < least:
            raise ValueError(f"openings.count must be at least {least}: each is played once")
        return self


def player_words(params: Mapping[str, Any]) -> str:
    """Return in words the player that the figures are of, with the tree of params.yaml; empty if it does not say."""
    simulations = (params.get("growing_evaluate") or {}).get("simulations")
    return f"bare net, {simulations} simulations" if simulations else ""

"""Params sections growing_first and growing_larger: the boards, each of which is grown from the one before it.

The names in ``growing_larger`` are the boards' sizes, which is how dvc.yaml makes a stage of each:
``"9": {before: "6", generations: 12}``.

Params section ``growing_convergence``: when a board has been learnt.

Params section ``growing_evaluate``: how strong the largest board's players are.
"""

from dataclasses import dataclass, field
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import PARAMS_FILE, build, load, read_tree
from pipeline_src.systems.gomoku_zero.params import GomokuGame, GomokuOpenings

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


@dataclass(frozen=True)
class GrowingConvergence:
    """Two spans of generations, the last one and the one before it, are compared."""

    span: int = 3
    """Generations of each."""
    loss_drop: float = 0.03
    """The loss falls if its mean over the last span is lower than that of the one before by more than this share."""
    score_gain: float = 0.05
    """The gate improves if the new players of the last span scored more than a half and this together."""

    def __post_init__(self) -> None:
        if self.span < 1:
            raise ValueError(f"span must be at least 1, not {self.span}")
        for name, most in (("loss_drop", 1.0), ("score_gain", 0.5)):
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be 0 to {most:g}, not {getattr(self, name)}")


@dataclass(frozen=True)
class GrowingEvaluateParams:
    """Of the stage that plays the models against one opponent."""

    opponent: str = "mcts:playouts=1000"
    """Text of a player that learns nothing."""
    pairs: int = 50
    """Pairs of games of the best player in the end."""
    every: int = 3
    """Of the generations, each so many-th is rated too, and the net as it came from the smaller board."""
    rated_pairs: int = 10
    """Pairs of games of each of those."""
    simulations: int = 64
    """Of a model's move."""
    openings: GomokuOpenings = field(default_factory=GomokuOpenings)
    group: int = 40
    """Games that a task plays in lock step; changes no game."""

    def __post_init__(self) -> None:
        for name in ("pairs", "every", "rated_pairs", "simulations", "group"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.openings.count < max(self.pairs, self.rated_pairs):
            raise ValueError(
                f"openings.count must be at least {max(self.pairs, self.rated_pairs)}: each is played once"
            )

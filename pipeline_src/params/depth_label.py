"""Params section ``depth_label``: how many games are labelled with search depths, and how."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DepthLabelParams:
    """Of the stage in which the engine plays itself and writes down how deep it got."""

    games: int
    """That the engine plays against itself, by iterative deepening."""
    group: int
    """Games that a task plays; what a killed run has to do again at most, for each worker."""
    spent: float
    """Most of its clock that a side has used before the game begins, drawn for each side of each game: the nets are
    to know all states of the clock, not just those of this engine's habits."""
    judge_depth: int
    """How many plies deeper than it got the moves of its lesser depths are judged."""
    tolerance: float
    """By how much, in the evaluation's unit, a move may be worse and is still as good."""

    def __post_init__(self) -> None:
        if self.games < 1 or self.group < 1:
            raise ValueError(f"games and group must be at least 1, not {self.games} and {self.group}")
        if not 0 <= self.spent < 1:
            raise ValueError(f"spent must be 0 or more and below 1, not {self.spent}")
        if self.judge_depth < 1 or not self.tolerance >= 0:
            raise ValueError("judge_depth must be at least 1 and tolerance at least 0")

"""Params of the game that Gomoku's nets learn."""

from dataclasses import dataclass

from pipeline_src.games.gomoku.board import MAX_SIDE, MIN_SIDE, parse_variant


@dataclass(frozen=True)
class GomokuGame:
    """Board and rules. Every model is made for one board size and one length of a line."""

    size: int = 15
    variant: str = "freestyle"
    """``freestyle`` (five or more win) or ``exact`` (just five); ``freestyle-4`` has lines of four."""

    def __post_init__(self) -> None:
        if not MIN_SIDE <= self.size <= MAX_SIDE:
            raise ValueError(f"size must be {MIN_SIDE} to {MAX_SIDE}, not {self.size}")
        line, _ = parse_variant(self.variant)
        if line > self.size:
            raise ValueError(f"a line of {line} (variant '{self.variant}') does not fit a board of size {self.size}")

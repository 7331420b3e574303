"""Params of Gomoku's self-play."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class GomokuSelfPlay:
    """How the best player plays against itself."""

    games: int = 200
    """Of a generation."""
    group: int = 50
    """Games that a task plays in lock step. Fixed, so that the number of workers changes nothing."""
    first: Literal["search", "random"] = "search"
    """The first generation has no net: it searches with even priors and value 0, or plays uniformly random moves."""
    search: Literal["puct", "gumbel"] = "puct"
    """``gumbel`` is sequential halving at the root (Danihelka et al., 2022): better with few simulations."""
    simulations: int = 300
    """Of a move."""
    c: float = 1.0
    """c_puct, or what it begins at."""
    c_base: float = 0.0
    """c grows with a node's visits N by ln((1 + N + c_base) / c_base), as in AlphaZero, with 19652; 0: it does not."""
    fpu: float = 0.0
    """First-play urgency: how far below its node's Q an edge without visits begins, times sqrt(visited prior)."""
    own_visit: bool = True
    """The formula's N counts the node's own evaluation, as AlphaZero has it; False: only its edges, as published."""
    leaves: int = 1
    """Leaves of one tree in a batch of the net. More fill a GPU and cost some strength."""
    noise_alpha: float = 0.05
    """Of the Dirichlet noise on the root's prior; about 10 / (legal moves). Of puct alone."""
    noise_fraction: float = 0.25
    """Share of the root's prior that noise replaces; 0 is none. Of puct alone."""
    temperature_plies: int = 10
    """Plies at temperature 1: moves are drawn by their visits. Of puct alone."""
    temperature_decay: float = 0.9
    """Then the temperature falls by this factor a ply. Of puct alone."""
    decay_from_start: bool = False
    """It is temperature_decay^t at ply t of the game, so that it falls at once when those plies are over."""
    tempered_policy: bool = False
    """What is learnt is visits^(1 / temperature) too, not the visits. Of puct alone."""
    considered: int = 16
    """Actions that the root considers at first. Of gumbel alone."""
    c_visit: float = 50.0
    """Of gumbel alone."""
    c_scale: float = 1.0
    """Of gumbel alone."""
    rescale: bool = False
    """The search's Q of a position's moves go from 0 to 1 before c_scale weighs them. Of gumbel alone."""
    opening_plies: int = 0
    """A game begins with 0 to so many uniformly random stones."""
    backend: Literal["auto", "torch", "onnx", "onnx-int8", "cuda"] = "auto"
    chunk: int = 64
    """Positions of a forward pass; fewer are padded, so that an answer depends on its position alone."""

    def __post_init__(self) -> None:
        for name in ("games", "group", "simulations", "leaves", "considered", "chunk"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        for name in ("c", "noise_alpha", "c_visit", "c_scale"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
        for name in ("c_base", "fpu", "temperature_plies", "opening_plies"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, not {getattr(self, name)}")
        for name in ("noise_fraction", "temperature_decay"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be 0 to 1, not {getattr(self, name)}")

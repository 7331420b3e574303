"""Choosers of the search depth: a fixed number, a table, or a net (`player.NetDepth`)."""

from dataclasses import dataclass
from typing import Protocol

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.jit import Need


@dataclass(frozen=True)
class Choice:
    """A depth, and the cost of choosing it."""

    depth: int
    """Plies to search."""
    nodes: int = 0
    """Node equivalents: of the search that fills the net's input, and of the forward pass."""


class Chooser(Protocol):
    """Says how deep to search a position in which there is something to search."""

    def choose(self, state: AmazonsState, legal: int, used: float, seed: int) -> Choice:
        """A depth for an unfinished position between turns.

        Args:
            state: the position.
            legal: number of legal turns.
            used: share of the side's clock that is gone, 0..1.
            seed: seed of all random choices.
        """

    def needs(self, state: AmazonsState) -> list[Need]:  # noqa: ARG002 - few need any
        """Kernels that it calls on such boards."""
        return []

    def most_nodes(self, state: AmazonsState) -> int:
        """Node equivalents that a choice here can cost at most."""


@dataclass(frozen=True)
class FixedDepth(Chooser):
    """The same depth everywhere."""

    depth: int

    def choose(self, state: AmazonsState, legal: int, used: float, seed: int) -> Choice:  # noqa: ARG002
        """See `Chooser`."""
        return Choice(self.depth)

    def most_nodes(self, state: AmazonsState) -> int:  # noqa: ARG002
        """None."""
        return 0


@dataclass(frozen=True)
class TableDepth(Chooser):
    """The published opponent: a table from the number of expandable nodes, the legal turns, to the depth."""

    lowest: int
    """Depth where there are at least ``below[0]`` legal turns."""
    below: tuple[int, ...]
    """Falling numbers of legal turns; with fewer than each of them the search goes a ply deeper."""

    def __post_init__(self) -> None:
        if not 1 <= self.lowest <= 96:
            raise ZugwerkError(f"a depth table begins at a depth of 1 to 96, not {self.lowest}")
        if any(a < b for a, b in zip(self.below, self.below[1:], strict=False)):
            raise ZugwerkError(f"a depth table has falling numbers of legal turns, such as 900/400/150, not {self}")

    def choose(self, state: AmazonsState, legal: int, used: float, seed: int) -> Choice:  # noqa: ARG002
        """See `Chooser`."""
        return Choice(self.depth_of(legal))

    def most_nodes(self, state: AmazonsState) -> int:  # noqa: ARG002
        """None."""
        return 0

    def depth_of(self, legal: int) -> int:
        """Return the depth for a number of legal turns."""
        return self.lowest + sum(legal < number for number in self.below)

    def __str__(self) -> str:
        return "/".join(map(str, self.below))


def read_table(text: str, lowest: int) -> TableDepth:
    """The table that ``900/400/150`` writes down; empty text is ``lowest`` everywhere.

    Raises:
        ZugwerkError: it is none.
    """
    words = text.split("/") if text else []
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise ZugwerkError(f"a depth table has falling numbers of legal turns, such as 900/400/150, not {text}")
    return TableDepth(lowest, tuple(map(int, words)))

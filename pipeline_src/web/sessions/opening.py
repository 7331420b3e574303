"""Openings of Gomoku before the game proper: level stones, and swap and swap2, in which the players choose colours."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pipeline_src.web.messages.play import Choice, OpeningKind, OpeningStep

SECONDS = 2.0
"""Time of a player for its stones or its choice."""
FUNCTION = f"{__name__}:opened"


class Taken(NamedTuple):
    """A choice that was made."""

    ply: int
    """Number of stones on the board."""
    choice: Choice
    turned: bool
    """Whether the seats changed places."""


class Opening:
    """How far the opening of a game has come. Seat 0 places the first three stones; see `arena.gomocup.swap2`."""

    def __init__(self, kind: OpeningKind) -> None:
        self.kind, self.taken = kind, list[Taken]()

    def step(self, plies: int, taken: Sequence[Taken] | None = None) -> OpeningStep | None:
        """Return the next step after ``plies`` stones and the choices ``taken``, by default all; None: play."""
        made = [one.choice for one in (self.taken if taken is None else taken)]
        if not self.kind or (made and made[-1] != "place"):
            return None
        if plies < 3:
            return OpeningStep(seat=None if self.kind == "balanced" else 0, stones=3 - plies)
        if self.kind == "balanced":
            return None
        if not made:
            return OpeningStep(seat=1, stones=0, may_place=self.kind == "swap2")
        return OpeningStep(seat=1, stones=5 - plies) if plies < 5 else OpeningStep(seat=0, stones=0)

    def before(self, ply: int) -> list[Taken]:
        """Return the choices made with fewer than ``ply`` stones on the board."""
        return [one for one in self.taken if one.ply < ply]

    def take(self, plies: int, choice: Choice) -> bool:
        """Note a choice; return whether the seats change places. ``swap`` takes Black, ``stay`` White."""
        step = self.step(plies)
        assert step is not None
        turned = choice != "place" and (choice == "swap") != (step.seat == 0)
        self.taken.append(Taken(plies, choice, turned))
        return turned

    def turned_since(self, ply: int) -> bool:
        """Whether the choices from ``ply`` on have made the seats change places."""
        return sum(one.turned for one in self.taken if one.ply >= ply) % 2 == 1

    def back_to(self, ply: int) -> bool:
        """Take back the choices from ``ply`` on; return whether the seats change places."""
        turned, self.taken = self.turned_since(ply), self.before(ply)
        return turned


def opened(place: dict[str, Any], stones: int, may_place: bool) -> Iterator[Any]:
    """Yield level stones as texts, or if there are none to place, a choice, which may be two stones to place."""
    import numpy as np

    from pipeline_src.arena.gomocup.swap2 import choose, first_stones
    from pipeline_src.web.engine.child import placed
    from pipeline_src.web.engine.tasks import Place

    rng = np.random.default_rng()
    rules, position = placed(Place.model_validate(place), rng)
    state = position.state
    found = first_stones(state, rng, SECONDS, stones) if stones else choose(state, rng, SECONDS, may_place)
    yield found if isinstance(found, str) else [rules.format_move(action, *state.board.shape) for action in found]

"""What is played in a match: `MatchSpec`, and players' texts with default limits."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipeline_src.arena.match import start_state
from pipeline_src.arena.openings import Opening, read_openings
from pipeline_src.arena.timed import Timing
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import make_player
from pipeline_src.players.think import close


@dataclass(frozen=True)
class MatchSpec:
    """A match. Two equal ones give the same games, as far as their players keep no time."""

    game: str
    a: str
    """Text of the player whose score is told."""
    b: str
    """Text of the other."""
    games: int
    """Even: each opening is played twice, with the sides swapped."""
    openings: str = "random:2"
    """``random:PLIES``, ``none`` or a file (`read_openings`)."""
    size: int = 10
    variant: str | None = None
    """Of the game; None is its standard one."""
    seed: int = 1
    clock: tuple[float, float] | None = None
    """Milliseconds a side and increment a move; without one, a player's own ``movetime`` is watched."""
    margin: float = 100.0
    """Milliseconds that a move may take beyond its movetime."""

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ZugwerkError(f"games must be an even number above 0, not {self.games}: openings are played in pairs")
        times = [self.margin, *(self.clock or ())]
        if not all(0 <= time < math.inf for time in times) or (self.clock and not self.clock[0]):
            raise ZugwerkError("the clock must be above 0, its increment and the margin 0 or more")
        if self.seed < 0:
            raise ZugwerkError(f"seed must be 0 or more, not {self.seed}")

    @property
    def pairs(self) -> int:
        """Number of openings."""
        return self.games // 2

    def read_openings(self) -> list[Opening]:
        """One a pair; the first ones are the same whatever the number of games."""
        return read_openings(get_game(self.game), self.openings, self.start(), self.pairs, [self.seed, 0])

    def start(self, fen: str = "") -> Any:
        """The position that a game begins with: that of a text, or the standard one where that is empty."""
        return get_game(self.game).from_fen(fen) if fen else start_state(self.game, self.size, self.variant)

    def timing(self, swapped: bool) -> Timing:
        """Of the games in which ``a`` moves first, or second where ``swapped``."""
        limits = [movetime(text) for text in (self.a, self.b)]
        first, second = reversed(limits) if swapped else limits
        return Timing((first, second), self.clock, self.margin)

    def identity(self) -> dict[str, Any]:
        """All on which the games depend, as JSON. The number of games is not among it: a match may be prolonged."""
        found = {key: value for key, value in asdict(self).items() if key != "games"}
        if self.clock is not None:
            found["clock"] = list(self.clock)
        if self.openings != "none" and not self.openings.startswith("random:"):
            with open(self.openings, "rb") as file:
                found["openings_sha256"] = hashlib.sha256(file.read()).hexdigest()
        return found


def movetime(text: str) -> float | None:
    """The milliseconds a move that a player's text sets itself, if any."""
    value = PlayerText.parse(text).options.get("movetime")
    return None if value is None else float(value)


def with_limits(game: str, text: str, limits: Mapping[str, float | None]) -> str:
    """The text with those limits (movetime, nodes, depth) that are given, if its player takes limits and has none.

    Raises:
        ZugwerkError: the text names no player.
    """
    given = {name: value for name, value in limits.items() if value is not None}
    parsed = PlayerText.parse(text)
    if not given or any(name in parsed.options for name in limits):
        return text
    bare = not parsed.value and not parsed.options
    added = (
        text.rstrip(":") + (":" if bare else ",") + ",".join(f"{name}={value:.15g}" for name, value in given.items())
    )
    try:
        close(make_player(game, added))
    except ZugwerkError:
        close(make_player(game, text))  # takes no limits; a text that is wrong itself is complained about here
        return text
    return added

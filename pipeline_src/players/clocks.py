"""The clocks of a game: what each side has left, and whether a flag has fallen."""

from dataclasses import dataclass

from pipeline_src.players.player import Position
from pipeline_src.search.limits import Clock


def make_clock(own_ms: float, other_ms: float, increment_ms: float) -> Clock:
    """A clock as the side to move sees it."""
    return Clock(own_ms, other_ms, increment_ms)


@dataclass
class GameClock:
    """Both sides' time in milliseconds, with an increment after each move (Fischer's clock)."""

    left_ms: list[float]
    """Of the first and of the second side."""
    increment_ms: float = 0.0

    def seen_by(self, side: int) -> Clock:
        """As `Position.clock` has it."""
        return Clock(self.left_ms[side], self.left_ms[1 - side], self.increment_ms)

    def spend(self, side: int, used_ms: float) -> bool:
        """Take the time of a move; whether it was made before the flag fell."""
        self.left_ms[side] -= used_ms
        if self.left_ms[side] < 0:
            return False
        self.left_ms[side] += self.increment_ms
        return True


def clock_words(position: Position, first_to_move: bool) -> list[str]:
    """The clock of a position in the words of a ``go`` command; none where there is no clock."""
    clock = position.clock
    if clock is None:
        return []
    white, black = (clock.own_ms, clock.other_ms) if first_to_move else (clock.other_ms, clock.own_ms)
    return [
        *("wtime", str(int(white)), "btime", str(int(black))),
        *("winc", str(int(clock.increment_ms)), "binc", str(int(clock.increment_ms))),
    ]

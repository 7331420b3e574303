"""What ``INFO`` tells: `Settings`."""

import re
from dataclasses import dataclass

from pipeline_src.errors import ZugwerkError

ENDLESS_MS = 1e9
"""A time at least as long as this is none."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass
class Settings:
    """Of a session; they outlive its games. Times in milliseconds; None is what nobody has told."""

    timeout_turn: float | None = None
    """Of a move; 0 is as fast as possible."""
    timeout_match: float | None = None
    """Of a game; 0 is no limit."""
    time_left: float | None = None
    """Of a game, as told last."""
    max_memory: int = 0
    """Bytes of the whole process, 0 no limit. Searches get what the interpreter and the compiled kernels leave."""
    game_type: int = 0
    """0 against a person, 1 against a program, 2 a tournament, 3 a tournament over a network."""
    rule: int = 0
    """Bits: 1 a line of just five wins, 2 the game goes on after a win, 4 Renju, 8 Caro."""
    folder: str = ""
    """For files that are to outlast a game."""

    def read(self, words: list[str]) -> str | None:
        """Take what follows ``INFO``; the name of what changed, None for names that are not known.

        Raises:
            ZugwerkError: a number that is none; nothing has changed.
        """
        if not words:
            raise ZugwerkError("INFO: expected a name and a value")
        name, text = words[0].lower(), " ".join(words[1:])
        if name == "folder":
            self.folder = text
        elif name in ("timeout_turn", "timeout_match", "time_left"):
            setattr(self, name, float(max(0, _number(name, text))))
        elif name in ("max_memory", "game_type", "rule"):
            setattr(self, name, max(0, _number(name, text)))
        else:
            return None
        return name

    @property
    def match_ms(self) -> float | None:
        """What a game begins with; None where it has no limit."""
        limit = self.timeout_match
        return None if not limit or limit >= ENDLESS_MS else limit


def _number(name: str, text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise ZugwerkError(f"INFO {name}: {text[:40]!r} is not a whole number")
    return int(text)

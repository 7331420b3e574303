"""`Settings`, the values that ``INFO`` sets, and the memory that one of them limits."""

import os
import re
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from pipeline_src.errors import ZugwerkError


def resident_bytes() -> int:
    """Return the resident memory of the process in bytes, or its peak on systems that report only that."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most << 10


ENDLESS_MS = 1e9
"""A time of at least this is no limit."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass
class Settings:
    """Settings of a session, kept between its games. Times are in milliseconds; None is a time that was never sent."""

    timeout_turn: float | None = None
    """Time of a move; 0 is as fast as possible."""
    timeout_match: float | None = None
    """Time of a game; 0 is no limit."""
    time_left: float | None = None
    """Time left in the game, as last sent."""
    max_memory: int = 0
    """Memory limit of the process in bytes; 0 is none. Searches get what the interpreter and the kernels leave."""
    game_type: int = 0
    """Opponent: 0 a person, 1 a program, 2 a tournament, 3 a tournament over a network."""
    rule: int = 0
    """Bits: 1 exactly five in a row wins, 2 the game continues after a win, 4 Renju, 8 Caro."""
    folder: str = ""
    """Folder for persistent files."""
    level: int = 0
    """Level of the player on its board, 1 the weakest; 0 is the player's own strength. A setting of ours."""

    def read(self, words: list[str]) -> str | None:
        """Read the words after ``INFO``; return the name of the changed setting, or None for an unknown one.

        Raises:
            ZugwerkError: the value is not a number. Nothing is changed.
        """
        if not words:
            raise ZugwerkError("INFO: expected a name and a value")
        name, text = words[0].lower(), " ".join(words[1:])
        if name == "folder":
            self.folder = text
        elif name in ("timeout_turn", "timeout_match", "time_left"):
            setattr(self, name, float(max(0, _number(name, text))))
        elif name in ("max_memory", "game_type", "rule", "level"):
            setattr(self, name, max(0, _number(name, text)))
        else:
            return None
        return name

    @property
    def turn_ms(self) -> float | None:
        """Time of a move; None is no limit."""
        return _limit(self.timeout_turn)

    @property
    def match_ms(self) -> float | None:
        """Time of a whole game; None is no limit."""
        return _limit(self.timeout_match) or None


def _limit(milliseconds: float | None) -> float | None:
    return None if milliseconds is None or milliseconds >= ENDLESS_MS else milliseconds


def _number(name: str, text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise ZugwerkError(f"INFO {name}: {text[:40]!r} is not a whole number")
    return int(text)

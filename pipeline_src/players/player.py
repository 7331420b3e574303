"""What a player is, and the short text that names one: ``NAME[:VALUE][,key=value...]``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.search.limits import Clock


@dataclass(frozen=True, slots=True)
class Position:
    """One game as the player sees it whose turn it is there. The game is not over."""

    state: Any
    rng: np.random.Generator
    """The game's own generator."""
    start: Any = None
    """State that the game began with, if that is known."""
    actions: tuple[int, ...] = ()
    """All that was played from there."""
    clock: Clock | None = None
    """Where the game is played on one."""


class Player(Protocol):
    """Chooses moves in many games at once, so that a net can see them as one batch."""

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """A legal action for each position. What is chosen in a game may depend on nothing of the other games."""


@dataclass(frozen=True)
class PlayerText:
    """A player's text taken apart: ``nets:model.pt,temperature=0.5`` or ``one_ply:noise=0.5`` or ``random``."""

    name: str
    value: str
    """What follows the colon without a key, often a path; empty if nothing does."""
    options: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> "PlayerText":
        """Take a text apart.

        Raises:
            ZugwerkError: no name, an empty item, or a key twice.
        """
        name, _, rest = text.strip().partition(":")
        if not name:
            raise ZugwerkError(f"player {text!r}: expected NAME[:VALUE][,key=value...]")
        items = rest.split(",") if rest else []
        value = "" if not items or _is_option(items[0]) else items.pop(0)
        options: dict[str, str] = {}
        for item in items:
            key, equals, setting = item.partition("=")
            if not (key and equals and setting) or key in options:
                raise ZugwerkError(f"player {text!r}: cannot read {item!r}; expected key=value, each key once")
            options[key] = setting
        return cls(name, value, options)


def _is_option(item: str) -> bool:
    """Whether an item is ``key=value``; a path such as ``runs/lr=0.1/nets.pt`` is not."""
    key, equals, _ = item.partition("=")
    return bool(equals) and key.isidentifier()

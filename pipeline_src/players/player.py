"""What a player is, and the short text that names one: ``NAME[:VALUE][,key=value...]``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.search.limits import Clock, Limit, OnInfo, SearchResult

if TYPE_CHECKING:
    from pipeline_src.jit.needs import Need


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


@dataclass(frozen=True)
class Bounds:
    """Limits of one move; without any, the position's clock or else the player's own hold."""

    depth: int | None = None
    nodes: int | None = None
    movetime_ms: float | None = None
    infinite: bool = False
    """Until it is stopped."""


@dataclass(frozen=True)
class Thought:
    """A move that a player has chosen, and what went into it."""

    action: int
    found: SearchResult | None = None
    """The last report of the search; None of players that do not search."""
    nodes: int = 0
    """Price of the move on a clock of nodes."""
    note: tuple[float, ...] | None = None
    """Figures of the move that are kept with the game (`arena.game.PlayedGame.notes`)."""


class OneBoard(NamedTuple):
    """A board and a rule that a player can play, such as those of its net."""

    height: int
    width: int
    variant: str


NO_BOUNDS = Bounds()


class Player:
    """Chooses moves in many games at once, so that a net can see them as one batch.

    A player derives from this class and defines `choose` or `consider`; the rest has defaults. It is made once and
    plays many games: after `new_game` it plays just as one that was made a moment ago.
    """

    searches = False
    """Whether a move can be limited, watched and stopped from outside."""
    limit: Limit | None = None
    """Its own, of a move."""
    boards: tuple[OneBoard, ...] = ()
    """All on which it plays; empty where it is not bound to some."""
    movetime_ms: float | None = None
    """Milliseconds a move that another program is told; an arena without a clock polices them."""
    first_ms = 0.0
    """Milliseconds that its first move in a game may take beyond that, for what it does to start one."""
    logs: Path | None = None
    """Folder for what another program writes on its standard error."""
    _warm = False

    @property
    def only(self) -> OneBoard | None:
        """The only board on which it plays; None where it plays on more."""
        return self.boards[0] if len(self.boards) == 1 else None

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """A legal action for each position. What is chosen in a game may depend on nothing of the other games.

        Raises:
            PlayerError: it has none in one of the games.
        """
        return [thought.action for thought in self.consider(positions)]

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """The choices of `choose`, with what went into each."""
        return [Thought(action) for action in self.choose(positions)]

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:  # noqa: ARG002
        """One move under limits from outside, watched by ``on_info``.

        A player that does not search knows neither: it answers as soon as it has chosen.
        """
        return self.consider([position])[0]

    def check(self, state: Any) -> None:
        """Refuse a board or a rule that it cannot play.

        Raises:
            ZugwerkError: says what it plays.
        """

    def needs(self, start: Any) -> "list[Need]":  # noqa: ARG002 - few need none
        """Kernels that it calls in games from a state, beside those of the rules."""
        return []

    def ready(self, start: Any = None) -> None:
        """Start what runs outside this process, and load what a move of a game from ``start`` would else wait for.

        Raises:
            PlayerError: an engine that cannot be started, or does not say that it is ready.
        """
        if start is not None and not self._warm:
            from pipeline_src.games.kernels import rules_need  # and numba: who a player is can be asked without
            from pipeline_src.jit.needs import ready

            ready([*rules_need(start), *self.needs(start)])
            self._warm_up(Position(start, np.random.default_rng(0), start))
            self._warm = True
            self.new_game()

    def _warm_up(self, position: Position) -> None:
        """Choose for once, as fast as it goes."""
        self.choose([position])

    def new_game(self) -> None:
        """Forget what is remembered of the game before: the next position belongs to another one."""

    def use_memory(self, size: int) -> None:
        """Let what grows with a search take so many bytes at most."""

    def take_memory(self, size: int) -> None:
        """Let the table of positions take so many bytes, more or less than by default; without a table nothing."""

    def stop(self) -> None:
        """End the search under way, from another thread; a player that does not search goes on to its choice."""

    def last_words(self) -> str:
        """The last of what another program wrote, for the end of a message; else empty."""
        return ""

    def close(self) -> None:
        """End what runs outside this process; the next move starts it again."""


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

"""`Player`, the base of all players, and `PlayerText`, the text that names one: ``NAME[:VALUE][,key=value...]``."""

import re
import time
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from pydantic import ValidationError

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import Fault, Params, first_fault, unwrapped
from pipeline_src.search.limits import Clock, Limit, OnInfo, SearchResult

if TYPE_CHECKING:
    from pipeline_src.jit import Need


@dataclass(frozen=True, slots=True)
class Position:
    """An unfinished game, as seen by the player of the side to move."""

    state: Any
    rng: np.random.Generator  # The game's own random generator
    start: Any = None  # The first state of the game, if it is known
    actions: tuple[int, ...] = ()  # All actions since `start`
    clock: Clock | None = None  # The game's clock, if it has one


@dataclass(frozen=True)
class Bounds:
    """Limits of one move. Without any, the position's clock applies, or else the player's own limit."""

    depth: int | None = None
    nodes: int | None = None
    movetime_ms: float | None = None
    infinite: bool = False  # Whether to search until stopped
    lines: int = 1  # Number of best actions that reports have lines for; see `Limit.lines`
    actions: tuple[int, ...] = ()
    """Actions that may be chosen; see `Limit.actions`. Other searches and players without one choose from all."""


@dataclass(frozen=True)
class Thought:
    """A move that a player has chosen, with the result of its search."""

    action: int
    found: SearchResult | None = None  # The last report of the search; None for a player that does not search
    nodes: int = 0  # Cost of the move on a clock of nodes
    note: tuple[float, ...] | None = None
    """Numbers about the move that are kept with the game (`arena.game.PlayedGame.notes`)."""


class OneBoard(NamedTuple):
    """A board and a rule that a player can play, such as those of its net."""

    height: int
    width: int
    variant: str


def board_words(board: OneBoard) -> str:
    """A board and its rule in words, such as ``9x9 freestyle``."""
    return f"{board.height}x{board.width} {board.variant}"


NO_BOUNDS = Bounds()


class Player:
    """A player chooses moves in many games at once, so that a net can evaluate them as one batch.

    A subclass defines `choose` or `consider`; the other methods have defaults. A player is made once and plays many
    games: after `new_game` it plays exactly like a new one.
    """

    searches = False  # Whether a move can be limited, observed and stopped from outside
    limit: Limit | None = None  # The player's own limit of a move
    boards: tuple[OneBoard, ...] = ()  # All boards that it plays on; empty for a player of any board
    movetime_ms: float | None = None  # Time of a move of another program, which an arena without a clock enforces
    first_ms = 0.0  # Milliseconds that its first move in a game may take beyond that
    waited_ms = 0.0  # Milliseconds of the last choice that were a pause for another program, which no clock counts
    logs: Path | None = None  # Folder for the standard error of another program
    _warm = False

    @property
    def only(self) -> OneBoard | None:
        """The only board on which it plays; None where it plays on more."""
        return self.boards[0] if len(self.boards) == 1 else None

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """Return a legal action for each position. The choice in one game must not depend on the other games.

        Raises:
            PlayerError: the player has no legal action in one of the games.
        """
        return [thought.action for thought in self.consider(positions)]

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """Return the choices of `choose`, each with the result of its search."""
        return [Thought(action) for action in self.choose(positions)]

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:  # noqa: ARG002
        """Choose one move under limits from outside, observed by ``on_info``.

        A player that does not search ignores both.
        """
        return self.consider([position])[0]

    def check(self, state: Any) -> None:
        """Raise an error for a board or a rule that the player cannot play.

        Raises:
            ZugwerkError: the board or the rule is not supported; the message says which are.
        """

    def needs(self, start: Any) -> "list[Need]":  # noqa: ARG002 - few need none
        """Return the kernels that it calls in games from a state, besides those of the rules."""
        return []

    def ready(self, start: Any = None) -> None:
        """Start outside processes and load kernels and nets, so that no move of a game from ``start`` waits for them.

        Raises:
            PlayerError: an engine cannot be started, or does not report readiness.
        """
        if start is not None and not self._warm:
            from pipeline_src.games.kernels import rules_need  # imports numba, which the rest does not
            from pipeline_src.jit import ready

            ready([*rules_need(start), *self.needs(start)])
            self._warm_up(Position(start, np.random.default_rng(0), start))
            self._warm = True
            self.new_game()

    def _warm_up(self, position: Position) -> None:
        """Choose one move as fast as possible."""
        self.choose([position])

    def new_game(self) -> None:
        """Forget the game before: the next position belongs to another one."""

    def use_memory(self, size: int) -> None:
        """Limit the memory that grows with a search, in bytes."""

    def take_memory(self, size: int) -> None:
        """Set the size of the table of positions in bytes. A player without a table ignores it."""

    def stop(self) -> None:
        """End the running search, from another thread. A player that does not search ignores it."""

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process that the player runs in.

        Raises:
            PlayerError: the system does not tell it.
        """
        return time.process_time()

    def last_words(self) -> str:
        """Return the last lines of another program for the end of a message; empty for other players."""
        return ""

    def close(self) -> None:
        """End outside processes. The next move starts them again."""


@dataclass(frozen=True)
class PlayerText:
    """A parsed player's text, such as ``nets:model.pt,temperature=0.5``, ``one_ply:noise=0.5`` or ``random``.

    A comma within double quotes divides nothing. A value or setting that is quoted as a whole stands for what is in the
    quotes, where ``""`` is a quote, as in CSV: ``nets:"runs/a,b.pt"``.
    """

    name: str
    value: str  # The value after the colon that has no key, often a path; empty if missing
    options: dict[str, str]
    raw: str = field(default="", compare=False)
    """``value`` with its quotes, for command lines, which are split as by a shell."""

    @classmethod
    def parse(cls, text: str) -> "PlayerText":
        """Parse a player's text.

        Raises:
            ZugwerkError: the name is missing, an item is empty, or a key occurs twice.
        """
        name, _, rest = text.strip().partition(":")
        if not name:
            raise ZugwerkError(f"player {text!r}: expected NAME[:VALUE][,key=value...]")
        items = _ITEM.findall(rest + ",") if rest else []
        value = "" if not items or _is_option(items[0]) else items.pop(0)
        options: dict[str, str] = {}
        for item in items:
            key, equals, setting = item.partition("=")
            if not (key and equals and setting) or key in options:
                hint = "" if equals or not item else '; a value with a comma stands in double quotes: NAME:"a,b"'
                raise ZugwerkError(f"player {text!r}: cannot read {item!r}; expected key=value, each key once{hint}")
            options[key] = _unquoted(setting)
        return cls(name, _unquoted(value), options, value)

    @property
    def label(self) -> str:
        """Name of the player in tables: the option ``name`` of a program that has one, or else the text."""
        return self.options.get("name") or str(self)

    def __str__(self) -> str:
        """Return a text that `parse` reads as this."""
        items = [self.raw or _quoted(self.value), *(f"{key}={_quoted(one)}" for key, one in self.options.items())]
        return ":".join(filter(None, [self.name, ",".join(filter(None, items))]))


_ITEM = re.compile('((?:"[^"]*"|[^,])*),')


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if re.fullmatch('"([^"]|"")*"', text) else text


def _quoted(text: str) -> str:
    plain = text == text.strip() and "," not in text and '"' not in text and not _is_option(text)
    return text if plain else '"' + text.replace('"', '""') + '"'


def _is_option(item: str) -> bool:
    """Whether an item has the form ``key=value``; a path such as ``runs/lr=0.1/nets.pt`` does not."""
    key, equals, _ = item.partition("=")
    return bool(equals) and key.isidentifier()


class Options(Params):
    """Base of the options of all players. A player is made by a function that takes an instance of a subclass.

    A field is an option ``name=setting``. A field that is a dict takes all options ``name.KEY=setting``.
    """

    EXAMPLE: ClassVar[str] = ""  # Example of a player's text
    VALUE: ClassVar[str] = ""  # Name of the field for the value after the colon; empty if none is allowed
    ALIASES: ClassVar[Mapping[str, str]] = {}  # Other names of options, with the field that each sets
    VARIANTS: ClassVar[tuple[str, ...]] = ()
    """Further texts, of players that call other kernels than the default one; used by `players.registry`."""


T = TypeVar("T", bound=Options)


def read_options(kind: type[T], text: PlayerText) -> T:
    """Read the options of a player's text.

    Raises:
        ZugwerkError: an option is unknown, given twice under two names, missing, of the wrong type or out of bounds, or
            two options exclude each other.
    """
    player = f"player '{text.name}'"
    if text.value and not kind.VALUE:
        raise ZugwerkError(f"{player} takes no {text.value!r} after the colon")
    value = text.raw if kind.VALUE == "command" else text.value
    values: dict[str, Any] = {kind.VALUE: _read(kind, kind.VALUE, value)} if text.value else {}
    written: dict[str, str] = {}
    for key, setting in text.options.items():
        name, _, inner = kind.ALIASES.get(key, key).partition(".")
        if name not in kind.model_fields or name == kind.VALUE or _is_mapping(kind, name) != bool(inner):
            known = ", ".join(option_names(kind)) or "none"
            raise ZugwerkError(f"{player} has no option {key!r}; its options: {known}")
        if inner:
            values.setdefault(name, {})[inner] = setting
        elif name in written:
            raise ZugwerkError(f"{player}: {written[name]} and {key} are one option; give one of them")
        else:
            values[name], written[name] = _read(kind, name, setting), key
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise ZugwerkError(f"{player}{_complaint(kind, first_fault(kind, error), written)}") from None


def option_names(kind: type[Options]) -> list[str]:
    """Return the names of the options that have a key."""
    return [f"{name}.KEY" if _is_mapping(kind, name) else name for name in kind.model_fields if name != kind.VALUE]


def _is_mapping(kind: type[Options], name: str) -> bool:
    return typing.get_origin(unwrapped(kind.model_fields[name].annotation)[0]) is dict


def _read(kind: type[Options], name: str, setting: str) -> Any:
    """Return a setting as a value of its field's type, or unchanged if it cannot be converted."""
    wanted, _ = unwrapped(kind.model_fields[name].annotation)
    if wanted is bool:
        return {"0": False, "1": True}.get(setting, setting)
    if wanted not in (int, float):
        return setting
    try:
        number = float(setting)
    except ValueError:
        return setting
    return int(number) if wanted is int and number.is_integer() else number


def _complaint(kind: type[Options], fault: Fault, written: Mapping[str, str]) -> str:
    name = fault.name.removeprefix(".")
    key = written.get(name, name)
    if fault.error == "missing":
        return f" needs a {name}, as in {kind.EXAMPLE}"
    if fault.refusal:
        return f": {f'{key} {fault.refusal}'.strip()}"
    if fault.error == "literal_error":
        return f": {key} is one of {', '.join(typing.get_args(fault.kind))}, not {fault.value!r}"
    if fault.kind is bool:
        return f": {key} must be 0 or 1, not {fault.value!r}"
    if isinstance(fault.value, float):
        return f": {key} must be a whole number, not {fault.value:.15g}"
    return f": {key}={fault.value!r} is not a number"


ErrorKind = Literal["illegal", "time", "hang", "crash", "exit"]
"""``illegal``: an illegal move or none. ``time``: too late. ``hang``: no answer at all. ``crash``: the engine crashed.
``exit``: the engine left with status 0."""


class PlayerError(ZugwerkError):
    """A player gave no legal move in time. The arena turns this into a forfeit of the game and continues."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind

    def __reduce__(self) -> tuple[type[Self], tuple[ErrorKind, str]]:
        return type(self), (self.kind, str(self))


class RefusalError(PlayerError):
    """Another program refuses a board or a rule.

    Before a match (`Player.check`) no game is played, so none is lost. A program that refuses the same board later
    forfeits that game.
    """


RATES = ("zero", "mcts", "puct", "nets", "net")
"""Players with values from -1 to 1, mean results; those of others are points."""


def by_results(text: str) -> bool:
    """Whether the values of a player's searches, given its text, are mean results from -1 to 1."""
    return PlayerText.parse(text).name in RATES

"""The interface of a game, `Game`, and `get_game` and `load_game`, which turn a name or a file into a game's module.

A game is a module. Its functions take a state as a value and do not change it; those that follow from its kernels are
the same for all games (`pipeline_src.games.rules`). Fast searches do not go through here: they call kernels that
dispatch on the type of the state (`pipeline_src.games.kernels`).
"""

import importlib
import logging
import pkgutil
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from pipeline_src.errors import ZugwerkError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


_HERE = Path(__file__).parent
_NO_GAMES = ("check", "game", "grid", "kernels", "learnable", "rules", "stones")
GAMES = tuple(sorted({found.name for found in pkgutil.iter_modules([str(_HERE)])} - {*_NO_GAMES}))
"""Names of the games: every other file or folder next to this file is one."""
LEARNABLE = tuple(sorted(found.name for found in pkgutil.iter_modules([str(_HERE / "learnable")])))
"""Names of the packaged games that are one file each, as a user's own: `load_game` knows them, `get_game` does not."""


class Game(Protocol):
    """The functions of a game's module. The side that moves first is ``first`` as a winner and 0 as ``to_play``."""

    NAME: str
    VERSION: int
    SIZES: tuple[int, ...]
    VARIANTS: tuple[str, ...]

    def initial_state(self, size: int = ..., variant: str = ...) -> Any:
        """Return the start position. A size or variant that the game does not have raises ZugwerkError."""

    def to_play(self, state: Any) -> int:
        """Return the side to move: 0 (first) or 1 (second)."""

    def legal_actions(self, state: Any) -> "npt.NDArray[np.int32]":
        """Return all legal action ids, int32 [A], in an order that depends on the position alone."""

    def is_legal(self, state: Any, action: int) -> bool:
        """Whether an action is legal. Any int is accepted."""

    def play(self, state: Any, action: int) -> Any:
        """Return the state after a legal action."""

    def winner(self, state: Any) -> Literal["first", "second", "draw"] | None:
        """Return the result of a finished game: ``first``, ``second`` or ``draw``; None for an unfinished game."""

    def from_fen(self, fen: str) -> Any:
        """Read a position text. A malformed one raises ZugwerkError."""

    def to_fen(self, state: Any) -> str:
        """Return the position text of a state."""

    def parse_move(self, text: str, height: int, width: int) -> int:
        """Return the action id of a move's text. A malformed one raises ZugwerkError."""

    def format_move(self, action: int, height: int, width: int) -> str:
        """Return the text of an action id."""

    def perft(self, state: Any, depth: int) -> int:
        """Count the sequences of ``depth`` legal actions."""

    def divide(self, state: Any, depth: int) -> dict[int, int]:
        """Return, for each legal action, the perft of ``depth - 1`` after it."""


def get_game(name: str) -> Game:
    """Return the module of a game. Only this game is imported.

    >>> get_game("amazons").SIZES
    (10, 8, 6)

    Raises:
        ZugwerkError: no game has this name; the message lists the games.
    """
    if name not in GAMES:
        raise ZugwerkError(f"no game called {name!r}; there are: {', '.join(GAMES)}")
    return cast(Game, importlib.import_module(f"pipeline_src.games.{name}"))


def load_game(text: str) -> Game:
    """Return the module of a game: of a registered one, of a packaged one in one file, or of a file of one's own.

    What a game in one file does not define, `games.grid` gives. ``NAME`` is the file's, ``DIGEST`` names its code.
    Another process that is sent a state of a file's game has to load the game first.

    Args:
        text: a name of `GAMES` or `LEARNABLE`, or a path that ends in ``.py``.

    >>> load_game("connect_four").SIZES
    (7,)

    Raises:
        ZugwerkError: there is no such game, the file cannot be read or run, or lacks something that a game needs.
    """
    if text in GAMES:
        return get_game(text)
    if text in LEARNABLE:
        module = importlib.import_module(f"{__package__}.learnable.{text}")
    elif text.endswith(".py"):
        module = _of_file(Path(text))
    else:
        names = ", ".join((*GAMES, *LEARNABLE))
        raise ZugwerkError(f"no game called {text!r}; there are: {names}; a game of your own is a path ending in .py")
    return cast(Game, importlib.import_module(f"{__package__}.grid").completed(module))


def _of_file(path: Path) -> ModuleType:
    """Run a file as a module named by its code: after an edit, types and kernels are others, in this process too."""
    from pipeline_src.project.code import read_source, this_code

    try:
        text = path.read_text(encoding="utf-8")
        source = read_source(text)
    except OSError as error:
        raise ZugwerkError(f"{path}: {error.strerror}") from error
    except SyntaxError as error:
        raise ZugwerkError(f"{path}, line {error.lineno}: {error.msg}") from error
    except ValueError as error:
        raise ZugwerkError(f"{path}: no Python source in UTF-8: {error}") from error
    name = f"zugwerk_game_{re.sub(r'[^0-9A-Za-z]', '_', path.stem)}_{source.digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    others = {inner.split(".")[0] for inner in source.names} - {*sys.stdlib_module_names, *_DIGESTED}
    if others:
        words = "%s imports %s: an edit there would not be noticed, so its kernels are compiled at every start"
        logging.getLogger(__name__).warning(words, path, ", ".join(sorted(others)))
    else:
        this_code().add(name, source)
    module = ModuleType(name)
    vars(module).update(__file__=str(path.resolve()), NAME=path.stem, DIGEST=source.digest[:16])
    sys.modules[name] = module
    try:
        exec(compile(text, path.resolve(), "exec"), vars(module))  # noqa: S102 - the game that the user names
    except Exception as error:
        del sys.modules[name]
        lines, at = [], error.__traceback__
        while at is not None:
            lines += [at.tb_lineno] * (at.tb_frame.f_code.co_filename == module.__file__)
            at = at.tb_next
        where = f"{path}, line {lines[-1]}" if lines else f"{path}"
        raise ZugwerkError(f"{where}: {type(error).__name__}: {error}") from error
    return module


_DIGESTED = ("numba", "numpy", "pipeline_src")
"""Packages that a file may import while its kernels are kept: keys have numba's version and digests of our code."""

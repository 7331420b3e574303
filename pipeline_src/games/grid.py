"""Defaults of a game in one file: kernels, text of positions and moves, drawing, and facts for learning.

The defaults fit pieces on the cells of a board. The text of a move is its cell, ``d4``, two cells, ``d2-d3``, or
``pass``, as `kernels.squares` says, and is read as the numbers y * W + x, from * H * W + to, and H * W: a game that
numbers its actions otherwise defines ``format_move`` and ``parse_move`` itself.

Position text: the ranks of the board from the top down, then the entries of each further array of the state with commas
between them, without zeros at the end, the hash in hexadecimal digits. So it holds all that the state holds.
"""

import logging
import multiprocessing
from functools import cache, partial
from itertools import product
from string import ascii_lowercase
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels, rules
from pipeline_src.games.stones import MoveTextError, bad, parse_point, read_ranks, stone_diagram, write_ranks
from pipeline_src.jit import borrows, choose, njit
from pipeline_src.jit.plain import calling
from pipeline_src.project.code import this_code

FACTS: dict[str, Any] = {
    "VERSION": 1,
    "VARIANTS": ("standard",),
    "OWNERS": (0, 1),
    "SYMMETRIES": "square",
    "LINES": ((0, 1), (1, 0), (1, 1), (1, -1)),
}
"""Defaults. ``OWNERS``: whose the pieces of codes 1, 2, ... are: 0 first's, 1 second's, -1 nobody's. ``LINES``: (rows,
columns) from a cell to the next one of each window that a net looks through."""
SYMMETRIES = ("square", "mirror", "turn", "none")
"""Maps of the board that leave the rules alone: all that keep its shape, left to right, by 180 degrees, none."""
PASS = "pass"  # noqa: S105 - a word of moves
MOST_CODES, MOST_SIDE = 5, len(ascii_lowercase)
_RULES = ("divide", "is_legal", "legal_actions", "perft", "play", "to_play", "winner")
_NEEDED = ("copy_into", "outcome", "max_actions", "write_actions", "is_legal", "play", "take_back")


@cache
def completed(game: Any) -> Any:
    """Return a module with a game's names and what it does not define. ``initial_state`` refuses unknown sizes.

    Names of `games.rules` are always those functions: in the file they may be kernels, which its other kernels call.

    Raises:
        ZugwerkError: the module lacks what has no default, or says what no game can be; the message names its file.
    """
    if not hasattr(game, "DIGEST"):  # a file has both already
        game.NAME, game.DIGEST = game.__name__.rpartition(".")[2], this_code().source(game.__name__).digest[:16]
    own, file = dict(vars(game)), str(game.__file__)
    if lacking := [name for name in ("SIZES", "initial_state") if name not in own]:
        raise ZugwerkError(f"{file}: no {' and no '.join(lacking)}")
    facts = FACTS | {name: own[name] for name in FACTS if name in own}
    sizes, variants, owners, lines = own["SIZES"], facts["VARIANTS"], facts["OWNERS"], facts["LINES"]
    wanted = {
        "SIZES": isinstance(sizes, tuple) and len(sizes) > 0 and all(isinstance(size, int) for size in sizes),
        "VARIANTS": isinstance(variants, tuple) and len(variants) > 0,
        "OWNERS": isinstance(owners, tuple) and len(owners) < MOST_CODES and {0, 1} <= {*owners} <= {-1, 0, 1},
        "SYMMETRIES": facts["SYMMETRIES"] in SYMMETRIES,
        "LINES": isinstance(lines, tuple) and len(lines) > 0 and all(len(step) == 2 for step in lines),
    }
    for name, fits in wanted.items():
        if not fits:
            raise ZugwerkError(f"{file}: {name} cannot be {own[name]!r}; see docs/how-to/add-a-game.md")
    begin = own["initial_state"]
    parameters = begin.__code__.co_argcount

    def initial_state(size: int = sizes[0], variant: str = variants[0]) -> Any:
        if size not in sizes or variant not in variants:
            known = f"sizes {', '.join(map(str, sizes))}; variants {', '.join(variants)}"
            raise ZugwerkError(f"no {own['NAME']} of size {size}, {variant!r}; there are {known}")
        return begin(*(size, variant)[:parameters])

    own.update(facts, initial_state=initial_state)
    pieces = {0: iter("xXY"), 1: iter("oOQ"), -1: iter("#+")}
    own.setdefault("LETTERS", "." + "".join(next(pieces[owner]) for owner in owners))
    try:
        start = initial_state()
    except Exception as error:  # of the user's own code
        raise ZugwerkError(f"{file}: initial_state: {type(error).__name__}: {error}") from error
    _check(file, start)
    own["PLAIN"] = _let_kernels_call(game, start)
    own.update({name: getattr(rules, name) for name in _RULES})
    own.setdefault("parse_move", parse_move)
    face = ModuleType(game.__name__)
    for function in (to_fen, from_fen, format_move, diagram):
        own.setdefault(function.__name__, partial(function, face))
    vars(face).update(own)
    return face


def _check(file: str, state: Any) -> None:
    """Whether a state has the arrays and kernels that searches need."""
    fields: dict[str, Any] = getattr(state, "_asdict", dict)()
    for name, kind, shape in (("board", "int8", "[H, W]"), ("turn", "int16", "[N]"), ("hash", "uint64", "[1]")):
        array = fields.get(name)
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1 + (name == "board"):
            raise ZugwerkError(f"{file}: the state is no NamedTuple with {name}, {kind} {shape}")
    for name, array in fields.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iub":
            raise ZugwerkError(f"{file}: {name} of the state is an array of integers, not {type(array).__name__}")
    if max(state.board.shape) > MOST_SIDE:
        raise ZugwerkError(f"{file}: a board of {state.board.shape}; sides go to {MOST_SIDE}")
    lacking = [name for name in _NEEDED if type(state) not in getattr(kernels, name).registry]
    if lacking:
        kind = type(state).__name__
        raise ZugwerkError(f"{file}: no kernels {', '.join(lacking)}; name them in implement_game({kind}, ...)")


def implement_game(state_type: type, **own: Any) -> None:
    """Register the kernels of a game in one file: `kernels.implement_game` with more defaults.

    A game needs ``outcome``, ``is_legal``, ``play`` and ``take_back``. By default all arrays of a state are copied; the
    actions are those of 0 to H * W, a pass, that are legal; and there are at most H * W of them at a time.
    """
    defaults = {"copy_into": _copy_into, "max_actions": _max_actions, "write_actions": _write_actions}
    kernels.implement_game(state_type, **defaults | own)


@borrows
def copy_arrays(state: Any, other: Any) -> None:
    """Copy all arrays of a state to those of another one, of the same shapes. Works in and out of compiled code."""
    for array, to in zip(state, other, strict=True):
        to[...] = array


@type_callable(copy_arrays)
def _type_copy(context: Any) -> Any:  # noqa: ARG001
    def type_copy(state: Any, other: Any) -> Any:
        whole = isinstance(state, types.BaseNamedTuple) and all(array.layout == "C" for array in (*state, *other))
        return types.none if whole else None

    return type_copy


@lower_builtin(copy_arrays, types.BaseNamedTuple, types.BaseNamedTuple)
def _lower_copy(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    for i, kind in enumerate(signature.args[0]):
        array, to = (context.make_array(kind)(context, builder, builder.extract_value(one, i)) for one in values)
        cgutils.raw_memcpy(builder, to.data, array.data, array.nitems, array.itemsize)
    return context.get_dummy_value()


@njit(cache=True)
def _copy_into(state: Any, other: Any) -> None:
    copy_arrays(state, other)


@njit(cache=True)
def _max_actions(state: Any) -> int:
    return int(state.board.size)


@njit(cache=True)
def _write_actions(state: Any, out: npt.NDArray[np.int32]) -> int:
    count = 0
    for action in range(state.board.size + 1):
        if kernels.is_legal(state, action):
            out[count] = action
            count += 1
    return count


def _let_kernels_call(game: Any, start: Any) -> tuple[str, ...]:
    """Make kernels of the rules that are functions of plain Python, and say what that costs; return their names."""
    kind, room, plain = type(start), np.empty(1, np.int32), list[str]()
    calls: dict[str, tuple[list[Any], list[str], Any]] = {
        "copy_into": ([start, start], ["state", "other"], types.none),
        "position_hash": ([start], ["state"], types.uint64),
        "outcome": ([start], ["state"], types.Tuple([types.boolean, types.float64])),
        "is_legal": ([start], ["state", "action"], types.boolean),
        "squares": ([start], ["state", "action"], types.UniTuple(types.int64, 2)),
        **{name: ([start], ["state"], types.int64) for name in ("to_play", "max_actions", "max_steps")},
        **{name: ([start, room], ["state", "out"], types.int64) for name in ("write_actions", "write_steps")},
        "count_actions": ([start, room], ["state", "out"], types.int64),
        **{name: ([start], ["state", "action"], types.none) for name in ("play", "take_back", "play_step")},
    }
    for name, (arrays, names, result) in calls.items():
        generic = getattr(kernels, name)
        function = generic.registry[kind]
        if isinstance(function, FunctionType):
            plain.append(function.__name__)
            symbol = f"zugwerk_{game.NAME}_{game.DIGEST}_{name}"
            choose(generic, kind, calling(function, symbol, arrays, names, result))
    if plain and multiprocessing.current_process().name == "MainProcess":
        words = "%s: %s in plain Python: with @njit(cache=True) a net's search is some 4 times as fast, playouts 100"
        logging.getLogger(__name__).warning(words, game.__file__, ", ".join(dict.fromkeys(plain)))
    return tuple(plain)


def to_fen(game: Any, state: Any) -> str:
    """Return the position text of a state; see the module's head."""
    fields = [write_ranks(state.board, game.LETTERS)]
    for name, array in state._asdict().items():
        if name != "board":
            entries = np.trim_zeros(array.ravel(), "b").tolist() or [0]
            fields.append(",".join(f"{entry:x}" if array.dtype == np.uint64 else str(int(entry)) for entry in entries))
    return " ".join(fields)


def from_fen(game: Any, fen: str) -> Any:
    """Read a position text: one that `to_fen` wrote. What no position has is not noticed everywhere.

    Raises:
        FenError: a letter, number of entries or size that the game does not have.
    """
    fields = fen.split()
    if not fields:
        raise bad(fen, "expected the ranks of a board")
    board = read_ranks(fields[0], fen, 1, MOST_SIDE, "cells", game.LETTERS)
    starts = (game.initial_state(size, variant) for size, variant in product(game.SIZES, game.VARIANTS))
    state = next((start for start in starts if start.board.shape == board.shape), None)
    if state is None:
        raise bad(fen, f"{game.NAME} has no board {board.shape[0]}x{board.shape[1]}")
    rest = {name: array for name, array in state._asdict().items() if name != "board"}
    if len(fields) != 1 + len(rest):
        raise bad(fen, f"expected the board, then {', '.join(rest)}")
    for text, (name, array) in zip(fields[1:], rest.items(), strict=True):
        try:
            array.flat = _entries(text, array)
        except (ValueError, OverflowError):
            raise bad(fen, f"{name} is up to {array.size} numbers with commas between them, {array.dtype}") from None
    if state.turn[0] not in (0, 1):
        raise bad(fen, f"side {state.turn[0]} to move, neither 0 nor 1")
    state.board[:] = board
    return state


def _entries(text: str, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    entries = [int(entry, 16 if array.dtype == np.uint64 else 10) for entry in text.split(",")]
    if len(entries) > array.size:
        raise ValueError(text)
    return np.array(entries + [0] * (array.size - len(entries)), array.dtype)


def format_move(game: Any, action: int, height: int, width: int) -> str:
    """Return the text of an action."""
    source, target = map(int, kernels.squares(_start(game, height, width), action))
    return "-".join(cell_text(cell, height, width) for cell in (source, target) if cell >= 0) or PASS


@cache
def _start(game: Any, height: int, width: int) -> Any:
    for size, variant in product(game.SIZES, game.VARIANTS):
        if (start := game.initial_state(size, variant)).board.shape == (height, width):
            return start
    raise ZugwerkError(f"{game.NAME} has no board {height}x{width}")


def cell_text(cell: int, height: int, width: int) -> str:
    """Return file and rank of y * W + x, e.g. ``d4``; rank 1 is at the bottom."""
    return f"{ascii_lowercase[cell % width]}{height - cell // width}"


def parse_move(text: str, height: int, width: int) -> int:
    """Return the action of a text, in upper or lower case.

    Raises:
        MoveTextError: neither a cell, nor two with a hyphen between them, nor ``pass``; or not on the board.
    """
    if text.strip().lower() == PASS:
        return height * width
    points = text.split("-")
    if len(points) > 2:
        raise MoveTextError(f"not a move: {text!r}; expected e.g. d4, d2-d3 or {PASS}")
    cells = [parse_point(point, height, width, ascii_lowercase, f"e.g. d4, d2-d3 or {PASS}") for point in points]
    return cells[0] if len(cells) == 1 else cells[0] * height * width + cells[1]


def owner_letters(owners: tuple[int, ...]) -> str:
    """Return a letter for each code of a board: ``x``, ``o`` and ``#`` of an owner's first kind, else ``X`` and ``O``.

    >>> owner_letters((0, 1, 0, 1, -1))
    '.xoXO#'
    """
    letters = "."
    for owner in owners:
        usual = "xo#"[owner]
        letters += usual.upper() if usual in letters else usual
    return letters


def diagram(game: Any, state: Any) -> str:
    """Return the lines of a board, top rank first, with the game's letters."""
    return stone_diagram(state.board, -1, ascii_lowercase, game.LETTERS)

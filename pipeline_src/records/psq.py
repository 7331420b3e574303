"""Gomoku records of Piskvorky (``.psq``), the manager of the Gomocup: reader and writer.

    Piskvorky 20x20, 7:7, 0
    10,10,456
    11,12,4500
    pisq7.exe
    renjusolver.ZIP
    0

The first line has the board (width x height), the levels of both players (0 is a person) and the player who moved
first, 0 or 1. Then follows one line for each stone: x, y and the milliseconds it took; x is the column and y the row
from the top, both counted from 1. Files of tournaments then have the names of the programs and a code for the end of
the game. Some files have the winner and the rule in one more line (``1,Freestyle``). The reference is Piskvorky's own
source, ``savePsq`` in nettur.cpp; its files do not contain the rule.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku.board import FIRST, MAX_SIDE, MIN_SIDE, GomokuState, format_variant
from pipeline_src.games.gomoku.renju import WHAT
from pipeline_src.games.gomoku.setup import from_board
from pipeline_src.records.record import GameRecord
from pipeline_src.records.rejects import shown

_HEAD = re.compile(r"Piskvorky (\d{1,4})x(\d{1,4}), *(\d+):(\d+), *([01])")
_STONE = re.compile(r"(\d{1,4}),(\d{1,4})(?:,(-?\d{1,12}))?")
_CODE = re.compile(r"-?\d+")
_ENDING = (
    (_CODE, "a stone (x,y,ms), two programs' names or a code"),
    (re.compile(r"-?\d+,[A-Za-z ]+"), "the end, or the winner and the rule (1,Freestyle)"),
)
UNKNOWN = "unknown"
"""Name of an unknown player, written where only the other player is known."""


class PsqError(ZugwerkError):
    """A text is not a Piskvorky record; the message names the text and the line."""


class PsqGame(NamedTuple):
    """The contents of a record, and the position after its stones."""

    record: GameRecord
    milliseconds: tuple[int, ...]
    """Time of each stone; 0 where the text has no time."""
    state: GomokuState
    """The final position."""


def read_psq(path: Path | str, gid: int = 0, variant: str = "freestyle") -> PsqGame:
    """Read the game of a file.

    Raises:
        ZugwerkError: the file is missing.
        PsqError: as `parse_psq`.
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ZugwerkError(f"{path}: no such file") from None
    return parse_psq(data.decode("latin-1"), gid, variant, name=str(path))  # latin-1: names have any code page


def parse_psq(text: str, gid: int = 0, variant: str = "freestyle", *, name: str = "record") -> PsqGame:
    r"""Read the game of a text.

    >>> parse_psq("Piskvorky 15x15, 1:1, 0\n8,8,120\n8,7,300\n").record.actions
    (112, 97)

    Args:
        text: the record, with any line ends.
        gid: number of the resulting record.
        variant: rule for the replay, since the text does not state it. The winner follows from the stones alone.
        name: name of the text in messages.

    Raises:
        PsqError: the first line is malformed, the size is not one of Gomoku's, a stone is outside the board, on another
            stone or after the end of the game, or a line does not belong to the format.
        ZugwerkError: the variant is unknown, or its line does not fit the board.
    """
    lines = [line.strip() for line in text.rstrip().splitlines()]
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        begun = shown(lines[0]) if lines else "nothing"
        raise PsqError(f"{name}: line 1: expected a head like 'Piskvorky 20x20, 11:11, 0', found {begun}")
    width, height = int(head[1]), int(head[2])
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in (height, width)):
        sides = f"sides go from {MIN_SIDE} to {MAX_SIDE}"
        raise PsqError(f"{name}: line 1: no Gomoku board of {width}x{height}; {sides}")
    state = from_board(np.zeros((height, width), np.int8), FIRST, variant)
    actions: list[int] = []
    milliseconds: list[int] = []
    for number, line in enumerate(lines[1:], 2):
        stone = _STONE.fullmatch(line)
        if stone is None:
            break
        action = _action(stone, state, f"{name}: line {number}")
        state = gomoku.play(state, action)
        actions.append(action)
        milliseconds.append(int(stone[3] or 0))
    names = _names(lines, 1 + len(actions), name)
    if head[5] == "1":
        names = names[::-1]
    record = GameRecord(
        game="gomoku",
        gid=gid,
        source="file",
        variant=format_variant(state),
        height=height,
        width=width,
        actions=tuple(actions),
        winner=gomoku.winner(state),
        first_name=names[0],
        second_name=names[1],
    )
    return PsqGame(record, tuple(milliseconds), state)


def write_psq(record: GameRecord, milliseconds: Sequence[int] | None = None) -> str:
    """Write a record in Piskvorky's format, Black first. The format has no place for the rule or a resignation.

    Raises:
        ZugwerkError: the record is of another game, or the number of times differs from the number of stones.
    """
    if record.game != "gomoku":
        raise ZugwerkError(f"game {record.gid}: {record.game} cannot be written as a Piskvorky record")
    times = [0] * len(record.actions) if milliseconds is None else milliseconds
    if len(times) != len(record.actions):
        raise ZugwerkError(f"game {record.gid}: {len(times)} times for {len(record.actions)} stones")
    lines = [f"Piskvorky {record.width}x{record.height}, 1:1, 0"]
    for action, time in zip(record.actions, times, strict=True):
        row, column = divmod(action, record.width)
        lines.append(f"{column + 1},{row + 1},{time}")
    names = [re.sub(r"[\x00-\x1f\x7f]", "?", name).strip() for name in (record.first_name, record.second_name)]
    if any(names):
        lines += [name or UNKNOWN for name in names]
    return "\n".join([*lines, "0"]) + "\n"


def _action(stone: re.Match[str], state: GomokuState, where: str) -> int:
    height, width = state.board.shape
    x, y = int(stone[1]), int(stone[2])
    if not (1 <= x <= width and 1 <= y <= height):
        raise PsqError(f"{where}: no cell {x},{y} on a board of {width}x{height}")
    action = int((y - 1) * width + x - 1)
    if not gomoku.is_legal(state, action):
        reason = f"Black may not make {WHAT}"
        if state.board.flat[action] or gomoku.winner(state) is not None:
            reason = "there is a stone already" if gomoku.winner(state) is None else "the game was over before it"
        raise PsqError(f"{where}: {x},{y} is not legal, {reason}")
    return action


def _names(lines: list[str], end: int, name: str) -> tuple[str, str]:
    """Return the programs' names from the lines after the stones, from index ``end`` on; empty if they are missing."""
    names, rest = ("", ""), lines[end:]
    if any(_STONE.fullmatch(line) for line in rest):
        raise PsqError(f"{name}: line {end + 1}: expected a stone, e.g. '8,8,120', found {shown(rest[0])}")
    if len(rest) > 1 and not _CODE.fullmatch(rest[0]):
        names, rest, end = (rest[0], rest[1]), rest[2:], end + 2
    for line, (form, expected) in zip(rest, _ENDING, strict=False):
        end += 1
        if not form.fullmatch(line):
            raise PsqError(f"{name}: line {end}: expected {expected}, found {shown(line)}")
    if len(rest) > len(_ENDING):
        raise PsqError(f"{name}: line {end + 1}: expected the end, found {shown(lines[end])}")
    return names

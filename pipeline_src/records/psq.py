"""Gomoku records of Piskvorky (``.psq``), the manager of the Gomocup: reader and writer.

    Piskvorky 20x20, 7:7, 0
    10,10,456
    11,12,4500
    pisq7.exe
    renjusolver.ZIP
    0

The first line has the board (width x height), the levels of both players (0 is a person) and the player who moved
first, 0 or 1. Then follows one line for each stone: x, y and the milliseconds it took; x is the column and y the row
from the top, both counted from 1. Files of tournaments then have the names of the programs, in the order of their
stones, and a code for the end of the game. Some files have the winner and the rule in one more line: ``1,Freestyle``,
where 1 and 2 are the players and 0 is a draw. The reference is Piskvorky's own source, ``savePsq`` in nettur.cpp, and
for the last line GomocupJudge's ``server.py``.

The Gomocup's player 1 is the one who moves first after the opening, so with an opening of an odd number of stones it
has the second stones. Stones of an opening have the time 0, and so may a program's. Where the first stones have the
time 0 and others have not, only the stones show the winner.
"""

import contextlib
import itertools
import re
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_bytes
from pipeline_src.games import gomoku
from pipeline_src.records.record import GameRecord, RecordError, Winner, shown
from pipeline_src.records.sgf import decode

_HEAD = re.compile(r"Piskvorky (\d{1,4})x(\d{1,4}), *(\d+):(\d+), *([01])")
_STONE = re.compile(r"(\d{1,4}),(\d{1,4})(?:,(-?\d{1,12}))?")
_CODE = re.compile(r"-?\d{1,12}")
_RESULT = re.compile(r"(-?\d{1,12}),\s*([A-Za-z][^,]*)")
_WINNERS: dict[str, Winner | None] = {"0": "draw", "1": "first", "2": "second", "-1": None}
_SWAPPED = {"1": "2", "2": "1"}
_RULE = re.compile(
    r"(free|fast|standard|exact|renju|caro)(?:[ -]?style|[ -]?game)?(?: (?:gomoku|five|rules?))?[ _]?\d?"
)
_RULE_WORDS = {"free": "freestyle", "fast": "freestyle", "standard": "exact"}
_RULE_NUMBERS = {"0": "freestyle", "1": "exact", "4": "renju", "8": "caro"}
"""Variants by the number in the Gomocup's protocol."""
UNKNOWN = "unknown"  # Name of an unknown player, written where only the other player is known


class PsqError(ZugwerkError):
    """A text is not a Piskvorky record; the message names the text and the line."""


class _Line(NamedTuple):
    number: int  # Its number in the text, from 1
    text: str


class PsqGame(NamedTuple):
    """The contents of a record, and the position after its stones."""

    record: GameRecord
    milliseconds: tuple[int, ...]  # Time of each stone; 0 where the text has no time
    state: gomoku.GomokuState  # The final position


def read_psq(path: Path | str, gid: int = 0, variant: str | None = None) -> PsqGame:
    """Read the game of a file.

    Raises:
        ZugwerkError: the file is missing, or its charset is ambiguous.
        PsqError: as `parse_psq`.
    """
    return parse_psq(read_bytes(path), gid, variant, name=str(path))


def read_rule(text: str) -> str:
    """Return our name of a rule: a variant, a number of the Gomocup's protocol, or a name such as ``Standard``.

    Raises:
        RecordError: ``other_variant``: the rule is unknown.
    """
    word = text.strip().lower()
    with contextlib.suppress(ZugwerkError):
        gomoku.parse_variant(word)
        return word
    if match := _RULE.fullmatch(word):
        return _RULE_WORDS.get(match[1], match[1])
    if word not in _RULE_NUMBERS:
        raise RecordError("other_variant", f"the rule {shown(text)}; known are {', '.join(gomoku.RULES)}")
    return _RULE_NUMBERS[word]


def parse_psq(data: bytes | str, gid: int = 0, variant: str | None = None, *, name: str = "record") -> PsqGame:
    r"""Read the game of a text.

    >>> parse_psq("Piskvorky 15x15, 1:1, 0\n8,8,120\n8,7,300\n").record.actions
    (112, 97)

    Args:
        data: the record, with any line ends. Blank lines are skipped.
        gid: number of the resulting record.
        variant: rule for the replay; None for the one that the text states, or else ``freestyle``.
        name: name of the text in messages.

    Raises:
        PsqError: the charset is ambiguous, the first line is malformed, the size is not one of Gomoku's, a stone is
            outside the board, on another stone or after the end of the game, a line does not belong to the format, the
            rule is unknown or not ``variant``, or the stones and the last line name different winners.
        ZugwerkError: the variant is unknown, or its line does not fit the board.
    """
    try:
        text = data if isinstance(data, str) else decode(data)
    except RecordError as error:
        raise PsqError(f"{name}: {error.detail}") from None
    lines = [_Line(at, line.strip()) for at, line in enumerate(re.split(r"\r\n?|\n", text), 1) if line.strip()]
    head = _HEAD.fullmatch(lines[0].text) if lines else None
    if head is None:
        begun = shown(lines[0].text) if lines else "nothing"
        raise PsqError(f"{name}: line 1: expected a head like 'Piskvorky 20x20, 11:11, 0', found {begun}")
    width, height = int(head[1]), int(head[2])
    if not all(gomoku.MIN_SIDE <= side <= gomoku.MAX_SIDE for side in (height, width)):
        sides = f"sides go from {gomoku.MIN_SIDE} to {gomoku.MAX_SIDE}"
        raise PsqError(f"{name}: line 1: no Gomoku board of {width}x{height}; {sides}")
    stones = list(itertools.takewhile(lambda line: _STONE.fullmatch(line.text), lines[1:]))
    names, result, rule = _ending(lines[1 + len(stones) :], variant, name)
    state = gomoku.from_board(np.zeros((height, width), np.int8), gomoku.FIRST, rule)
    actions: list[int] = []
    milliseconds: list[int] = []
    for line in stones:
        stone = _STONE.fullmatch(line.text)
        assert stone
        actions.append(_action(stone, state, f"{name}: line {line.number}"))
        milliseconds.append(int(stone[3] or 0))
        state = gomoku.play(state, actions[-1])
    if head[5] == "1":
        names, result = names[::-1], _SWAPPED.get(result, result)
    record = GameRecord(
        game="gomoku",
        gid=gid,
        source="file",
        variant=gomoku.format_variant(state),
        height=height,
        width=width,
        actions=tuple(actions),
        winner=_winner(result, state, milliseconds, name),
        first_name=names[0],
        second_name=names[1],
    )
    return PsqGame(record, tuple(milliseconds), state)


def write_psq(record: GameRecord, milliseconds: Sequence[int] | None = None) -> str:
    """Write a record in Piskvorky's format, Black first.

    The line for winner and rule is there if it is not freestyle, or the stones do not show the winner. A ``?`` comes
    before a name that reads like another line of the format.

    Raises:
        ZugwerkError: the record is of another game or begins with a position, or the number of times differs from the
            number of stones.
    """
    if record.game != "gomoku":
        raise ZugwerkError(f"game {record.gid}: {record.game} cannot be written as a Piskvorky record")
    if " " in record.variant:
        raise ZugwerkError(f"game {record.gid}: a Piskvorky record cannot begin with a position; save it as .sgf")
    times = [0] * len(record.actions) if milliseconds is None else milliseconds
    if len(times) != len(record.actions):
        raise ZugwerkError(f"game {record.gid}: {len(times)} times for {len(record.actions)} stones")
    lines = [f"Piskvorky {record.width}x{record.height}, 1:1, 0"]
    for action, time in zip(record.actions, times, strict=True):
        row, column = divmod(action, record.width)
        lines.append(f"{column + 1},{row + 1},{time}")
    names = [re.sub(r"[\x00-\x1f\x7f]", "?", name).strip() for name in (record.first_name, record.second_name)]
    if any(names):
        like_other_lines = (_STONE, _CODE, _RESULT)
        lines += ["?" * any(line.fullmatch(name) for line in like_other_lines) + (name or UNKNOWN) for name in names]
    lines.append("0")
    if record.variant != gomoku.RULES[0] or (record.winner is not None and record.winner != _winner_of_stones(record)):
        number = next(number for number, winner in _WINNERS.items() if winner == record.winner)
        lines.append(f"{number},{record.variant}")
    return "\n".join(lines) + "\n"


def _winner_of_stones(record: GameRecord) -> Winner | None:
    start = gomoku.from_board(np.zeros((record.height, record.width), np.int8), gomoku.FIRST, record.variant)
    return gomoku.winner(reduce(gomoku.play, record.actions, start))


def _action(stone: re.Match[str], state: gomoku.GomokuState, where: str) -> int:
    height, width = state.board.shape
    x, y = int(stone[1]), int(stone[2])
    if not (1 <= x <= width and 1 <= y <= height):
        raise PsqError(f"{where}: no cell {x},{y} on a board of {width}x{height}")
    action = int((y - 1) * width + x - 1)
    if not gomoku.is_legal(state, action):
        reason = f"Black may not make {gomoku.WHAT}"
        if state.board.flat[action] or gomoku.winner(state) is not None:
            reason = "there is a stone already" if gomoku.winner(state) is None else "the game was over before it"
        raise PsqError(f"{where}: {x},{y} is not legal, {reason}")
    return action


def _ending(lines: list[_Line], variant: str | None, name: str) -> tuple[tuple[str, str], str, str]:
    """Return the programs' names, the number of the winner and the rule from the lines after the stones.

    Names and number are empty if they are missing.
    """
    if any(_STONE.fullmatch(line.text) for line in lines):
        where = f"{name}: line {lines[0].number}"
        raise PsqError(f"{where}: expected a stone, e.g. '8,8,120', found {shown(lines[0].text)}")
    names, result, rule = ("", ""), "", variant or gomoku.RULES[0]
    if len(lines) > 1 and not _CODE.fullmatch(lines[0].text) and not _RESULT.fullmatch(lines[0].text):
        names, lines = (lines[0].text, lines[1].text), lines[2:]
    if lines and _CODE.fullmatch(lines[0].text):
        lines = lines[1:]
    elif lines and not _RESULT.fullmatch(lines[0].text):
        expected = "a stone (x,y,ms), two programs' names or a code"
        raise PsqError(f"{name}: line {lines[0].number}: expected {expected}, found {shown(lines[0].text)}")
    if not lines:
        return names, result, rule
    where, match = f"{name}: line {lines[0].number}", _RESULT.fullmatch(lines[0].text)
    if match is None or match[1] not in _WINNERS:
        expected = "the end, or the winner (1, 2, or 0 for a draw) and the rule (1,Freestyle)"
        raise PsqError(f"{where}: expected {expected}, found {shown(lines[0].text)}")
    try:
        stated = read_rule(match[2])
    except RecordError as error:
        raise PsqError(f"{where}: {error.detail}") from None
    if variant not in (None, stated):
        raise PsqError(f"{where}: a game of {stated}, not of {variant}")
    if len(lines) > 1:
        raise PsqError(f"{name}: line {lines[1].number}: expected the end, found {shown(lines[1].text)}")
    return names, match[1], stated


def _winner(result: str, state: gomoku.GomokuState, milliseconds: list[int], name: str) -> Winner | None:
    """Return the winner by the stones, or else by the number in the last line where that is clear."""
    of_stones, said = gomoku.winner(state), _WINNERS.get(result)
    opening = len(list(itertools.takewhile(lambda time: time == 0, milliseconds)))
    unclear = 0 < opening < len(milliseconds) and said != "draw"
    if of_stones is None:
        return None if unclear else said
    if said is not None and said != of_stones and (not unclear or of_stones == "draw"):
        raise PsqError(f"{name}: {of_stones} by the stones, {said} by the last line")
    return of_stones

"""LittleGolem's records of the Amazons: reader and writer.

    (;EV[null]PB[first player]PW[second player]SO[http://www.littlegolem.com];W[j4-g7/d7];B[g10-h9/g8];W[resign])

PB is the player who moves first, although that player plays the W nodes. The header states neither the variant nor the
result. The variant comes from the site's lists, or from the moves, which are legal from one start position only. The
result comes from the lists, from a resignation, or from a final position in which the side to move has no turn.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import amazons
from pipeline_src.games.amazons import AmazonsState, initial_state, replay
from pipeline_src.games.stones import MoveTextError
from pipeline_src.records.littlegolem.text import (
    EVIDENCE,
    Evidence,
    Node,
    ParsedRecord,
    find_winner,
    join_text,
    match_players,
    only_text,
    parse_text,
    source_of,
    split_records,
    the_record,
)
from pipeline_src.records.raw import RawGame
from pipeline_src.records.record import REASONS, SOURCES, GameRecord, Reason, RecordError, Reject, Source, Winner, shown

__all__ = [
    "AmazonsGame",
    "check_turns",
    "parse_text",
    "read_amazons",
    "read_turns",
    "site_variant",
    "split_records",
    "write_record",
]

SIZE = 10
VARIANTS = ("standard", "cross")
SITE = "http://www.littlegolem.com"
RESIGN = "resign"
_COLOURS = "WB"
_RESIGN_COLOURS = ("W", "B", "R")
_VARIANT_WORDS = {
    "": "",
    "default": "standard",
    "standard": "standard",
    "size10": "standard",
    "10": "standard",
    "cross": "cross",
}
_MOVES_SEEN = 1 << 18
_SEPARATED = re.compile(r"\w+-\w+/\w+")


class AmazonsGame(NamedTuple):
    """The contents of a record, without the site's lists."""

    variant: str
    actions: tuple[int, ...]
    resigned: bool
    winner: Winner | None
    """The winner by resignation or because the side to move has no turn; None where the record just stops."""


def site_variant(words: str) -> str:
    """Return our name of a variant for the site's (``Size 10``, ``DEFAULT``, ``Cross``); empty if that says nothing.

    Raises:
        RecordError: ``other_variant``: a variant that is not supported here.
    """
    key = "".join(re.findall(r"[a-z0-9]+", words.lower())).removeprefix("amazons")
    if key not in _VARIANT_WORDS:
        raise RecordError("other_variant", f"the site calls it {shown(words)}")
    return _VARIANT_WORDS[key]


def read_turns(record: ParsedRecord) -> tuple[tuple[int, ...], bool]:
    """Return the action ids of a record's turns, not checked against the rules, and whether it ends in a resignation.

    Raises:
        RecordError: ``other_game`` if the first move is not an Amazons turn; ``bad_text`` if a later move is not one,
            if a move is in another program's notation, if the colours do not alternate from White, or if moves follow a
            resignation.
    """
    nodes, resigned = _take_resignation(record.nodes)
    return tuple(_action(node, ply) for ply, node in enumerate(nodes)), resigned


def read_amazons(record: ParsedRecord, variant: str = "") -> AmazonsGame:
    """Read the game in a record and check every turn.

    An empty ``variant`` stands for the first of ``standard`` and ``cross`` in which every turn is legal.

    Raises:
        RecordError: as `read_turns` and `check_turns`.
    """
    actions, resigned = read_turns(record)
    return check_turns(actions, resigned, variant)


def check_turns(actions: tuple[int, ...], resigned: bool, variant: str = "") -> AmazonsGame:
    """Return the game for the turns and the ending that `read_turns` found. ``variant`` is as for `read_amazons`.

    Raises:
        RecordError: ``illegal_move``; ``contradiction`` if the turns are legal from the other start position only.
    """
    variant, state = _start_of(actions, variant)
    if resigned:
        return AmazonsGame(variant, actions, True, _second_after(len(actions)))
    return AmazonsGame(variant, actions, False, amazons.winner(state))


def write_record(record: GameRecord) -> bytes:
    """Write a record in the site's dialect: unescaped names in Latin-1, with ``?`` for characters outside Latin-1.

    As on the site, only a resignation states the result.

    Raises:
        ZugwerkError: the record is of another game, or its winner has resigned.
    """
    if record.game != "amazons":
        raise ZugwerkError(f"game {record.gid}: {record.game} cannot be written as an Amazons record")
    header = {"EV": record.event or "null", "PB": record.first_name, "PW": record.second_name, "SO": SITE}
    nodes = [
        Node(_COLOURS[ply % 2], amazons.format_move(action, record.height, record.width))
        for ply, action in enumerate(record.actions)
    ]
    if record.resigned:
        if record.winner not in (None, _second_after(len(nodes))):
            raise ZugwerkError(f"game {record.gid}: {record.winner} won, so the side to move cannot have resigned")
        nodes.append(Node(_COLOURS[len(nodes) % 2], RESIGN))
    one_line = {name: re.sub(r"[\x00-\x1f\x7f]", "?", value) for name, value in header.items()}
    return join_text(one_line, nodes).encode("latin-1", errors="replace")


def write_alone(record: GameRecord) -> bytes:
    """`write_record`, for a file from which the start position must follow.

    Raises:
        ZugwerkError: as `write_record`; or the turns are legal from the standard start too, which readers take.
    """
    if record.variant != "standard" and _start_of(record.actions, "")[0] != record.variant:
        raise ZugwerkError("a .txt record has no start, and these turns also fit the standard one; save it as .sgf")
    return write_record(record)


def _second_after(plies: int) -> Winner:
    """Return the side that is not to move after ``plies`` turns."""
    return "first" if plies % 2 else "second"


def _take_resignation(nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], bool]:
    """Return the nodes without a resignation at the end, and whether there was one. Its letter is a side's or ``r``."""
    for ply, node in enumerate(nodes):
        if node.value.strip().lower() == RESIGN:
            if ply != len(nodes) - 1:
                raise RecordError("bad_text", "moves follow a resignation", ply)
            if node.colour.upper() in _RESIGN_COLOURS and node.colour.upper() != _COLOURS[1 - ply % 2]:
                return nodes[:ply], True
            raise RecordError("bad_text", f"{node.colour} resigns where {_COLOURS[ply % 2]} is to move", ply)
    return nodes, False


def _action(node: Node, ply: int) -> int:
    try:
        action = _parse_move(node.value.strip())
    except MoveTextError:
        if ply == 0:
            raise RecordError("other_game", f"its first move is {shown(node.value)}", ply) from None
        raise RecordError("bad_text", f"not a turn: {shown(node.value)}", ply) from None
    if not _SEPARATED.fullmatch(node.value.strip()):
        detail = f"not the site's notation, which is d1-d7/g7: {shown(node.value)}"
        raise RecordError("bad_text", detail, ply)
    if node.colour.upper() != _COLOURS[ply % 2]:
        raise RecordError("bad_text", f"{node.colour} moves where {_COLOURS[ply % 2]} should", ply)
    return action


@lru_cache(maxsize=_MOVES_SEEN)
def _parse_move(text: str) -> int:
    return amazons.parse_move(text, SIZE, SIZE)


@lru_cache
def _initial_state(variant: str) -> AmazonsState:
    return initial_state(SIZE, variant)


def _start_of(actions: tuple[int, ...], variant: str) -> tuple[str, AmazonsState]:
    """Return the variant in which all turns are legal, and the final position."""
    played: dict[str, int] = {}
    for name in sorted(VARIANTS, key=lambda name: name != variant):
        state, played[name] = replay(_initial_state(name), actions)
        if played[name] == len(actions):
            if variant and name != variant:
                detail = f"listed as {variant}, but its moves are legal from the {name} start only"
                raise RecordError("contradiction", detail, played[variant])
            return name, state
    ply = played[variant] if variant else max(played.values())
    start = f"the {variant} start" if variant else "either start"
    text = amazons.format_move(actions[ply], SIZE, SIZE)
    raise RecordError("illegal_move", f"{text} is not legal from {start}", ply)


# Convert a crawled Amazons game to a `GameRecord`, or to the reason for rejecting it.


@dataclass(frozen=True, slots=True)
class Usable:
    """Filter for the games to keep."""

    min_plies: int
    variants: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A usable game."""

    record: GameRecord
    evidence: Evidence  # Evidence for the winner


def read_game(raw: RawGame, usable: Usable) -> Kept | Reject:
    """Read one crawled game. Any answer of the server gives a game or a reject."""
    try:
        return _read(raw, usable)
    except RecordError as error:
        return Reject(raw.gid, error.ply, error.reason, error.detail)


def _read(raw: RawGame, usable: Usable) -> Kept:
    record = the_record(raw, only_text, read_amazons)
    actions, resigned = read_turns(record)
    listed = site_variant(raw.variant)
    _check_variant(listed, usable)
    game = check_turns(actions, resigned, listed)
    _check_variant(game.variant, usable)
    players = match_players(raw, record)
    outcome = find_winner(raw, players, len(game.actions), game.resigned, game.winner)
    if len(game.actions) < usable.min_plies:
        detail = f"{len(game.actions)} turns; at least {usable.min_plies} are wanted"
        raise RecordError("too_short", detail, len(game.actions))
    event = record.header.get("EV", "")
    return Kept(
        GameRecord(
            game="amazons",
            gid=raw.gid,
            source=source_of(raw),
            variant=game.variant,
            height=SIZE,
            width=SIZE,
            actions=game.actions,
            winner=outcome.winner,
            resigned=game.resigned,
            first_name=record.header.get("PB", ""),
            second_name=record.header.get("PW", ""),
            first_plid=players.first.plid if players.first else 0,
            second_plid=players.second.plid if players.second else 0,
            event="" if event == "null" else event,
        ),
        outcome.evidence,
    )


def _check_variant(variant: str, usable: Usable) -> None:
    if variant and variant not in usable.variants:
        raise RecordError("other_variant", f"{variant}; wanted: {', '.join(usable.variants)}")


# Counts of the games and rejects of a crawl. They add up to the number of crawled rows.


class GameCounts:
    """Counts by source, reason and evidence."""

    def __init__(self) -> None:
        self._games, self._rejects, self._reasons = Counter[Source](), Counter[Source](), Counter[Reason]()
        self._evidence, self._variants = Counter[Evidence](), Counter[str]()
        self._plies = self._first_won = 0

    def add(self, source: Source, result: Kept | Reject) -> None:
        """Count one crawled row."""
        if isinstance(result, Reject):
            self._rejects[source] += 1
            self._reasons[result.reason] += 1
            return
        self._games[source] += 1
        self._evidence[result.evidence] += 1
        self._variants[result.record.variant] += 1
        self._plies += len(result.record.actions)
        self._first_won += result.record.winner == "first"

    def report(self) -> dict[str, Any]:
        """Every known word is a key, so that two reports can be compared key by key.

        Returns:
            ``rows`` = ``games`` + ``rejects``; the same three by source; ``rejects_by_reason``; ``winner_by``, the
            evidence for the winners; ``mean_plies``, the mean number of turns (null without games);
            ``first_side_score``, a fraction.
        """
        games, rejects = self._games.total(), self._rejects.total()
        return {
            "rows": games + rejects,
            "games": games,
            "rejects": rejects,
            "rejects_by_reason": {reason: self._reasons[reason] for reason in REASONS},
            "by_source": {
                source: {
                    "rows": self._games[source] + self._rejects[source],
                    "games": self._games[source],
                    "rejects": self._rejects[source],
                }
                for source in SOURCES
            },
            "by_variant": dict(sorted(self._variants.items())),
            "winner_by": {name: self._evidence[name] for name in EVIDENCE},
            "mean_plies": self._plies / games if games else None,
            "first_side_score": self._first_won / games if games else None,
        }

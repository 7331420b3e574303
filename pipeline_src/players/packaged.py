"""The nets and the levels that come with the package.

For a board and a rule there is a file that runs without torch, and a card of it: ``nets/SYSTEM-9x9-RULE.onnx``, or
``.lines`` or ``.rays`` of a table, has its card in ``nets/SYSTEM-9x9-RULE.yaml``. A net that searches run in 8-bit
integers comes with that model, in ``nets/SYSTEM-9x9-RULE.int8.onnx``. A player whose text names no model plays with the
net that fits its board (`searching.ByBoard`).
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import OneBoard, PlayerText, board_words
from pipeline_src.project.params import Count, Digest, Items, Params, Positive, Text, build, read_tree
from pipeline_src.search.tables import LINES, RAYS

FOLDER = Path(__file__).parents[1] / "nets"
ONNX = ".onnx"
ENDINGS = (ONNX, LINES, RAYS)  # Of the file of a net
INT8, CARD = ".int8.onnx", ".yaml"  # Endings of the same in 8-bit integers, and of its card
MOST_BYTES, MOST_BYTES_IN_ALL = 4 << 20, 12 << 20  # Largest size of a packaged file, and of all of them


class CardInt8(Params):
    """The model with 8-bit integers, which is another file."""

    bytes: Count  # Size of the file
    sha256: Digest  # Digest of the file


class CardFigure(Params):
    """A figure of a net."""

    words: Text  # Name of the figure for people
    value: float
    low: float | None = None  # Lower end of the 95 % interval
    high: float | None = None  # Upper end of the 95 % interval
    n: Count | None = None  # Games, turns or positions behind it
    unit: Text


class CardRange(Params):
    """A range of the reliability curve."""

    predicted: float  # Mean win rate predicted
    observed: float  # Points of the side to move
    low: float  # Lower end of their 95 % interval
    high: float  # Upper end of it
    turns: Count


class CardCalibration(Params):
    """Win rates of the net alone against the results of its games against itself, first halves of the games."""

    games: Count
    simulations: Count  # Simulations of a move in these games
    brier: float  # Mean squared error of the win rates; always saying one half has 0.25
    brier_low: float  # Lower end of its 95 % interval
    brier_high: float  # Upper end of it
    predicted: float  # Mean win rate of the side to move
    scored: float  # Its points
    start_first: float  # Win rate of the first side at the start
    start_second: float  # Win rate of the second side after the first one's move
    curve: Items[CardRange]  # The reliability curve


class Card(Params):
    """Origin, shape and figures of a packaged net; unknown ones are left out."""

    system: Text  # System that made it
    game: Text
    size: Count  # Squares along one side of its board
    rule: Text  # Variant of the game that it was trained on
    architecture: Text  # Kind and shape of the net
    data: Text | None = None  # Games that it learnt from
    params: dict[str, Any] = Field(default_factory=dict)
    """Profile and seed, and by its dotted key each param that differed from the profile's."""
    command: Items[Text] = ()  # Commands that make it
    commit: Text | None = None  # Commit of the code that made it
    date: Text | None = None  # Day on which it was packaged
    hours: Positive | None = None  # Wall time of its self-play, training and gates, or of its training
    hardware: Text | None = None
    figures: Items[CardFigure] = ()  # Figures of the net as trained
    calibration: CardCalibration  # Whether its win rates are right; a net whose are not is not packaged
    bytes: Count  # Size of the file
    sha256: Digest  # Digest of the file
    int8: CardInt8 | None = None  # The same net with 8-bit integers, if there is one

    @property
    def name(self) -> str:
        """Name of the net's file, without its ending."""
        return f"{self.system}-{self.size}x{self.size}-{self.rule}"

    @property
    def board(self) -> OneBoard:
        """The board and rule that it plays on."""
        return OneBoard(self.size, self.size, self.rule)


@dataclass(frozen=True)
class PackagedNet:
    """A net's file and its card."""

    file: Path
    card: Card

    def checked(self, int8: bool = False) -> str:
        """The path of the file, once its bytes have been compared with the card; with ``int8`` of that one.

        Raises:
            ZugwerkError: the file is missing, or not the one that the card describes.
        """
        about, file = (self.card.int8, self.file.with_suffix(INT8)) if int8 else (self.card, self.file)
        content = file.read_bytes() if file.is_file() else b""
        if about is None or len(content) != about.bytes or hashlib.sha256(content).hexdigest() != about.sha256:
            raise ZugwerkError(
                f"{file}: not the net that {self.file.with_suffix(CARD).name} describes: "
                f"{len(content):,} bytes, the card says {about.bytes if about else 0:,}, or another digest; "
                "`zugwerk export MODEL --package SYSTEM` writes both"
            )
        return str(file)

    def check_board(self, board: OneBoard) -> None:
        """Refuse a net that was made for another board than its card says.

        Raises:
            ZugwerkError: says which boards they are.
        """
        if board != self.card.board:
            raise ZugwerkError(f"{self.file}: a net for {board_words(board)}, but its card says {self.card.name}")


def nets_by_board(game: str) -> dict[OneBoard, PackagedNet]:
    """The nets of a game by the boards that they play on.

    Raises:
        ZugwerkError: see `packaged_nets`.
    """
    return {net.card.board: net for net in packaged_nets(game)}


def has_net(game: str, rule: str) -> bool:
    """Whether a net of the package plays a rule of a game."""
    return any(board.variant == rule for board in nets_by_board(game))


def packaged_nets(game: str | None = None, folder: Path = FOLDER) -> list[PackagedNet]:
    """The nets of a game, or of all, by game, board and name; no net itself is read.

    Raises:
        ZugwerkError: a net without a card or a card without a net, a card that cannot be read or that has another
            net's name, or two nets for one board.
    """
    stems = {path.name.partition(".")[0] for path in folder.iterdir() if path.suffix in (*ENDINGS, CARD)}
    nets = sorted(
        (_read(folder, stem) for stem in stems), key=lambda net: (net.card.game, net.card.board, net.card.name)
    )
    nets = [net for net in nets if game in (None, net.card.game)]
    for before, after in pairwise(nets):
        if (before.card.game, before.card.board) == (after.card.game, after.card.board):
            raise ZugwerkError(f"{before.file} and {after.file}: two nets for one board; remove one, and its card")
    return nets


def _read(folder: Path, stem: str) -> PackagedNet:
    beside, files = folder / f"{stem}{CARD}", [folder / f"{stem}{ending}" for ending in ENDINGS]
    there = [file for file in files if file.is_file()]
    if not beside.is_file() or len(there) != 1:
        named = ", ".join(file.name for file in [beside, *files] if file.is_file()) or f"{stem}{INT8}"
        raise ZugwerkError(
            f"{folder / stem}: only {named}; a packaged net is one file, {' or '.join(ENDINGS)}, and its card"
        )
    card = build(Card, read_tree(beside), "card", str(beside))
    if card.name != stem:
        raise ZugwerkError(f"{beside}: the card of {card.name}; a net and its card are named SYSTEM-SIZExSIZE-RULE")
    return PackagedNet(there[0], card)


# The ladders: opponents of measured strength on a board, from a beginner to the strongest player.
#
# The table is ``levels.yaml``; ``make measure-levels`` plays the ladders and writes their Elo into it. Elo compares the
# players of one board: on each of them the ladder's anchor has `ANCHOR_ELO`. It is not the rating of any club. A ladder
# may lend its levels to boards of other sizes, where their order is much the same and their Elo is not measured.


FILE = Path(__file__).with_name("levels.yaml")
ANCHOR_ELO = 1500  # Elo of each ladder's anchor
LENT = range(9, 26)  # Sizes of the boards to which ladders lend their levels


@cache
def digests() -> frozenset[str]:
    """Return the digests of the packaged nets, from the cards' lines: reading whole cards takes a start's time."""
    cards = (path.read_text(encoding="utf-8") for path in FOLDER.glob(f"*{CARD}"))
    return frozenset(found for text in cards for found in re.findall(r"^sha256: (\w+)$", text, re.MULTILINE))


class Level(Params):
    """A level of a ladder."""

    name: Text  # Words for people, such as ``club player``
    player: Text  # Text of the player, limited by depth, nodes or simulations, never by time
    elo: float
    low: float  # Lower end of the 95 % interval
    high: float  # Upper end of it
    games: Count  # Games behind it
    ms: Positive  # Mean milliseconds of CPU time a move, on the machine of the measurement
    net: Digest | None = None  # Of the packaged net that it was measured with; None for a player without one

    @property
    def measured(self) -> bool:
        """Whether the figures are those of the packaged net; if it has changed since, they are another player's."""
        return self.net is None or self.net in digests()


class Ladder(Params):
    """The levels of a board, the weakest first."""

    game: Text
    size: Count
    variant: Text
    anchor: Text  # Text of the level that has `ANCHOR_ELO`: one in the middle, with which others win and lose games
    openings: Text  # Openings of the games that measured it, see `MatchSpec`
    lends: bool = False
    """Whether the boards of `LENT` by the same rule that have no ladder get these levels; all play on any board."""
    levels: Items[Level]

    @property
    def board(self) -> OneBoard:
        """The board and rule."""
        return OneBoard(self.size, self.size, self.variant)

    def number(self, number: int | None = None, elo: float | None = None) -> int:
        """Return the number of a level, from 1: the given one, the measured one nearest to an Elo, or the strongest.

        Raises:
            ZugwerkError: the ladder has no such level.
        """
        count = len(self.levels)
        if elo is not None:
            measured = [k for k in range(count) if self.levels[k].measured]
            return 1 + min(measured, key=lambda k: abs(self.levels[k].elo - elo))
        if number is not None and number > count:
            raise ZugwerkError(
                f"no level {number} on {board_words(self.board)}; there are 1 to {count}, "
                f"the strongest with Elo {self.levels[-1].elo:.0f}"
            )
        return number or count


class _Table(Params):
    ladders: Items[Ladder]


@cache
def ladders(game: str | None = None, file: Path = FILE) -> tuple[Ladder, ...]:
    """Return the ladders of a game, or of all games.

    Raises:
        ZugwerkError: the file is missing or malformed; the message names the key.
    """
    every = build(_Table, read_tree(file), "levels", str(file)).ladders
    return tuple(one for one in every if game in (None, one.game))


def ladder_of(board: OneBoard, among: Sequence[Ladder]) -> Ladder | None:
    """Return the ladder of a board, or else the one that lends it its levels."""
    own = (one for one in among if one.board == board)
    lent = (one for one in among if one.lends and one.variant == board.variant and board.height == board.width in LENT)
    return next(own, None) or next(lent, None)


def level_words(board: OneBoard, game: str, text: str) -> str:
    """Return a level in words, such as ``Level 5, strong club player, about 1,500``; "" for others.

    In place of the Elo stands "not measured" if its net has changed.
    """
    parsed, ladder = PlayerText.parse(text), ladder_of(board, ladders(game))
    if parsed.name != "level" or ladder is None:
        return ""
    number, elo = parsed.value or parsed.options.get("number"), parsed.options.get("elo")
    try:
        at = ladder.number(int(number) if number else None, float(elo) if elo else None)
    except ZugwerkError:
        return ""
    level, where = ladder.levels[at - 1], "" if ladder.board == board else f" on {ladder.size}x{ladder.size}"
    elo = f"about {round(level.elo, -1):,.0f}" if level.measured else "not measured"
    return f"Level {at}, {level.name}, {elo}{where}"


def elo_range(game: str) -> tuple[int, int]:
    """Return the lowest and the highest Elo of a game's levels, rounded."""
    found = [level.elo for ladder in ladders(game) for level in ladder.levels if level.measured]
    return round(min(found)), round(max(found))

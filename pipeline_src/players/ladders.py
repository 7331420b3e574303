"""The ladders: opponents of measured strength on a board, from a beginner to the strongest player.

The table is ``levels.yaml``; ``make measure-levels`` plays the ladders and writes their Elo into it. Elo compares the
players of one board: on each of them the ladder's anchor has `ANCHOR_ELO`. It is not the rating of any club. A ladder
may lend its levels to boards of other sizes, where their order is much the same and their Elo is not measured.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import board_words
from pipeline_src.players.player import OneBoard, PlayerText
from pipeline_src.project.params import Count, Items, Params, Positive, Text, build, read_tree

FILE = Path(__file__).with_name("levels.yaml")
ANCHOR_ELO = 1500  # Elo of each ladder's anchor
LENT = range(9, 26)  # Sizes of the boards to which ladders lend their levels


class Level(Params):
    """A level of a ladder."""

    name: Text
    """Words for people, such as ``club player``."""
    player: Text
    """Text of the player, limited by depth, nodes or simulations, never by time."""
    elo: float
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end of it."""
    games: Count
    """Games behind it."""
    ms: Positive
    """Mean milliseconds of CPU time a move, on the machine of the measurement."""


class Ladder(Params):
    """The levels of a board, the weakest first."""

    game: Text
    size: Count
    variant: Text
    anchor: Text
    """Text of the level that has `ANCHOR_ELO`: one in the middle, with which others win and lose games."""
    openings: Text
    """Openings of the games that measured it, see `MatchSpec`."""
    lends: bool = False
    """Whether the boards of `LENT` by the same rule that have no ladder get these levels; all play on any board."""
    levels: Items[Level]

    @property
    def board(self) -> OneBoard:
        """The board and rule."""
        return OneBoard(self.size, self.size, self.variant)

    def number(self, number: int | None = None, elo: float | None = None) -> int:
        """Return the number of a level, from 1: the given one, the nearest to an Elo, or the strongest.

        Raises:
            ZugwerkError: the ladder has no such level.
        """
        count = len(self.levels)
        if elo is not None:
            return 1 + min(range(count), key=lambda k: abs(self.levels[k].elo - elo))
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
    """Return a level in words, such as ``Level 5, strong club player, about 1,500``; "" for others."""
    parsed, ladder = PlayerText.parse(text), ladder_of(board, ladders(game))
    if parsed.name != "level" or ladder is None:
        return ""
    number, elo = parsed.value or parsed.options.get("number"), parsed.options.get("elo")
    try:
        at = ladder.number(int(number) if number else None, float(elo) if elo else None)
    except ZugwerkError:
        return ""
    level, where = ladder.levels[at - 1], "" if ladder.board == board else f" on {ladder.size}x{ladder.size}"
    return f"Level {at}, {level.name}, about {round(level.elo, -1):,.0f}{where}"


def elo_range(game: str) -> tuple[int, int]:
    """Return the lowest and the highest Elo of a game's levels, rounded."""
    found = [level.elo for ladder in ladders(game) for level in ladder.levels]
    return round(min(found)), round(max(found))

"""The nets that come with the package: for a board and a rule a file of weights, and a card that describes it.

``nets/SYSTEM-9x9-RULE.pt`` has its card in ``nets/SYSTEM-9x9-RULE.yaml``. A player whose text names no model plays with
the net that fits its board (`by_board`).
"""

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import OneBoard
from pipeline_src.project.params import Count, Items, Params, Positive, Text, build, read_tree

FOLDER = Path(__file__).parents[1] / "nets"
MOST_BYTES, MOST_BYTES_IN_ALL = 4 << 20, 12 << 20
"""Largest size of a packaged net, and of all of them."""


class CardFigure(Params):
    """A figure of a net."""

    words: Text
    """Name of the figure for people."""
    value: float
    low: float | None = None
    """Lower end of the 95 % interval."""
    high: float | None = None
    """Upper end of the 95 % interval."""
    n: Count | None = None
    """Games, turns or positions behind it."""
    unit: Text


class Card(Params):
    """Origin, shape and figures of a packaged net; what is not known is left out."""

    system: Text
    """System that made it."""
    game: Text
    size: Count
    """Squares along one side of its board."""
    rule: Text
    """Variant of the game that it was trained on."""
    architecture: Text
    """Kind and shape of the net."""
    data: Text | None = None
    """Games that it learnt from."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Profile and seed, and by its dotted key each param that differed from the profile's."""
    command: Items[Text] = ()
    """Commands that make it."""
    commit: Text | None = None
    """Commit of the code that made it."""
    date: Text | None = None
    """Day on which it was packaged."""
    hours: Positive | None = None
    """Wall time of its self-play, training and gates, or of its training."""
    hardware: Text | None = None
    figures: Items[CardFigure] = ()
    """Figures of the net as trained, before its weights were rounded to 16 bits."""
    bytes: Count
    """Size of the file."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """Digest of the file."""

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

    def checked(self) -> str:
        """The file's path, once its bytes have been compared with the card.

        Raises:
            ZugwerkError: the file is not the one that the card describes.
        """
        content = self.file.read_bytes()
        if len(content) != self.card.bytes or hashlib.sha256(content).hexdigest() != self.card.sha256:
            raise ZugwerkError(
                f"{self.file}: not the net that {self.file.with_suffix('.yaml').name} describes: "
                f"{len(content):,} bytes, the card says {self.card.bytes:,}, or another digest; "
                "`zugwerk export MODEL --package SYSTEM` writes both"
            )
        return str(self.file)

    def check_board(self, board: OneBoard) -> None:
        """Refuse a net that was made for another board than its card says.

        Raises:
            ZugwerkError: says which boards they are.
        """
        if board != self.card.board:
            raise ZugwerkError(f"{self.file}: a net for {board_words(board)}, but its card says {self.card.name}")


def packaged_nets(game: str | None = None, folder: Path = FOLDER) -> list[PackagedNet]:
    """The nets of a game, or of all, by game, board and name; no net itself is read.

    Raises:
        ZugwerkError: a net without a card or a card without a net, a card that cannot be read or that has another
            net's name, or two nets for one board.
    """
    stems = sorted({path.with_suffix("") for pattern in ("*.pt", "*.yaml") for path in folder.glob(pattern)})
    nets = sorted((_read(stem) for stem in stems), key=lambda net: (net.card.game, net.card.board, net.card.name))
    nets = [net for net in nets if game in (None, net.card.game)]
    for before, after in pairwise(nets):
        if (before.card.game, before.card.board) == (after.card.game, after.card.board):
            raise ZugwerkError(f"{before.file} and {after.file}: two nets for one board; remove one, and its card")
    return nets


def _read(stem: Path) -> PackagedNet:
    file, beside = stem.with_name(f"{stem.name}.pt"), stem.with_name(f"{stem.name}.yaml")
    for there, missing in ((beside, file), (file, beside)):
        if not missing.is_file():
            raise ZugwerkError(f"{missing}: not there, but {there.name} is; a packaged net is a file and its card")
    card = build(Card, read_tree(beside), "card", str(beside))
    if card.name != stem.name:
        raise ZugwerkError(f"{beside}: the card of {card.name}; a net and its card are named SYSTEM-SIZExSIZE-RULE")
    return PackagedNet(file, card)


def board_words(board: OneBoard) -> str:
    """A board and its rule in words, such as ``9x9 freestyle``."""
    return f"{board.height}x{board.width} {board.variant}"

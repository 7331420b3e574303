"""The player ``level``: an opponent of measured strength, from the table of `players.ladders`.

``level:4`` is the fourth level of the board that is played on, ``level:elo=1450`` the level with the nearest Elo.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.kernels import max_actions, write_actions
from pipeline_src.jit.needs import Need
from pipeline_src.players.by_board import ByBoard
from pipeline_src.players.ladders import Ladder, ladders
from pipeline_src.players.options import Options, read_options
from pipeline_src.players.packaged import board_words
from pipeline_src.players.player import NO_BOUNDS, Bounds, OneBoard, PlayerText, Position, Thought
from pipeline_src.players.registry import build_player
from pipeline_src.players.searching import time_on_clock
from pipeline_src.project.params import Count
from pipeline_src.search.limits import OnInfo


def plays_as(game: str, text: str, state: Any) -> str:
    """Return the text of a level's player on the board of a state; other texts unchanged.

    Raises:
        ZugwerkError: no level there.
    """
    parsed = PlayerText.parse(text)
    return LevelPlayer(read_options(_OPTIONS[game], parsed)).text_at(state) if parsed.name == "level" else text


class LevelOptions(Options):
    """Options of the levels of any game."""

    EXAMPLE = "level:4"
    VALUE = "number"
    GAME: ClassVar[str]

    number: Count | None = None
    """Number of the level, 1 the weakest."""
    elo: float | None = None
    """Elo that the level should have, e.g. 1450."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.number is not None and self.elo is not None:
            raise ValueError("takes a number or an elo, not both")
        return self


class AmazonsLevel(LevelOptions):
    """An opponent of measured strength: a level of the board, or the one with the nearest Elo; else the strongest.

    A time from outside ends a move early, but makes no level stronger.
    """

    GAME = "amazons"


class GomokuLevel(LevelOptions):
    """An opponent of measured strength: a level of the board, or the one with the nearest Elo; else the strongest.

    A time from outside ends a move early, but makes no level stronger.
    """

    GAME = "gomoku"


class LevelPlayer(ByBoard[Ladder]):
    """The player of a level on the board of each game, always within the level's own limits."""

    def __init__(self, options: LevelOptions) -> None:
        """Take the ladders of the options' game.

        Raises:
            ZugwerkError: no ladder has such a level.
        """
        game = options.GAME
        found = {ladder.board: ladder for ladder in ladders(game)}
        most = max(found.values(), key=lambda ladder: len(ladder.levels))
        most.number(options.number)

        self._options = options
        super().__init__(
            "level", found, lambda ladder: build_player(game, self._text(ladder)), _BOARDS[game], searches=True
        )

    def _text(self, ladder: Ladder) -> str:
        return ladder.levels[ladder.number(self._options.number, self._options.elo) - 1].player

    def text_at(self, state: Any) -> str:
        """Return the text of the level's player on the board of a state.

        Raises:
            ZugwerkError: no level there.
        """
        board = self._board_of(state)
        if board not in self._nets:
            raise ZugwerkError(self._refusal(board))
        return self._text(self._nets[board])

    def _refusal(self, board: OneBoard) -> str:
        there = ", ".join(map(board_words, self.boards))
        return f"no levels on {board_words(board)}; there are levels on {there}; other players play on other boards"

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`; a clock is shared out by the number of actions."""
        on_a_clock = [Need(max_actions, (start,)), Need(write_actions, (start, np.empty(1, np.int32)))]
        return [*super().needs(start), *on_a_clock]

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`."""
        if any(position.clock is not None for position in positions):
            return [self.think(position) for position in positions]
        return super().consider(positions)

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:
        """See `Player.think`; the lower of the level's own limit and a limit from outside ends the search."""
        player, most = self.player_for(position.state), bounds.movetime_ms
        if most is None and position.clock is not None:
            most = time_on_clock(position)
        own, position = player.limit, replace(position, clock=None)
        if own is None or (most, bounds.depth, bounds.nodes, bounds.lines) == (None, None, None, 1):
            return player.think(position, NO_BOUNDS, on_info)
        depth, nodes = _lower(own.depth, bounds.depth), _lower(own.nodes, bounds.nodes)
        return player.think(position, Bounds(depth, nodes, most, lines=bounds.lines), on_info)


def _lower(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _amazons_board(state: Any) -> OneBoard:
    height, width = state.board.shape
    return OneBoard(height, width, "standard")  # the variant is that of the start alone


def _gomoku_board(state: Any) -> OneBoard:
    from pipeline_src.games.gomoku.board import format_variant

    height, width = state.board.shape
    return OneBoard(height, width, format_variant(state))


_BOARDS = {"amazons": _amazons_board, "gomoku": _gomoku_board}
_OPTIONS = {"amazons": AmazonsLevel, "gomoku": GomokuLevel}


def amazons_level(options: AmazonsLevel) -> LevelPlayer:
    """The player ``level`` of the Amazons.

    Raises:
        ZugwerkError: no ladder has such a level.
    """
    return LevelPlayer(options)


def gomoku_level(options: GomokuLevel) -> LevelPlayer:
    """The player ``level`` of Gomoku.

    Raises:
        ZugwerkError: no ladder has such a level.
    """
    return LevelPlayer(options)

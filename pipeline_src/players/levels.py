"""The player ``level``: an opponent of measured strength, from the table of `players.packaged`.

``level:4`` is the fourth level of the board that is played on, ``level:elo=1450`` the level with the nearest Elo.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.kernels import max_actions, write_actions
from pipeline_src.jit import Need
from pipeline_src.players.packaged import LENT, Ladder, ladder_of, ladders
from pipeline_src.players.player import (
    NO_BOUNDS,
    Bounds,
    OneBoard,
    Options,
    Player,
    PlayerText,
    Position,
    Thought,
    board_words,
    read_options,
)
from pipeline_src.players.registry import build_player
from pipeline_src.players.searching import ByBoard, time_on_clock
from pipeline_src.project.params import Count
from pipeline_src.search.limits import OnInfo


def plays_as(game: str, text: str, start: Any) -> str:
    """Return the text of a level's player in a game from a start; other texts unchanged.

    Raises:
        ZugwerkError: no level there.
    """
    parsed = PlayerText.parse(text)
    return LevelPlayer(game, read_options(LevelOptions, parsed)).text_at(start) if parsed.name == "level" else text


class LevelOptions(Options):
    """An opponent of measured strength: a level of the board, or the one with the nearest Elo; else the strongest.

    A time from outside ends a move early, but makes no level stronger.
    """

    EXAMPLE = "level:4"
    VALUE = "number"

    number: Count | None = None
    """Number of the level, 1 the weakest."""
    elo: float | None = None
    """Elo that the level should have, e.g. 1450."""

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.number is not None and self.elo is not None:
            raise ValueError("takes a number or an elo, not both")
        return self


class LevelPlayer(ByBoard[Ladder]):
    """The player of a level on the board of each game, always within the level's own limits."""

    def __init__(self, game: str, options: LevelOptions) -> None:
        """Take the ladders of a game.

        Raises:
            ZugwerkError: no ladder has such a level.
        """
        self._options, self._ladders = options, ladders(game)
        longest = max(self._ladders, key=lambda ladder: len(ladder.levels))
        most, number = len(longest.levels), options.number
        if number is not None and number > most:
            where = board_words(longest.board)
            raise ZugwerkError(f"no level {number} on any board; there are at most {most}, on {where}")

        def board_of(state: Any) -> OneBoard:
            board = BOARDS[game](state)
            ladder = ladder_of(board, self._ladders)
            return ladder.board if ladder else board

        found = {ladder.board: ladder for ladder in self._ladders}
        lent = [OneBoard(size, size, one.variant) for one in self._ladders if one.lends for size in LENT]
        boards = tuple(dict.fromkeys([*found, *lent]))
        super().__init__("level", found, self._player_of, board_of, searches=True, boards=boards)

    def _player_of(self, ladder: Ladder) -> Player:
        return build_player(ladder.game, self._text(ladder))

    def _text(self, ladder: Ladder) -> str:
        return ladder.levels[ladder.number(self._options.number, self._options.elo) - 1].player

    def text_at(self, start: Any) -> str:
        """Return the text of the level's player on the board of a game's first state.

        Raises:
            ZugwerkError: no level there.
        """
        board = self._board_of(start)
        if board not in self._nets:
            raise ZugwerkError(self._refusal(board))
        return self._text(self._nets[board])

    def _refusal(self, board: OneBoard) -> str:
        there = ", ".join(board_words(ladder.board) for ladder in self._ladders)
        lent = ", ".join(ladder.variant for ladder in self._ladders if ladder.lends)
        more = f", and by the rules {lent} on all from {LENT[0]}x{LENT[0]} to {LENT[-1]}x{LENT[-1]}" if lent else ""
        return (
            f"no levels on {board_words(board)}; there are levels on {there}{more}; other players play on other boards"
        )

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`; on a board without the level those of any with it.

        A clock is shared out by the number of actions.
        """
        on_a_clock = [Need(max_actions, (start,)), Need(write_actions, (start, np.empty(1, np.int32)))]
        board, number = self._board_of(start), self._options.number or 1
        able = [other for other, ladder in self._nets.items() if number <= len(ladder.levels)]
        return [*self._player(board if board in able else able[0]).needs(start), *on_a_clock]

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`."""
        if self._options.elo is not None or any(position.clock is not None for position in positions):
            return [self.think(position) for position in positions]
        return super().consider(positions)

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:
        """See `Player.think`; the lower of the level's own limit and a limit from outside ends the search."""
        first = position.state if position.start is None else position.start
        player, most = self.player_for(first), bounds.movetime_ms
        if most is None and position.clock is not None:
            most = time_on_clock(position)
        own, position = player.limit, replace(position, clock=None)
        if own is None or (most, bounds.depth, bounds.nodes, bounds.lines) == (None, None, None, 1):
            return player.think(position, Bounds(actions=bounds.actions), on_info)
        depth, nodes = _lower(own.depth, bounds.depth), _lower(own.nodes, bounds.nodes)
        return player.think(position, Bounds(depth, nodes, most, lines=bounds.lines, actions=bounds.actions), on_info)


def _lower(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _amazons_board(start: Any) -> OneBoard:
    height, width = start.board.shape
    return OneBoard(height, width, "cross" if start.board.tobytes() == _cross() else "standard")


@cache
def _cross() -> bytes:
    from pipeline_src.games.amazons import initial_state

    return initial_state(10, "cross").board.tobytes()


def _gomoku_board(state: Any) -> OneBoard:
    from pipeline_src.games.gomoku import format_variant

    height, width = state.board.shape
    return OneBoard(height, width, format_variant(state))


BOARDS = {"amazons": _amazons_board, "gomoku": _gomoku_board}
"""Board and rule, or start position, of a game by its first state."""


def amazons_level(options: LevelOptions) -> LevelPlayer:
    """The player ``level`` of the Amazons; see `LevelPlayer`."""
    return LevelPlayer("amazons", options)


def gomoku_level(options: LevelOptions) -> LevelPlayer:
    """The player ``level`` of Gomoku; see `LevelPlayer`."""
    return LevelPlayer("gomoku", options)

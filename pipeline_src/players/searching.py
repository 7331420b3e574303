"""`SearchPlayer`, a search as a player, with the limits that options set; `ByBoard`, another player on each board."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.kernels import max_actions, write_actions
from pipeline_src.games.rules import legal_actions
from pipeline_src.jit import Need
from pipeline_src.players.player import NO_BOUNDS, Bounds, OneBoard, Options, Player, Position, Thought, board_words
from pipeline_src.project.params import Count, Positive
from pipeline_src.search.limits import Limit, OnInfo, Searcher, expected_plies, movetime_ms


class Nodes(Options):
    """Limits of a move by nodes or time."""

    DEFAULT: ClassVar[Limit]  # Limit if no option sets one

    nodes: Count | None = None
    """Nodes per move: positions, or simulations of a tree search."""
    movetime: Positive | None = None
    """Milliseconds per move."""

    @property
    def limit(self) -> Limit:
        """Return the limits that are given, or the default."""
        given = Limit(getattr(self, "depth", None), self.nodes, self.movetime)
        return self.DEFAULT if given == Limit() else given


class Depth(Options):
    """Limit of a move by depth."""

    depth: Count | None = None
    """Depth in plies."""


class Limits(Nodes, Depth):
    """Limits of a move by depth, nodes or time. The first one reached ends the search."""


class RandomOptions(Options):
    """Uniformly random legal moves."""

    EXAMPLE = "random"


class RandomPlayer(Player):
    """See `RandomOptions`."""

    def __init__(self, _: RandomOptions) -> None:
        pass

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [int(position.rng.choice(legal_actions(position.state))) for position in positions]


class SearchPlayer(Player):
    """A player that searches one position after the other."""

    searches = True
    limit: Limit

    def __init__(self, searcher: Searcher, limit: Limit) -> None:
        """``limit`` applies to every move, unless the game is played on a clock."""
        self.searcher, self.limit = searcher, limit

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`."""
        return [self._search(position, NO_BOUNDS) for position in positions]

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:
        """See `Player.think`."""
        return self._search(position, bounds, on_info)

    def _search(self, position: Position, bounds: Bounds, on_info: OnInfo | None = None) -> Thought:
        seed = int(position.rng.integers(1 << 62))
        found = self.searcher.search(position.state, self._limit(position, bounds), seed, on_info)
        return Thought(found.action, found, found.nodes)

    def _limit(self, position: Position, bounds: Bounds) -> Limit:
        if bounds.infinite:
            return Limit(lines=bounds.lines, actions=bounds.actions)
        if (bounds.depth, bounds.nodes, bounds.movetime_ms) != (None, None, None):
            time_ms = bounds.movetime_ms
            if time_ms is None and position.clock is not None:
                time_ms = time_on_clock(position)
            return Limit(bounds.depth, bounds.nodes, time_ms, bounds.lines, bounds.actions)
        return replace(self.limit_at(position), lines=bounds.lines, actions=bounds.actions)

    def _warm_up(self, position: Position) -> None:
        self.think(position, Bounds(depth=1 if self.limit.depth is not None else None, nodes=1))  # minimax needs depth

    def use_memory(self, size: int) -> None:
        """See `Player.use_memory`."""
        if use := getattr(self.searcher, "use_memory", None):  # a search with a tree or a table
            use(size)

    def take_memory(self, size: int) -> None:
        """See `Player.take_memory`."""
        if take := getattr(self.searcher, "take_memory", None):  # a search with a table of any size
            take(size)

    def stop(self) -> None:
        """See `Player.stop`."""
        self.searcher.stop()

    def needs(self, start: Any) -> list[Need]:
        """Return the kernels that the player calls in games on boards like that of ``start``."""
        on_a_clock = Need(write_actions, (start, np.empty(1, np.int32)))
        return [*self.searcher.needs(start), Need(max_actions, (start,)), on_a_clock]

    def limit_at(self, position: Position) -> Limit:
        """Return the player's own limit, or the time that the game's clock allows for this move."""
        return self.limit if position.clock is None else Limit(movetime_ms=time_on_clock(position))


def time_on_clock(position: Position) -> float:
    """Return the milliseconds that the position's clock allows for this move."""
    assert position.clock is not None
    played = len(position.actions)
    legal = int(write_actions(position.state, np.empty(max_actions(position.state), np.int32)))
    return movetime_ms(position.clock, played, expected_plies(played, legal))


T = TypeVar("T")


class ByBoard(Player, Generic[T]):
    """Plays each game with the net of its board, which is read when a position of that board is first seen."""

    def __init__(
        self,
        name: str,
        nets: Mapping[OneBoard, T],
        open_net: Callable[[T], Player],
        board_of: Callable[[Any], OneBoard],
        searches: bool = False,
        limit: Limit | None = None,
        boards: Sequence[OneBoard] | None = None,
    ) -> None:
        """The player ``name`` with the ``nets`` of one game.

        ``open_net`` makes the player of one of them, ``board_of`` returns the board and rule of a state. For the others
        see `Player`; the ``boards`` are by default those of the nets.

        Raises:
            ZugwerkError: there are no nets.
        """
        if not nets:
            raise ZugwerkError(f"no net comes with the package, so player '{name}' needs a model: {name}:MODEL")
        self._name, self._nets, self._open, self._board_of = name, nets, open_net, board_of
        self._players: dict[OneBoard, Player] = {}
        self._opening = threading.Lock()  # a preparation in the background asks for the same nets
        self._memory: dict[str, int] = {}  # Sizes by the method that took them
        self.boards = tuple(self._nets if boards is None else boards)
        self.searches, self.limit = searches, limit

    def player_for(self, state: Any) -> Player:
        """The player with the net of a state's board.

        Raises:
            ZugwerkError: no net for this board, or it is not what its card says.
        """
        board = self._board_of(state)
        if board not in self._nets:
            raise ZugwerkError(self._refusal(board))
        return self._player(board)

    def net_for(self, state: Any) -> T | None:
        """The net of a state's board, None if there is none."""
        return self._nets.get(self._board_of(state))

    def _refusal(self, board: OneBoard) -> str:
        there = ", ".join(map(board_words, self._nets))
        return (
            f"no net for {board_words(board)} comes with the package; "
            f"there are nets for {there}; for another board name a model: {self._name}:MODEL"
        )

    def _player(self, board: OneBoard) -> Player:
        with self._opening:
            if board not in self._players:
                made = self._open(self._nets[board])
                for method, size in self._memory.items():
                    getattr(made, method)(size)
                self._players[board] = made
            return self._players[board]

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`; positions of one board are considered together."""
        found: dict[int, Thought] = {}
        boards = [self._board_of(position.state) for position in positions]
        for board in dict.fromkeys(boards):
            at = [k for k, other in enumerate(boards) if other == board]
            thoughts = self.player_for(positions[at[0]].state).consider([positions[k] for k in at])
            found.update(zip(at, thoughts, strict=True))
        return [found[k] for k in range(len(positions))]

    def think(self, position: Position, bounds: Bounds = NO_BOUNDS, on_info: OnInfo | None = None) -> Thought:
        """See `Player.think`."""
        return self.player_for(position.state).think(position, bounds, on_info)

    def check(self, state: Any) -> None:
        """See `Player.check`."""
        self.player_for(state).check(state)

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`; on a board without a net those of any of them."""
        board = self._board_of(start)
        return self._player(board if board in self._nets else next(iter(self._nets))).needs(start)

    def ready(self, start: Any = None) -> None:
        """See `Player.ready`."""
        if start is not None:
            self.player_for(start).ready(start)

    def new_game(self) -> None:
        """See `Player.new_game`."""
        for player in list(self._players.values()):
            player.new_game()

    def use_memory(self, size: int) -> None:
        """See `Player.use_memory`."""
        self._tell("use_memory", size)

    def take_memory(self, size: int) -> None:
        """See `Player.take_memory`."""
        self._tell("take_memory", size)

    def _tell(self, method: str, size: int) -> None:
        with self._opening:
            self._memory[method] = size
            for player in self._players.values():
                getattr(player, method)(size)

    def stop(self) -> None:
        """See `Player.stop`."""
        for player in list(self._players.values()):
            player.stop()

    def close(self) -> None:
        """See `Player.close`."""
        for player in list(self._players.values()):
            player.close()

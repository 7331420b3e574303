"""A search as a player, and the limits that its text may set."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.kernels import max_actions, write_actions
from pipeline_src.jit.needs import Need
from pipeline_src.players.player import PlayerText, Position
from pipeline_src.search.clock import expected_plies, movetime_ms
from pipeline_src.search.limits import Limit, Searcher

LIMITS = ("depth", "nodes", "movetime")
"""Options of a searching player's text; movetime in milliseconds."""


class SearchPlayer:
    """Searches each position in turn."""

    def __init__(self, searcher: Searcher, limit: Limit) -> None:
        """``limit`` holds for every move, unless the game is played on a clock."""
        self.searcher, self.limit = searcher, limit

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`."""
        return [
            self.searcher.search(
                position.state, self.limit_at(position), seed=int(position.rng.integers(1 << 62))
            ).action
            for position in positions
        ]

    def needs(self, start: Any) -> list[Need]:
        """Kernels that the player calls in games on boards like ``start``'s."""
        on_a_clock = Need(write_actions, (start, np.empty(1, np.int32)))
        return [*self.searcher.needs(start), Need(max_actions, (start,)), on_a_clock]

    def limit_at(self, position: Position) -> Limit:
        """The player's own limit, or what the game's clock leaves for this move."""
        if position.clock is None:
            return self.limit
        played = len(position.actions)
        legal = int(write_actions(position.state, np.empty(max_actions(position.state), np.int32)))
        return Limit(movetime_ms=movetime_ms(position.clock, played, expected_plies(played, legal)))


def read_limit(text: PlayerText, numbers: dict[str, float], default: Limit) -> Limit:
    """The limit among a player's options as `PlayerText.numbers` read them, NaN for what was not given.

    Args:
        text: of the player, for complaints.
        numbers: its options, those of `LIMITS` among them.
        default: where none of them is given.

    Raises:
        ZugwerkError: a limit that is not above 0, or a depth or number of nodes that is not whole.
    """
    given = {name: numbers[name] for name in LIMITS if numbers[name] == numbers[name]}
    for name, value in given.items():
        if not 0 < value < float("inf") or (name != "movetime" and value != int(value)):
            raise ZugwerkError(f"player '{text.name}': {name} must be above 0, not {value}")
    if not given:
        return default
    depth, nodes = (int(given[name]) if name in given else None for name in ("depth", "nodes"))
    return Limit(depth=depth, nodes=nodes, movetime_ms=given.get("movetime"))


def with_nodes(text: PlayerText, name: str) -> PlayerText:
    """The text with option ``name``, the search's own word for what ``nodes`` limits, under that key.

    Raises:
        ZugwerkError: both are given.
    """
    if name not in text.options:
        return text
    if "nodes" in text.options:
        raise ZugwerkError(f"player '{text.name}': {name} and nodes are one option; give one of them")
    options = {"nodes" if key == name else key: value for key, value in text.options.items()}
    return dataclasses.replace(text, options=options)

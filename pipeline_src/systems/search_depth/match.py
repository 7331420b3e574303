"""Matches of players that choose their search depth, on a clock: `play_meetings` and `DepthMatch`.

The clock is one of nodes, where ``nodes_per_ms`` is above 0, so that no machine decides a game; else of wall time. A
side is charged for all it does: the search, the search that fills a net's input, the forward pass. Whose clock falls
below 0 has lost on time. Every other game is played to its end, so none is adjudicated and none is drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.arena import runner
from pipeline_src.arena.game import SIDES, Fixture, PlayedGame, TimeControl
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.openings import random_openings
from pipeline_src.arena.result import Match
from pipeline_src.arena.runner import Board, play_matches, swapped_pair
from pipeline_src.arena.score import Score, clustered_mean
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import Row
from pipeline_src.games import amazons
from pipeline_src.games.amazons import COLOUR, EMPTY
from pipeline_src.parallel import Parallel
from pipeline_src.systems.search_depth.params import DepthGame
from pipeline_src.systems.search_depth.player import DepthMove, DepthPlayer, TableDepth

LEAST = 3  # Moves of a number that a row of `move_rows` must have


class DepthMatch(Match):
    """A match with the figures of its searches, those of ``a`` (0) or of ``b`` (1)."""

    @property
    def margin(self) -> Score:
        """Mean of the squares left to the winner, negative where ``b`` won, over the games not lost on time."""
        kept = [(i, game) for i, game in enumerate(self.games) if game.ended == "board"]
        margins = [_margin(game) * (1 if game.winner == SIDES[i % 2] else -1) for i, game in kept]
        return clustered_mean(margins, [i // 2 for i, _ in kept])

    def nodes(self, player: int) -> float:
        """Mean nodes of a game that it was charged."""
        moves = self.moves(player)
        return sum(move.nodes + move.choosing for move in moves) / len(self.games)

    def choosing(self, player: int) -> float:
        """Share of those nodes that its choices of depth cost."""
        moves = self.moves(player)
        spent = sum(move.choosing for move in moves)
        return spent / max(1, spent + sum(move.nodes for move in moves))

    def mean_depth(self, player: int) -> float:
        """Mean of the depths that its searches completed."""
        return float(np.mean([move.reached for move in self.moves(player)]))

    def moves(self, player: int) -> list[DepthMove]:
        """All moves that it searched, game by game."""
        moves = [(side, DepthMove._make(note)) for game, side in self.seated(player) for note in game.notes]
        return [move for side, move in moves if move.side == side]


def _margin(game: PlayedGame) -> int:
    """Squares left to the winner at the end."""
    return squares_left(reduce(amazons.play, game.actions, amazons.initial_state()), SIDES.index(game.winner))


def squares_left(state: Any, side: int) -> int:
    """Empty squares that amazons of ``side`` could walk to by king's steps, the other side's standing still.

    What is left of the board to a winner whose opponent cannot move; a pocket that its own arrows would spoil counts
    whole, so its moves may be fewer.
    """
    board = np.pad(state.board, 1, constant_values=-1)
    reached = board == COLOUR[side]
    own = int(reached.sum())
    while True:
        near = reached.copy()
        for axis in (0, 1):
            near |= np.roll(near, 1, axis) | np.roll(near, -1, axis)
        grown = reached | (near & (board == EMPTY))
        if int(grown.sum()) == int(reached.sum()):
            return int(reached.sum()) - own
        reached = grown


class Meeting(NamedTuple):
    """A match to be played, in pairs with the sides swapped."""

    a: str  # Text of a player of `systems.search_depth.player`
    b: str  # Text of the other, with the same clock
    pairs: int  # Openings, each played twice
    seed: Sequence[int]  # The match depends on it, on the texts and on the game alone, on a clock of nodes


def play_meetings(
    meetings: Sequence[Meeting], game: DepthGame, parallel: Parallel, journal: Journal | None = None
) -> list[DepthMatch]:
    """Play matches side by side, or their remaining games. A repeated call with more pairs plays only the new ones.

    Args:
        meetings: the matches.
        game: the clock and the openings' length.
        parallel: how games run.
        journal: keeps finished games; the caller sees to it that it is this code's and this engine's.

    Raises:
        ZugwerkError: a text that names no player, or one that has no use for this clock.
    """
    for text in {text for one in meetings for text in (one.a, one.b)}:
        check_player(text)
    board = Board(amazons.NAME, 10, control=TimeControl(game.clock_ms, nodes_per_ms=game.nodes_per_ms))

    def fixtures(one: Meeting) -> list[Fixture]:
        openings = random_openings(amazons, board.start(), one.pairs, game.opening_plies, [*one.seed, 0])
        pairs = (swapped_pair(one.a, one.b, opening, (*one.seed, 1, i)) for i, opening in enumerate(openings))
        return [fixture for pair in pairs for fixture in pair]

    played = play_matches(board, [fixtures(one) for one in meetings], parallel, journal)
    return [DepthMatch.of(one.a, one.b, games) for one, games in zip(meetings, played, strict=True)]


def check_player(text: str) -> None:
    """Raise an error for a player that does not count its nodes.

    Raises:
        ZugwerkError: the player does not count its nodes, or the text names no player.
    """
    if not isinstance(runner.player(amazons.NAME, text), DepthPlayer):
        raise ZugwerkError(f"player {text!r} counts no nodes; give it nodes_per_ms, or depth=cnn or depth=table")


def move_rows(matches: Sequence[tuple[DepthMatch, str, str]]) -> dict[str, list[Row]]:
    """By player, a row for each number of its moves in a game: mean depths, share of its clock used, nodes.

    Args:
        matches: each with the names of its players, under which their moves count together.
    """
    found: dict[str, list[DepthMove]] = {}
    for match, a, b in matches:
        for player, name in enumerate((a, b)):
            found.setdefault(name, []).extend(match.moves(player))
    rows: dict[str, list[Row]] = {}
    for name, moves in found.items():
        numbers = np.array([move.ply // 2 + 1 for move in moves])
        chosen = {int(n): [moves[i] for i in np.flatnonzero(numbers == n)] for n in np.unique(numbers)}
        rows[name] = [_row(number, some) for number, some in chosen.items() if len(some) >= LEAST]
    return rows


def _row(number: int, moves: list[DepthMove]) -> Row:
    return {
        "move": number,
        "moves": len(moves),
        "depth": float(np.mean([move.reached for move in moves])),
        "asked": float(np.mean([move.asked for move in moves])),
        "used": float(np.mean([move.used for move in moves])),
        "nodes": float(np.mean([move.nodes + move.choosing for move in moves])),
    }


# The published opponent's table from legal turns to depth, fitted to an amount of computing.
#
# In place of a hand, a rule: a position is searched to the greatest depth whose expected nodes are within a budget that
# is the same for all (`fit_table`). Expected nodes come from labelled positions: of those that completed a depth, its
# nodes as a power of the legal turns, each depth as a multiple of the one before. `tune_table` makes the opponent as
# strong as the same computing allows, in pilot games.


LEAST_ROWS = 8
"""Least number of positions with a completed depth to estimate its nodes; deeper ones grow at the last rate."""
CLOSE = 0.01  # Difference of the computing, as a share, at which no other table is tried

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DepthCosts:
    """Expected nodes of each depth: ``exp(a + b * log(legal))`` for depth 1, such a multiple for each ply more."""

    powers: tuple[tuple[float, float], ...]  # (a, b) by depth

    def nodes(self, legal: npt.ArrayLike) -> Floats:
        """float64 [R, D]: nodes until each depth from 1 is complete, never falling, for R numbers of legal turns."""
        logs = np.log(np.maximum(np.asarray(legal, np.float64), 1))
        a, b = np.array(self.powers).T
        steps = a + b * logs[:, None]
        steps[:, 1:] = np.maximum(steps[:, 1:], 0)
        found: Floats = np.exp(np.cumsum(steps, axis=1))
        return found


def fit_costs(legal: npt.NDArray[np.int32], nodes_by_depth: npt.NDArray[np.int64], highest: int) -> DepthCosts:
    """Costs of the depths 1 to ``highest``.

    Args:
        legal: int32 [R], legal turns.
        nodes_by_depth: int64 [R, D], as in `systems.search_depth.positions`.
        highest: greatest depth.

    Raises:
        ZugwerkError: too few positions.
    """
    logs = np.log(np.maximum(legal.astype(np.float64), 1))
    powers: list[tuple[float, float]] = []
    for depth in range(1, highest + 1):
        done = nodes_by_depth[:, depth - 1] > 0 if depth <= nodes_by_depth.shape[1] else np.zeros(len(legal), np.bool_)
        if done.sum() < LEAST_ROWS:
            if depth <= 2:
                raise ZugwerkError(
                    f"a depth table needs {LEAST_ROWS} positions searched {depth} plies deep, there are "
                    f"{int(done.sum())}; raise depth_label.games"
                )
            powers.append(powers[-1])
            continue
        nodes = np.log(nodes_by_depth[done, depth - 1].astype(np.float64))
        if depth > 1:
            nodes -= np.log(np.maximum(nodes_by_depth[done, depth - 2], 1).astype(np.float64))
        design = np.column_stack([np.ones(int(done.sum())), logs[done]])
        a, b = np.linalg.lstsq(design, nodes, rcond=None)[0]
        powers.append((float(a), float(b)))
    return DepthCosts(tuple(powers))


def table_within(costs: DepthCosts, lowest: int, highest: int, budget: float) -> TableDepth:
    """The table that searches each position to the greatest depth which is expected to take ``budget`` nodes at most.

    Depths go from ``lowest``, however much that takes, to ``highest``.
    """
    legal = np.arange(1, 4 * 35 * 35)
    nodes = costs.nodes(legal)
    below = []
    for depth in range(lowest + 1, highest + 1):
        fits = np.flatnonzero(nodes[:, depth - 1] <= budget)
        below.append(int(legal[fits[-1]]) + 1 if fits.size else 0)
    return TableDepth(lowest, tuple(int(n) for n in np.minimum.accumulate(np.array(below, np.int64))))


def fit_table(
    costs: DepthCosts,
    lowest: int,
    highest: int,
    wanted: float,
    budget: float,
    spend: Callable[[TableDepth], float],
    rounds: int = 4,
) -> tuple[TableDepth, float]:
    """Return (table, computing that it spends), the nearest to the ``wanted`` computing among those tried.

    Args:
        costs: see `fit_costs`.
        lowest: see `table_within`.
        highest: see `table_within`.
        wanted: computing that the table should spend.
        budget: initial budget of nodes per move.
        spend: returns the computing of a table, in the unit of ``wanted``, from games or estimates.
        rounds: largest number of tables to try; budgets follow the secant through the last two, on a log scale.
    """
    tried: list[tuple[float, float, TableDepth]] = []
    for _ in range(rounds):
        table = table_within(costs, lowest, highest, budget)
        known = [entry for entry in tried if entry[2] == table]
        spent = known[0][1] if known else spend(table)
        tried.append((budget, spent, table))
        slope = 1.0
        if len(tried) > 1 and tried[-2][1] != spent:
            slope = float(np.log(tried[-2][0] / budget) / np.log(tried[-2][1] / spent))
        if abs(np.log(wanted / spent)) < CLOSE:
            break
        budget *= (wanted / spent) ** min(4.0, max(0.5, slope))
    _, spent, table = min(tried, key=lambda entry: abs(float(np.log(wanted / entry[1]))))
    return table, spent


@dataclass(frozen=True)
class TunedTable:
    """A table, and how near its computing came."""

    table: TableDepth
    wanted: float  # Nodes of a game that the player spends which the table is fitted to
    spent: float  # Nodes of a game that the table spends against it, in as many pilot games

    @property
    def options(self) -> str:
        """Options of the player that follows the table."""
        return table_options(self.table)


def table_options(table: TableDepth) -> str:
    """Options of the ``alphabeta`` player that follows a table."""
    return f"depth=table,lowest={table.lowest}" + (f",table={table}" if table.below else "")


def tune_table(
    player: str,
    legal: npt.NDArray[np.int32],
    nodes_by_depth: npt.NDArray[np.int64],
    game: DepthGame,
    pairs: int,
    seed: Sequence[int],
    parallel: Parallel,
    journal: Journal | None,
) -> TunedTable:
    """Return a table that spends about the same nodes as ``player`` in games between the two, found in a few tries.

    Args:
        player: text of the player that is matched.
        legal: int32 [R], legal turns of the training split's positions.
        nodes_by_depth: int64 [R, D], what each depth took there.
        game: the clock, the engine and the depths.
        pairs: pilot pairs of each try.
        seed: of the pilot games.
        parallel: how they run.
        journal: where they are kept.
    """
    costs = fit_costs(legal, nodes_by_depth, game.highest)
    wanted: dict[TableDepth, float] = {}

    def ratio(table: TableDepth) -> float:
        meeting = Meeting(player, game.player(table_options(table)), pairs, seed)
        (match,) = play_meetings([meeting], game, parallel, journal)
        wanted[table] = match.nodes(0)
        return match.nodes(1) / match.nodes(0)

    first = float(nodes_by_depth.max(axis=1).mean())
    table, spent = fit_table(costs, game.lowest, game.highest, 1.0, first, ratio)
    return TunedTable(table, wanted[table], spent * wanted[table])

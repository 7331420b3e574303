"""Stage depth_match: matches of players that choose the search depth against tables, fixed and iterative depth.

Reads the positions ``artifacts/samples/depth/``, which tables are fitted to, and the models
``artifacts/models/depth/<name>/model.pt`` that params name. Writes, under ``artifacts/reports/depth/``, the metrics
``match.json``, ``moves/<player>.csv`` (depth and clock by move number, for plots) and ``match.timings.json``. Killed
and run again, it plays only the missing games: finished ones are kept under ``work/``.

The clock is one of nodes, where ``nodes_per_ms`` is above 0, so that no machine decides a game; else of wall time. A
side is charged for all it does: the search, the search that fills a net's input, the forward pass. Whose clock falls
below 0 has lost on time. Every other game is played to its end, so none is adjudicated and none is drawn.
"""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.arena import runner
from pipeline_src.arena.game import SIDES, Fixture, PlayedGame, TimeControl, random_openings
from pipeline_src.arena.journal import Journal, stage_journal
from pipeline_src.arena.result import Match
from pipeline_src.arena.runner import Board, play_matches, swapped_pair
from pipeline_src.arena.score import Score, clustered_mean
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import Row, write_json, write_table
from pipeline_src.games import amazons
from pipeline_src.games.amazons import COLOUR, EMPTY
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.search.amazons.evaluation import AmazonsEngine
from pipeline_src.systems.search_depth.params import TABLE, DepthGame, DepthMatchParams, DepthSplitParams
from pipeline_src.systems.search_depth.player import DepthMove, DepthPlayer, TableDepth
from pipeline_src.systems.search_depth.positions import open_positions, split_by_game

POSITIONS = Path("artifacts/samples/depth")
MODELS = Path("artifacts/models/depth")
REPORTS = Path("artifacts/reports/depth")
WORK = Path("work/depth_match")
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

    The ``journal`` keeps finished games; the caller sees to it that it is this code's and this engine's.

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
    """Raise a ZugwerkError if the text names no player, or one that does not count its nodes."""
    if not isinstance(runner.player(amazons.NAME, text), DepthPlayer):
        raise ZugwerkError(f"player {text!r} counts no nodes; give it nodes_per_ms, or depth=cnn or depth=table")


def move_rows(matches: Sequence[tuple[DepthMatch, str, str]]) -> dict[str, list[Row]]:
    """By player's name, under which moves count together, a row for each move number: mean depths, clock, nodes."""
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
    columns = [(move.reached, move.asked, move.used, move.nodes + move.choosing) for move in moves]
    means = [float(np.mean(column)) for column in zip(*columns, strict=True)]
    names = "depth", "asked", "used", "nodes"
    return {"move": number, "moves": len(moves), **dict(zip(names, means, strict=True))}


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
    """Costs of the depths 1 to ``highest``, from rows of `DepthPositions`. Raises ZugwerkError: too few of them."""
    logs = np.log(np.maximum(legal.astype(np.float64), 1))
    powers: list[tuple[float, float]] = []
    for depth in range(1, highest + 1):
        done = nodes_by_depth[:, depth - 1] > 0 if depth <= nodes_by_depth.shape[1] else np.zeros(len(legal), np.bool_)
        if done.sum() < LEAST_ROWS:
            if depth <= 2:
                needed = f"{LEAST_ROWS} positions searched {depth} plies deep, there are {int(done.sum())}"
                raise ZugwerkError(f"a depth table needs {needed}; raise depth_label.games")
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
    """The table of the greatest depths, from ``lowest`` to ``highest``, expected to take ``budget`` nodes at most."""
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

    ``spend`` returns the computing of a table, in the unit of ``wanted``, from games or estimates. The first ``budget``
    is of nodes per move; those of further ``rounds`` follow the secant through the last two, on a log scale.
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


class TunedTable(NamedTuple):
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

    ``legal`` [R] and ``nodes_by_depth`` [R, D] are those of the training split; each try has ``pairs`` of pilot games.
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


def main() -> None:
    """Play and write."""
    began = time.perf_counter()
    params, game = load(DepthMatchParams, "depth_match"), load(DepthGame, "depth_game")
    split, engine = load(DepthSplitParams, "depth_split"), load(AmazonsEngine, "amazons_engine")
    seed, parallel = load_value(int, "seed"), load(Parallel, "parallel")
    models = _Models()
    players = {name: player_text(name, options, game, models) for name, options in params.players.items()}
    positions = open_positions(POSITIONS)
    if positions.classes != (game.lowest, game.highest):
        labelled = "labelled with depths {} to {}".format(*positions.classes)
        wanted = f"depth_game has {game.lowest} to {game.highest}"
        raise ZugwerkError(f"{POSITIONS}: {labelled}, {wanted}; `dvc repro depth_label` makes it anew")
    train = split_by_game(positions, split.shares, seed).train
    of_train = positions.expandable[train], positions.nodes_by_depth[train]
    tables: dict[str, TunedTable] = {}
    with stage_journal(WORK, __name__, {"amazons_engine": engine.model_dump()}) as journal:
        for name in dict.fromkeys(pairing.a for pairing in params.matches.values() if pairing.b == TABLE):
            pilots = [seed, streams.DEPTH_MATCH, 0]
            tables[name] = tune_table(players[name], *of_train, game, params.pilot_pairs, pilots, parallel, journal)
        meetings = {
            name: Meeting(
                players[pairing.a],
                game.player(tables[pairing.a].options) if pairing.b == TABLE else players[pairing.b],
                pairing.pairs,
                [seed, streams.DEPTH_MATCH, 1, *name.encode()],
            )
            for name, pairing in params.matches.items()
        }
        matches = dict(zip(meetings, play_meetings(list(meetings.values()), game, parallel, journal), strict=True))
    fitted = {  # thresholds by depth and how near the computing came, by the player that was met
        name: {
            "below": {str(tuned.table.lowest + i + 1): below for i, below in enumerate(tuned.table.below)},
            "wanted": tuned.wanted,
            "spent": tuned.spent,
        }
        for name, tuned in tables.items()
    }
    write_json(REPORTS / "match.json", {**{name: summary(one) for name, one in matches.items()}, "tables": fitted})
    named = [
        (matches[name], pairing.a, f"table_{pairing.a}" if pairing.b == TABLE else pairing.b)
        for name, pairing in params.matches.items()
    ]
    shutil.rmtree(REPORTS / "moves", ignore_errors=True)
    for name, rows in move_rows(named).items():
        write_table(REPORTS / "moves" / f"{name}.csv", rows)
    games = sum(len(match.games) for match in matches.values())
    write_json(REPORTS / "match.timings.json", {"seconds": time.perf_counter() - began, "games": games})
    shutil.rmtree(WORK)


class _Models(dict[str, Path]):
    """Files by the name of a model."""

    def __missing__(self, name: str) -> Path:
        path = MODELS / name / "model.pt"
        if not path.is_file():
            raise ZugwerkError(f"{path}: no such model; `dvc repro depth_train` makes those of depth_train.models")
        self[name] = path
        return path


def player_text(name: str, options: str, game: DepthGame, models: dict[str, Path]) -> str:
    """A player's whole text, checked before any game is played. Raises ZugwerkError: names the player."""
    try:
        text = game.player(options.format_map(models))
        check_player(text)
    except ZugwerkError as error:
        raise ZugwerkError(f"depth_match.players.{name}: {error}") from None
    except (ValueError, IndexError, AttributeError):
        raise ZugwerkError(f"depth_match.players.{name}: cannot read {options!r}; a model is {{NAME}}") from None
    return text


def summary(match: DepthMatch) -> dict[str, Any]:
    """Metrics of a match, seen from its first player. No game is drawn, so its win rate is its unbeaten rate."""
    return {
        "score": match.score.as_metrics(),
        "mean_margin": match.margin.as_metrics(),
        "time_outs": match.forfeits(0)["time"],
        "time_outs_opponent": match.forfeits(1)["time"],
        "nodes_a_game": match.nodes(0),
        "nodes_a_game_opponent": match.nodes(1),
        "choosing": match.choosing(0),
        "mean_depth": match.mean_depth(0),
        "mean_depth_opponent": match.mean_depth(1),
    }

"""Stage depth_label: label positions of the engine's games against itself with the reached and the needed depth.

Writes the positions ``artifacts/samples/depth/`` (`systems.search_depth.positions`), the counts
``artifacts/reports/depth/label.json`` and the times ``label.timings.json``. Killed and run again, it plays
only the missing games: finished ones are kept under ``work/``.

``reached``, the published label, is the number of plies that iterative deepening completed in the move's share of the
clock. ``needed`` is the smallest depth with a turn that a deeper search rates as good as the played one.
"""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.arena.game import Fixture, GameClock, OpenGame, TimeControl, play, random_openings
from pipeline_src.arena.journal import each_kept, pack, stage_journal, unpack
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json
from pipeline_src.games import amazons
from pipeline_src.games.amazons import AmazonsState
from pipeline_src.games.kernels import outcome
from pipeline_src.learning.arrays import DiskRows
from pipeline_src.parallel import Parallel
from pipeline_src.players.amazons import make_evaluator
from pipeline_src.players.player import Player, PlayerText, Position, Thought, read_options
from pipeline_src.project.params import load, load_value
from pipeline_src.search.alphabeta import DECIDED
from pipeline_src.search.amazons.endgame import closing_turn
from pipeline_src.search.amazons.evaluation import AmazonsEngine
from pipeline_src.search.evaluator import WIN
from pipeline_src.search.limits import Limit, Searcher, SearchResult
from pipeline_src.systems.search_depth.params import DepthGame, DepthLabelParams
from pipeline_src.systems.search_depth.player import DepthOptions, SquareSearch, depth_player
from pipeline_src.systems.search_depth.positions import FIELDS, write_positions

OUT = Path("artifacts/samples/depth")
REPORT = Path("artifacts/reports/depth/label.json")
WORK = Path("work/depth_label")
LEFT_OUT = ("closed", "single", "decided")
DEPTHS = 16  # Number of depths for which nodes are kept. No undecided position was seen to be searched deeper.
SHAPES = ((), (DEPTHS,), (10, 10))  # Shapes of one row, by the axes of a field

Arrays = dict[str, npt.NDArray[Any]]

Row = dict[str, Any]


@dataclass
class Labelled:
    """Positions with labels, and how many were left out because there was nothing to choose."""

    rows: list[Row] = field(default_factory=list)  # By the names of `FIELDS`; labels as found, outside the classes too
    closed: int = 0  # Number of positions in which counting gives the turn
    single: int = 0  # Number of positions with one legal turn
    decided: int = 0  # Number of positions that the search decided


def label_games(
    game: DepthGame, params: DepthLabelParams, games: Sequence[tuple[int, Sequence[int]]], seed: Sequence[int]
) -> list[Labelled]:
    """Play and label games (number, opening), each by ``seed``, number and opening alone, on a clock of nodes."""
    labeller, start, found = _Labeller(game, params), amazons.initial_state(), list[Labelled]()
    for labeller.number, opening in games:
        labeller.found = Labelled()
        fixture = Fixture("", "", tuple(opening), (*seed, labeller.number))
        one = OpenGame(amazons, start, fixture, (labeller, labeller))
        one.clock = _LabelClock(TimeControl(game.clock_ms, nodes_per_ms=game.nodes_per_ms))
        one.clock.left_ms = [game.clock_ms * (1 - params.spent * float(one.rng.random())) for _ in range(2)]
        play([one])
        found.append(labeller.found)
    return found


class _LabelClock(GameClock):
    """Charges the search alone, and no more than there is: out of time, a side continues one ply deep."""

    def cost(self, thought: Thought, used_ms: float) -> float:  # noqa: ARG002
        seconds = 0.0 if thought.found is None else thought.found.seconds
        return thought.nodes if self.control.nodes_per_ms else 1e3 * seconds

    def spend(self, side: int, cost: float) -> str:
        super().spend(side, cost)
        if self.left_ms is not None:
            self.left_ms[side] = max(0.0, self.left_ms[side])
        return ""


class _Labeller(Player):
    """A player by iterative deepening that records the results of its searches."""

    def __init__(self, game: DepthGame, params: DepthLabelParams) -> None:
        self.game, self.params, self.number, self.found = game, params, 0, Labelled()
        self.player = depth_player(read_options(DepthOptions, PlayerText.parse(game.player())))
        self.squares = SquareSearch(make_evaluator(), game.simulations, game.plies)

    def consider(self, positions: Sequence[Position]) -> list[Thought]:
        """See `Player.consider`."""
        return [self._label(position) for position in positions]

    def _label(self, position: Position) -> Thought:
        state, game, found, searcher = position.state, self.game, self.found, self.player.searcher
        turns, filling = amazons.legal_actions(state), closing_turn(state)
        if filling is not None or turns.size == 1:
            found.closed, found.single = found.closed + (filling is not None), found.single + (filling is None)
            return Thought(int(turns[0]) if filling is None else filling.action)
        assert position.clock is not None
        clock, ply, steps = position.clock, len(position.actions), list[SearchResult]()
        result = searcher.search(state, self.player.limit_of(clock, ply, turns.size, None), on_info=steps.append)
        seed = int(position.rng.integers(1 << 62))
        if abs(result.value) > DECIDED:
            found.decided += 1
        else:
            layers, _ = self.squares.search(state, seed)
            found.rows.append(
                {
                    "n": layers,
                    "used": 1 - clock.own_ms / game.clock_ms,
                    "reached": result.depth,
                    "needed": needed_depth(searcher, state, steps, game.lowest, game.highest, self.params),
                    "board": state.board,
                    "to_play": amazons.to_play(state),
                    "expandable": turns.size,
                    "ply": ply,
                    "game": self.number,
                    "nodes": result.nodes,
                    "nodes_by_depth": nodes_by_depth(steps),
                }
            )
        return Thought(result.action, result, result.nodes)


def nodes_by_depth(steps: Sequence[SearchResult]) -> npt.NDArray[np.int64]:
    """int64 [DEPTHS]: nodes when each depth from 1 was complete, 0 where it was not reached."""
    found = np.zeros(DEPTHS, np.int64)
    for step in steps:
        if step.depth <= DEPTHS and found[step.depth - 1] == 0:
            found[step.depth - 1] = step.nodes
    return found


def needed_depth(
    searcher: Searcher,
    state: AmazonsState,
    steps: Sequence[SearchResult],
    lowest: int,
    highest: int,
    params: DepthLabelParams,
) -> int:
    """Return the smallest depth with a turn as good as the last one's, by a search ``judge_depth`` plies deeper.

    ``steps`` are the reports of the search, the last of them its answer. Depths go from ``lowest`` to ``highest``.
    """
    last = steps[-1]
    depths = {step.depth: step.action for step in reversed(steps)}  # the first report of each depth
    worth: dict[int, float] = {}

    def value(action: int) -> float:
        if action not in worth:
            after = amazons.play(state, action)
            deeper = Limit(depth=max(1, last.depth - 1 + params.judge_depth))
            worth[action] = WIN if outcome(after)[0] else -searcher.search(after, deeper).value
        return worth[action]

    for depth in range(lowest, min(last.depth, highest + 1)):
        action = depths.get(depth, last.action)
        if action == last.action or value(action) >= value(last.action) - params.tolerance:
            return depth
    return max(lowest, min(last.depth, highest))


def main() -> None:
    """Play, label and write. Raises ZugwerkError: bad params."""
    began = time.perf_counter()
    params, game = load(DepthLabelParams, "depth_label"), load(DepthGame, "depth_game")
    seed, parallel, engine = load_value(int, "seed"), load(Parallel, "parallel"), load(AmazonsEngine, "amazons_engine")
    drawn, start = [seed, streams.DEPTH_LABEL, 0], amazons.initial_state(10)
    openings = random_openings(amazons, start, params.games, game.opening_plies, drawn)
    sections = {"depth_label": params, "depth_game": game, "amazons_engine": engine}
    identity = {name: section.model_dump() for name, section in sections.items()} | {"seed": seed}
    labeller = partial(label_some, game, params, [seed, streams.DEPTH_LABEL, 1])
    tasks = {str(number): (number, opening) for number, opening in enumerate(openings)}
    with stage_journal(WORK, __name__, identity) as journal:
        played = len(tasks.keys() - journal.entries.keys())
        rows = {name: DiskRows(WORK, dtype, SHAPES[ndim]) for name, (dtype, ndim) in FIELDS.items()}
        left_out = dict.fromkeys(LEFT_OUT, 0)
        for part in map(unpack, each_kept(labeller, tasks, parallel, "search depths", journal)):
            for name, found in rows.items():
                found.append(part[name])
            for name in LEFT_OUT:
                left_out[name] += int(part[name].sum())
    arrays = {name: found.array() for name, found in rows.items()}
    if not len(arrays["n"]):
        raise ZugwerkError("depth_label: no position in which there was a depth to choose; raise depth_label.games")
    counts = describe(arrays, left_out, game)
    for label in ("reached", "needed"):
        arrays[label] = arrays[label].clip(game.lowest, game.highest)
    about = {"lowest", "highest", "simulations", "plies", "clock_ms", "nodes_per_ms"}
    write_positions(OUT, arrays, game.model_dump(include=about))
    write_json(REPORT, counts)
    seconds = time.perf_counter() - began
    write_json(REPORT.with_name("label.timings.json"), {"seconds": seconds, "games_played": played})
    shutil.rmtree(WORK)


def label_some(
    game: DepthGame, params: DepthLabelParams, seed: list[int], tasks: list[tuple[int, tuple[int, ...]]]
) -> list[str]:
    """Play and label games (number, opening): of each, packed, the arrays of `FIELDS` and counts of omissions."""
    return [pack(_arrays(one)) for one in label_games(game, params, tasks, seed)]


def _arrays(found: Labelled) -> Arrays:
    arrays: Arrays = {name: np.array([getattr(found, name)]) for name in LEFT_OUT}
    for name, (dtype, ndim) in FIELDS.items():
        empty = np.empty((0, *SHAPES[ndim]), dtype)
        arrays[name] = np.array([row[name] for row in found.rows], dtype) if found.rows else empty
    return arrays


def describe(arrays: Arrays, left_out: dict[str, int], game: DepthGame) -> dict[str, Any]:
    """Counts of the labels as they were found, before they are clipped into the classes."""
    reached, needed = arrays["reached"], arrays["needed"]
    depths, counts = np.unique(reached, return_counts=True)
    return {
        "positions": len(reached),
        "games": len(np.unique(arrays["game"])),
        "left_out": left_out,
        "reached": {str(depth): int(count) for depth, count in zip(depths, counts, strict=True)},
        "needed": {str(depth): int((needed == depth).sum()) for depth in range(game.lowest, game.highest + 1)},
        "clipped_up": int((reached < game.lowest).sum()),
        "clipped_down": int((reached > game.highest).sum()),
        "needed_below_reached": float((needed < reached).mean()),
        "nodes_a_position": float(arrays["nodes"].mean()),
        "positions_a_game": len(reached) / len(np.unique(arrays["game"])),
    }

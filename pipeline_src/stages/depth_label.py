"""Stage depth_label: label positions of the engine's games against itself with the reached and the needed depth.

Writes the positions ``artifacts/samples/depth/`` (`systems.search_depth.positions`), the counts
``artifacts/reports/depth/label.json`` and the times ``label.timings.json``. Killed and run again, it plays
only the missing games: finished ones are kept under ``work/``.
"""

import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.arena.journal import each_kept, pack, stage_journal, unpack
from pipeline_src.arena.openings import random_openings
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.games import amazons
from pipeline_src.learning.arrays import DiskRows
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.search.amazons.evaluation import AmazonsEngine
from pipeline_src.systems.search_depth.labels import DEPTHS, Labelled, label_games
from pipeline_src.systems.search_depth.params import DepthGame, DepthLabelParams
from pipeline_src.systems.search_depth.positions import FIELDS, write_positions

OUT = Path("artifacts/samples/depth")
REPORT = Path("artifacts/reports/depth/label.json")
WORK = Path("work/depth_label")
LEFT_OUT = ("closed", "single", "decided")
SHAPES = ((), (DEPTHS,), (10, 10))  # Shapes of one row, by the axes of a field

Arrays = dict[str, npt.NDArray[Any]]


def main() -> None:
    """Play, label and write.

    Raises:
        ZugwerkError: bad params.
    """
    began = time.perf_counter()
    params, game = load(DepthLabelParams, "depth_label"), load(DepthGame, "depth_game")
    seed, parallel, engine = load_value(int, "seed"), load(Parallel, "parallel"), load(AmazonsEngine, "amazons_engine")
    openings = random_openings(
        amazons, amazons.initial_state(10), params.games, game.opening_plies, [seed, streams.DEPTH_LABEL, 0]
    )
    identity = {
        "depth_label": params.model_dump(),
        "depth_game": game.model_dump(),
        "amazons_engine": engine.model_dump(),
        "seed": seed,
    }
    labeller = partial(label_some, game, params, [seed, streams.DEPTH_LABEL, 1])
    tasks = {str(number): (number, opening) for number, opening in enumerate(openings)}
    with stage_journal(WORK, "pipeline_src.stages.depth_label", identity) as journal:
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
    about = {"lowest": game.lowest, "highest": game.highest, "simulations": game.simulations, "plies": game.plies}
    write_positions(OUT, arrays, {**about, "clock_ms": game.clock_ms, "nodes_per_ms": game.nodes_per_ms})
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


if __name__ == "__main__":
    run_main(main)

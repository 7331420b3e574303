"""Search depth in the report: the published net's input in a position, and the depths that the nets choose there."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipeline_src.learning.arrays import TEST, assign_games
from pipeline_src.project.params import load, load_value
from pipeline_src.report.examples import SIDES, Draw, Example, Panel, heat_map, ranks, square_names
from pipeline_src.systems.search_depth.declaration import DepthShown
from pipeline_src.systems.search_depth.net import load_depth_model
from pipeline_src.systems.search_depth.params import DepthSplitParams
from pipeline_src.systems.search_depth.positions import open_positions

SAMPLES = Path("artifacts/samples/depth")
MODELS = Path("artifacts/models/depth")


def boards(shown: DepthShown) -> Callable[[Draw], list[Example]]:
    """Read the params; see `project.systems.Boards`."""
    shares, seed = load(DepthSplitParams, "depth_split").shares, load_value(int, "seed")
    return lambda rng: [depth_example(shown, shares, seed, rng("depth"))]


def depth_example(
    shown: DepthShown, shares: tuple[float, float, float], seed: int, rng: np.random.Generator
) -> Example:
    """Return a position of a test game drawn by ``rng``. Raises ZugwerkError: the data set or a model is missing."""
    p = open_positions(SAMPLES)
    models = {
        name: load_depth_model(MODELS / name / "model.pt", classes=p.classes) for name in (shown.published, shown.ours)
    }
    games = np.unique(p.game).astype(np.int64)
    rows = np.flatnonzero(p.game == rng.choice(games[assign_games(games, shares, seed) == TEST]))
    row = rows[np.abs(p.ply[rows] - shown.ply).argmin() :][:1]  # [1]
    chosen = {name: int(one.choose_all(p.planes(one.inputs, row), p.used[row])[0]) for name, one in models.items()}
    weighed = p.n[row[0]] * (1 - p.used[row[0]])  # the paper's W_t * n
    most, names = float(weighed.max()), square_names("amazons", weighed.shape[0])
    side = SIDES["amazons"][int(p.to_play[row[0]])]
    return Example(
        system="depth",
        name=f"depth-ply-{p.ply[row[0]]}",
        title=f"How deep to search after {p.ply[row[0]]} turns, {side} to move",
        caption=f"The published net's input: on each square n, the number of layers at which a small tree search "
        f"passed through it, times the share of the clock left, {100 * (1 - p.used[row[0]]):.0f} %. The published net "
        f"(model {shown.published}) chose {chosen[shown.published]} plies; our net (model {shown.ours}), which also "
        f"sees the pieces, {chosen[shown.ours]}. Iterative deepening reached {p.reached[row[0]]} plies; "
        f"{p.needed[row[0]]} were enough.",
        game="amazons",
        panels=(
            Panel(
                label="n times the share of the clock left",
                board=ranks("amazons", np.asarray(p.board[row[0]])),
                to_play=side,
                heat=heat_map(names, weighed.ravel().astype(np.float64) / (most or 1.0)),
                texts={name: f"{v:.1f}" for name, v in zip(names, weighed.ravel(), strict=True) if v >= 0.05},
            ),
        ),
    )

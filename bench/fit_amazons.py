"""Learn the weights of the Amazons evaluation from searches and results of the engine's own games.

    python -m bench.fit_amazons games work/amazons_fit/first --count 280 --weights hand
    python -m bench.fit_amazons games work/amazons_fit/second --count 700 --seed 2
    python -m bench.fit_amazons fit work/amazons_fit/* --out work/amazons_fit/weights.yaml

The first command plays games and writes a file for each twenty of them; killed, it goes on with those that are missing.
Some moves are noisy ones, and some positions beside the game are searched too. The last command trains a table of
weights by openness with Lightning on what the searches said and on who won, says how well it foresees both in games
that it has not seen, and writes it as section ``amazons_engine`` of params.yaml. The numbers of
`search.amazons.weights` are such tables.
"""

import argparse
import logging
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import yaml
from lightning.pytorch import LightningModule, Trainer
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, smooth_l1_loss, softplus
from torch.utils.data import DataLoader

from bench.tune_amazons import read_set
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import written_aside
from pipeline_src.games import amazons
from pipeline_src.games.amazons.board import AmazonsState
from pipeline_src.players.amazons.alphabeta import STANDARD
from pipeline_src.players.amazons.basic import one_ply_values
from pipeline_src.search.alphabeta.nodes import DECIDED
from pipeline_src.search.alphabeta.searcher import AlphaBeta
from pipeline_src.search.amazons.evaluation import PARITY, AmazonsEvaluator, make_evaluator
from pipeline_src.search.amazons.params import AmazonsEngine
from pipeline_src.search.amazons.terms import terms
from pipeline_src.search.amazons.weights import Phase
from pipeline_src.search.limits import Limit, SearchResult

GAMES, ORDER = 40, 41
"""Random streams, with numbers that `pipeline_src.streams` does not use; its stages do not run this."""
SHARD = 20
"""Games of a file."""
RANDOM_PLIES = 8
"""Fewer plies than so many are played at random first."""
BESIDE, NOISY = 0.15, 0.15
"""Shares of positions of which a noisy move is searched beside the game, or played in it."""
BESIDE_NOISE, NOISE = 4.0, 1.5
"""Of a move's one-ply value, in squares, as standard deviations."""
MOST = 500.0
"""Bound of a search's values as labels: beyond are wins and losses."""
COLUMNS = ("t1", "t2", "c1", "c2", "w", "m", "e", "value", "result", "game")
"""Of a row: the terms; the mean of the search's values at its last two depths, which see being to move from both sides;
1 or -1 for who won, 0 beside the game; the game's number."""
WEIGHED = ("t1", "t2", "c1", "c2", "e")
"""Terms with weights that are learned, beside that of being to move."""
KNOTS = (6.0, 12.0, 20.0, 32.0, 46.0, 60.0)
UNSEEN = 5
"""Every so many-th game is kept for measuring."""
BATCH, EPOCHS, RATE = 256, 40, 0.02
FAR = 6.0
"""Squares at which a value weighs half as much as one near 0."""
RESULTS = 0.5
"""Weight of the results' loss."""
Floats = npt.NDArray[np.float64]


def rows_of_game(number: int, seed: int, nodes: int, evaluator: AmazonsEvaluator) -> Floats:
    """Play a game and return its rows, float64 [N, len(COLUMNS)]; every fourth is on 8x8."""
    rng, engine = np.random.default_rng([seed, GAMES, number]), AlphaBeta(evaluator, _SMALL)
    state, random_plies = amazons.initial_state(10 if number % 4 else 8), int(rng.integers(RANDOM_PLIES))
    rows = list[list[float]]()
    while amazons.winner(state) is None:
        if state.turn[2] < random_plies:
            state = amazons.play(state, int(rng.choice(amazons.legal_actions(state))))
            continue
        found, value = _look(engine, state, nodes)
        side = int(state.turn[0])
        if abs(found.value) > DECIDED:
            winner = side if found.value > 0 else 1 - side
            break
        if value is not None:
            rows.append([*terms(state, evaluator.tempo[0]), value, side, number])
        dice, action = rng.random(), found.action
        if dice < BESIDE:
            child = amazons.play(state, _noisy(state, evaluator, rng, BESIDE_NOISE))
            if amazons.winner(child) is None:
                value = _look(engine, child, nodes)[1]
                if value is not None:
                    rows.append([*terms(child, evaluator.tempo[0]), value, np.nan, number])
        elif dice < BESIDE + NOISY:
            action = _noisy(state, evaluator, rng, NOISE)
        state = amazons.play(state, action)
    else:
        winner = 0 if amazons.winner(state) == "first" else 1
    table = np.array(rows).reshape(-1, len(COLUMNS))
    sides = table[:, COLUMNS.index("result")]
    table[:, COLUMNS.index("result")] = np.where(np.isnan(sides), 0, np.where(sides == winner, 1, -1))
    return table


_SMALL = replace(STANDARD, table_mb=4.0)


def _look(engine: AlphaBeta, state: AmazonsState, nodes: int) -> tuple[SearchResult, float | None]:
    """A search, and the mean of its last two values; None without two depths, or if one of them is no evaluation."""
    values = dict[int, float]()
    found = engine.search(state, Limit(nodes=nodes), on_info=lambda info: values.setdefault(info.depth, info.value))
    last = [values[depth] for depth in sorted(values)[-2:]]
    return found, sum(last) / 2 if len(last) == 2 and max(map(abs, (*last, found.value))) <= MOST else None


def _noisy(state: AmazonsState, evaluator: AmazonsEvaluator, rng: np.random.Generator, noise: float) -> int:
    actions, values = one_ply_values(state, evaluator)
    return int(actions[np.argmax(values + rng.normal(0, noise, len(values)))])


def play_games(folder: Path, count: int, seed: int, nodes: int, engine: AmazonsEngine) -> None:
    """Write the files that are missing in ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    evaluator = make_evaluator(engine)
    for shard in range(-(-count // SHARD)):
        path = folder / f"{shard:04}.npy"
        if not path.exists():
            games = range(shard * SHARD, min((shard + 1) * SHARD, count))
            rows = np.concatenate([rows_of_game(game, seed, nodes, evaluator) for game in games])
            with written_aside(path) as aside, aside.open("wb") as file:
                np.save(file, rows, allow_pickle=False)
            print(f"{path}: {len(rows)} positions", flush=True)


def read_rows(folders: list[Path]) -> Floats:
    """The rows of all files, float64 [N, len(COLUMNS)]; the games of each folder get numbers of their own.

    Raises:
        ZugwerkError: no files, or one that does not hold such rows.
    """
    found, first = list[Floats](), 0
    for folder in folders:
        rows = []
        for path in sorted(folder.glob("*.npy")):
            try:
                rows.append(np.load(path, allow_pickle=False))
            except ValueError as error:
                raise ZugwerkError(f"{path} cannot be read: {error}; remove it and play its games again") from error
            if rows[-1].ndim != 2 or rows[-1].shape[1] != len(COLUMNS) or not np.isfinite(rows[-1]).all():
                raise ZugwerkError(f"{path} does not hold rows of {len(COLUMNS)} numbers; remove it and play again")
        if not rows:
            raise ZugwerkError(f"{folder} holds no games; make some with python -m bench.fit_amazons games {folder}")
        found.append(np.concatenate(rows))
        found[-1][:, -1] += first
        first = int(found[-1][:, -1].max()) + UNSEEN
    return np.concatenate(found)


class WeightTable(LightningModule):
    """The evaluation as `search.amazons.evaluation` computes it, with the weights above w = 0 as parameters."""

    def __init__(self, knots: tuple[float, ...], scales: Floats) -> None:
        """``scales`` are the typical sizes of `WEIGHED` and 1, [6]: they make the weights alike in size."""
        super().__init__()
        self.register_buffer("knots", torch.tensor([0.0, *knots]))
        self.register_buffer("scales", torch.tensor(scales, dtype=torch.float32))
        self.weights = nn.Parameter(torch.zeros(len(knots), len(scales)))
        """[K, 6]"""
        self.spread = nn.Parameter(torch.tensor([1.0, 0.02]))
        """Squares that are a factor of e in the odds: softplus of a line in w."""

    def forward(self, rows: Tensor) -> Tensor:
        """Values in squares, [B], of rows [B, len(COLUMNS)]."""
        w, knots = rows[:, COLUMNS.index("w"), None], self.knots
        below = ((w - knots[:-1]) / (knots[1:] - knots[:-1])).clamp(0, 1)  # [B, K]
        shares = below - torch.nn.functional.pad(below[:, 1:], (0, 1))
        features = torch.cat([rows[:, [COLUMNS.index(name) for name in WEIGHED]], torch.ones_like(w)], 1)
        closed = rows[:, 0] - PARITY
        return (1 - below[:, 0]) * closed + (shares * ((features / self.scales) @ self.weights.T)).sum(1)

    def training_step(self, batch: Tensor, batch_idx: int) -> Tensor:  # noqa: ARG002 - Lightning's signature
        """Loss of a batch of rows: near values count more than far ones, and so do results that were in doubt."""
        values, label, result = self(batch), batch[:, COLUMNS.index("value")], batch[:, COLUMNS.index("result")]
        loss = smooth_l1_loss(values, label, beta=2.0, reduction="none") / (1 + label.abs() / FAR)
        odds = values / softplus(self.spread[0] + self.spread[1] * batch[:, COLUMNS.index("w")])
        won = binary_cross_entropy_with_logits(odds, (result + 1) / 2, reduction="none") * result.abs()
        return (loss + RESULTS * won).mean()

    def configure_optimizers(self) -> Any:
        """Adam, its rate falling along a cosine."""
        optimizer = torch.optim.Adam(self.parameters(), lr=RATE)
        steps = int(self.trainer.estimated_stepping_batches)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def phases(self) -> tuple[Phase, ...]:
        """The weights with two digits, as params have them."""
        weights = (self.weights.detach() / self.scales).tolist()
        learned = [
            Phase(w=w, **{name: round(x, 2) + 0.0 for name, x in zip((*WEIGHED, "one"), row, strict=True)})
            for w, row in zip(self.knots.tolist()[1:], weights, strict=True)
        ]
        return (Phase(w=0.0, t1=1.0), *learned)


def train(rows: Floats, seed: int, knots: tuple[float, ...] = KNOTS, epochs: int = EPOCHS) -> WeightTable:
    """The table trained on the rows, which are shuffled by ``seed``; the same again for the same rows."""
    features = rows[:, [COLUMNS.index(name) for name in WEIGHED]]
    table = WeightTable(knots, np.append(np.sqrt((features**2).mean(0)) + 1e-6, 1.0))
    data = torch.tensor(rows, dtype=torch.float32)
    order = torch.Generator().manual_seed(int(np.random.default_rng([seed, ORDER]).integers(2**62)))
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    trainer = Trainer(
        accelerator="cpu",
        max_epochs=epochs,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r".*LeafSpec.*is deprecated", category=FutureWarning)
        warnings.filterwarnings("ignore", message=r".*does not have many workers")
        trainer.fit(table, DataLoader(data, BATCH, shuffle=True, generator=order, collate_fn=torch.stack))  # type: ignore[arg-type]
    return table


def foreseen(rows: Floats, engine: AmazonsEngine) -> Floats:
    """What an evaluation says of rows, float64 [N]."""
    table = engine.table()
    table[0, 7] = -PARITY
    w = rows[:, COLUMNS.index("w")]
    names = ("t1", "t2", "c1", "c2", "m", "e")
    value = sum(np.interp(w, table[:, 0], table[:, 1 + i]) * rows[:, COLUMNS.index(n)] for i, n in enumerate(names))
    return np.asarray(value + np.interp(w, table[:, 0], table[:, 7]))


def line_of(name: str, rows: Floats, values: Floats) -> str:
    """How well values foresee the searches and results of rows."""
    error = values - rows[:, COLUMNS.index("value")]
    result = rows[:, COLUMNS.index("result")]
    right = (np.sign(values) == result)[result != 0].mean()
    return (
        f"{name}: error, as a root mean square, {np.sqrt(np.mean(error**2)):.2f} squares; winner right {right:.3f}; "
        f"{len(rows)} positions"
    )


def fit(folders: list[Path], out: Path, seed: int) -> None:
    """Train, measure on unseen games, and write the table."""
    rows = read_rows(folders)
    unseen = rows[:, COLUMNS.index("game")] % UNSEEN == 0
    engine = AmazonsEngine(phases=train(rows[~unseen], seed).phases())
    for name, other in (("hand", AmazonsEngine(weights="hand")), ("learned", AmazonsEngine()), ("new", engine)):
        print(line_of(name, rows[unseen], foreseen(rows[unseen], other)))
    section = {"amazons_engine": {"phases": [phase.model_dump(exclude_defaults=True) for phase in engine.phases]}}
    with written_aside(out) as aside:
        aside.write_text(yaml.safe_dump(section, sort_keys=False, default_flow_style=None, width=120))
    print(f"written: {out}")


def main() -> None:
    """See the module's head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    commands = parser.add_subparsers(dest="command", required=True)
    games = commands.add_parser("games")
    games.add_argument("folder", type=Path)
    games.add_argument("--count", type=int, default=700)
    games.add_argument("--nodes", type=int, default=100_000, help="of each search")
    games.add_argument("--weights", default="default", help="as bench.tune_amazons names them: hand, or what fit wrote")
    fitting = commands.add_parser("fit")
    fitting.add_argument("folders", type=Path, nargs="+")
    fitting.add_argument("--out", type=Path, default=Path("work/amazons_fit/weights.yaml"))
    given = parser.parse_args()
    if given.command == "games":
        play_games(given.folder, given.count, given.seed, given.nodes, read_set(given.weights))
    else:
        torch.set_num_threads(1)
        fit(given.folders, given.out, given.seed)


if __name__ == "__main__":
    run_main(main)

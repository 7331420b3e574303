"""Stage amazons_evaluate: accuracy, Brier score and losses of one model on the test split.

Reads ``artifacts/samples/amazons/`` and ``artifacts/models/amazons/<model>/nets.pt``; writes, under
``artifacts/reports/amazons/evaluate/``, the metrics ``<model>.json`` and the tables ``<model>.phases.csv`` and
``<model>.calibration.csv``.

Rates: ``from_to_top1``, ``from_to_top5`` (the amazon's move), ``arrow_top1``, ``arrow_top5`` (the arrow, given the
played move), ``turn_top1`` (the whole turn, as the player plays: best move, then best arrow), ``turn_top5`` (by joint
probability among the five best moves with all their arrows; the player's own turn need not be among those five), and
``legal_rate`` (the net's own turn is legal by the rules, which know nothing of the mask that made it so).

Win rates: ``value`` by Arrow-Net, which sees the played move, and ``value_before`` by Move-Net.

Errors: ``move_l2`` (from and to) and ``arrow_l2``, Euclidean distances of the likeliest squares from the played ones;
``move_loss`` and ``arrow_loss``, the published loss L1^2 + L2^2 with those distances (patent CN 111330255 B).

Example: ``python -m pipeline_src.stage systems.amazons_net.evaluate --model residual``
"""

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from tqdm import tqdm

from pipeline_src.files import write_json
from pipeline_src.games.amazons import is_legal
from pipeline_src.project.params import load, load_value
from pipeline_src.systems.amazons_net.answers import ArrowAnswer, Forward, MoveAnswer, Squares, after_move
from pipeline_src.systems.amazons_net.forward import forward_of
from pipeline_src.systems.amazons_net.nets import load_nets
from pipeline_src.systems.amazons_net.params import AmazonsEvaluateParams
from pipeline_src.systems.amazons_net.recorded import (
    Floats,
    Predictions,
    RecordedTurns,
    counted,
    join_predictions,
    recorded_turns,
    top_hits,
    write_agreement,
)
from pipeline_src.systems.amazons_net.samples import open_dataset

SAMPLES = Path("artifacts/samples/amazons")
MODELS = Path("artifacts/models/amazons")
OUT = Path("artifacts/reports/amazons/evaluate")
BEAM = 5  # Number of moves for which `turn_top5` examines the arrows
CHUNK = 1_024  # Number of turns at a time, which bounds the memory


def predict_nets(nets: Forward, turns: RecordedTurns) -> Predictions:
    """Return the predictions of the nets for all turns, with a progress bar in a terminal.

    Raises:
        ZugwerkError: a played turn is not legal in its position, or the nets were made for other boards.
    """
    with tqdm(total=len(turns), desc="nets", unit=" turns", disable=None) as bar:
        parts = []
        for some in turns.chunks(CHUNK):
            parts.append(_predict(nets, some))
            bar.update(len(some))
    return join_predictions(parts)


def _predict(nets: Forward, turns: RecordedTurns) -> Predictions:
    every = np.arange(len(turns))
    before = nets.move(turns.boards, turns.movers)
    n, moves = before.log_p.shape[2], before.log_p.reshape(len(turns), -1)
    played_move = _entry(before, turns, n)
    log_move = moves[every, played_move]
    after = _arrows(nets, turns, every, turns.start, turns.to)
    log_arrow = after.log_p[every, turns.arrow]
    _check_legal(turns, log_arrow)

    beam = np.argsort(-moves, axis=1, kind="stable")[:, :BEAM]  # [T, 5]
    log_beam = np.take_along_axis(moves, beam, axis=1)
    is_played = beam == played_move[:, None]
    in_beam = is_played.any(axis=1)
    log_turn = log_move + log_arrow
    # A move less likely than the whole played turn has no arrow that could make a likelier turn.
    needed = in_beam[:, None] & (log_beam >= log_turn[:, None])
    needed[:, 0] = True  # the player's own
    turn, place = np.nonzero(needed & ~is_played)
    start, to = before.amazons[turn, beam[turn, place] // n], (beam[turn, place] % n).astype(np.int16)
    others = _arrows(nets, turns, turn, start, to)

    better, equal = _compare(after.log_p, log_arrow)
    turn_better, turn_equal = better.copy(), equal.copy()
    more, ties = _compare(log_beam[turn, place][:, None] + others.log_p, log_turn[turn])
    np.add.at(turn_better, turn, more)
    np.add.at(turn_equal, turn, ties)

    own_arrow = after.log_p.argmax(axis=1)
    first = place == 0
    own_arrow[turn[first]] = others.log_p[first].argmax(axis=1)
    own_start, own_to = before.amazons[every, beam[:, 0] // n], beam[:, 0] % n
    own = (own_start.astype(np.int64) * n + own_to) * n + own_arrow

    move_better, move_equal = _compare(moves, log_move)
    move_top1, arrow_top1 = top_hits(move_better, move_equal, 1), top_hits(better, equal, 1)
    width = turns.boards.shape[2]
    move_l2 = _distance(own_start, turns.start, width) + _distance(own_to, turns.to, width)
    arrow_l2 = _distance(after.log_p.argmax(axis=1), turns.arrow, width)
    value, value_before = after.win_rate.astype(np.float64), before.win_rate.astype(np.float64)
    return Predictions(
        rates={
            "from_to_top1": move_top1,
            "from_to_top5": top_hits(move_better, move_equal, 5),
            "arrow_top1": arrow_top1,
            "arrow_top5": top_hits(better, equal, 5),
            "turn_top1": move_top1 * arrow_top1,
            "turn_top5": in_beam * top_hits(turn_better, turn_equal, 5),
            "legal_rate": np.array([is_legal(s, int(a)) for s, a in zip(turns.states(), own, strict=True)], np.float64),
        },
        win_rates={"value": value, "value_before": value_before},
        errors={
            "move_l2": move_l2,
            "arrow_l2": arrow_l2,
            "move_loss": (turns.results - value_before) ** 2 + move_l2**2,
            "arrow_loss": (turns.results - value) ** 2 + arrow_l2**2,
        },
    )


def _entry(before: MoveAnswer, turns: RecordedTurns, n: int) -> npt.NDArray[np.int64]:
    """Where the played moves stand among the 4 * N of each position, int64 [T]; they must be legal."""
    own = before.amazons == turns.start[:, None]
    entry = own.argmax(axis=1) * n + turns.to
    log_p = before.log_p.reshape(len(turns), -1)[np.arange(len(turns)), entry]
    _check_legal(turns, np.where(own.any(axis=1), log_p, -np.inf))
    return np.asarray(entry, np.int64)


def _check_legal(turns: RecordedTurns, log_p: npt.NDArray[np.floating]) -> None:
    illegal = np.flatnonzero(~np.isfinite(log_p))
    if illegal.size:
        raise turns.refuse(int(illegal[0]))


def _arrows(
    nets: Forward, turns: RecordedTurns, rows: npt.NDArray[np.int64], start: Squares, to: Squares
) -> ArrowAnswer:
    """Arrow-Net on the positions of ``rows`` with the amazon gone from ``start`` to ``to``."""
    movers = turns.movers[rows]
    return nets.arrow(after_move(turns.boards[rows], movers, start, to), movers, to)


def _compare(
    log_p: npt.NDArray[np.float32], played: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many entries of each row are likelier than the played one, and how many as likely."""
    return (log_p > played[:, None]).sum(axis=1), (log_p == played[:, None]).sum(axis=1)


def _distance(a: npt.NDArray[np.integer], b: npt.NDArray[np.integer], width: int) -> Floats:
    """Euclidean distance of squares, in (file, rank)."""
    return np.hypot(a % width - b % width, a // width - b // width, dtype=np.float64)


def main(*options: str) -> None:
    """Load the nets, ask them, write.

    Raises:
        ZugwerkError: bad params, no or damaged nets or data set.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="what amazons_train trained, such as cross_entropy or residual")
    model = parser.parse_args(options).model
    params = load(AmazonsEvaluateParams, "amazons_evaluate")
    torch.set_num_threads(load_value(int, "torch_threads"))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    nets = forward_of(load_nets(MODELS / model / "nets.pt", device), params.batch)
    turns, left_out = recorded_turns(open_dataset(SAMPLES), "test")
    predictions = predict_nets(nets, turns)
    found = write_agreement(OUT, model, predictions, turns)
    write_json(OUT / f"{model}.json", {**counted(turns, left_out), "nets": found})

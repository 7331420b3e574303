"""One of the growing boards: start with the net of the smaller board, then make generations until convergence.

The modules of the published claims correspond to functions: network building to `carry_over`, data generation and
training to `run_generation`, convergence to `has_converged`.
"""

import argparse
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json, write_table, written_aside
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import digest
from pipeline_src.project.params import load
from pipeline_src.selfplay.generation import make_key, run_generation, work_folder
from pipeline_src.selfplay.params import ARTIFACTS
from pipeline_src.systems.gomoku_zero.models import ZeroConfig, ZeroNet, load_model, make_config, make_net, save_model
from pipeline_src.systems.gomoku_zero.params import GenerationFiles, GomokuSetting, setting_for
from pipeline_src.systems.gomoku_zero.self_play import Gomoku
from pipeline_src.systems.growing_boards.params import CURVE, BoardFiles, GrowingBoard, GrowingConvergence, read_board

WORK = Path("work/growing")  # Folder of unfinished boards
BACKWARD = 2  # Computing of a backward pass, as a multiple of the forward pass's
HIDDEN = {"plain": ("trunk.",), "residual": ("stem.", "blocks.", "norm.")}
"""By kind of net: how the names of its hidden layers begin, which know nothing of the board's size."""


def main(*options: str) -> None:
    """Stage growing_board: self-play on one of the growing boards, from the best net of the next smaller one.

    Reads ``artifacts/models/growing/<smaller>/best.pt``, or the last net there if none passed the gate; writes the
    files of `BoardFiles`. Killed and run again, it resumes where it was.
    """
    parser = argparse.ArgumentParser(description="Play and train on one of the growing boards.")
    parser.add_argument("--size", type=int, required=True, help="side of the board, one of those in params.yaml")
    parser.add_argument("--minutes", type=float, help="begin no generation after so many; run again to go on")
    given = parser.parse_args(options)
    board, begun = read_board(given.size), time.perf_counter()
    done = grow(
        board,
        setting_for(board.size, board.variant),
        load(GrowingConvergence, "growing_convergence"),
        load(Parallel, "parallel"),
        go_on=lambda: given.minutes is None or time.perf_counter() - begun < 60 * given.minutes,
    )
    if not done:
        raise ZugwerkError(f"the {given.minutes:g} minutes are over; run the same command again to go on")


def carry_over(small: ZeroNet, config: ZeroConfig) -> ZeroNet:
    """Make a net of ``config`` with the hidden layers of ``small`` and new heads.

    If no layer of the net depends on the size of the board, as with convolutional heads, the whole net is carried over.
    New weights come from torch's global generator.

    Raises:
        ZugwerkError: the two nets differ in more than the size of the board.
    """
    grown = make_net(config)
    learnt, fresh = small.state_dict(), grown.state_dict()
    if (kind := small.config.kind) != config.kind or learnt.keys() != fresh.keys():
        raise ZugwerkError(f"a {kind} net cannot grow into another one; train each board with the same net")
    whole = all(learnt[name].shape == tensor.shape for name, tensor in fresh.items())
    for name, tensor in fresh.items():
        if whole or name.startswith(HIDDEN.get(config.kind, ())):
            if learnt[name].shape != tensor.shape:
                raise ZugwerkError(f"layer {name} has another shape than on the smaller board; train both with one net")
            fresh[name] = learnt[name].clone()
    grown.load_state_dict(fresh)
    return grown.eval()


def multiply_adds(net: ZeroNet) -> int:
    """Return the multiply-adds of one position in convolutions and fully connected layers."""
    from torch.utils.flop_counter import FlopCounterMode

    config = net.config
    planes = torch.zeros(1, 2 * config.positions + 1, config.height, config.width)
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        net(planes)
    return int(counter.get_total_flops()) // 2


class Progress(NamedTuple):
    """Result of a generation."""

    loss: float  # Loss of its training
    points: float  # Points of the new player in the gate; a draw is half a point
    games: int  # Number of games in the gate


def has_converged(history: Sequence[Progress], params: GrowingConvergence) -> bool:
    """Whether the last generations of a board, in order, brought no improvement. False before two whole spans."""
    if len(history) < 2 * params.span:
        return False
    before, last = history[-2 * params.span : -params.span], history[-params.span :]
    now, then = (sum(one.loss for one in span) / params.span for span in (last, before))
    gains = sum(one.points for one in last) > (0.5 + params.score_gain) * sum(one.games for one in last)
    return now >= (1 - params.loss_drop) * then and not gains


def grow(
    board: GrowingBoard,
    setting: GomokuSetting,
    convergence: GrowingConvergence,
    parallel: Parallel,
    artifacts: Path = ARTIFACTS,
    work: Path = WORK,
    go_on: Callable[[], bool] = lambda: True,
) -> bool:
    """Train a board from the best net of the one before it, or from fresh weights, and publish its files.

    A killed run can be repeated and continues from the finished generations. Returns whether the board is done; False
    where ``go_on``, asked before each generation, said no.

    Raises:
        ZugwerkError: the board before it is missing or damaged, or its net is another one.
    """
    files = BoardFiles(board.size, artifacts)
    before = BoardFiles(board.before, artifacts) if board.before else None
    small = _carried(before) if before else None
    key = make_key(digest(__name__), setting, 0, [small] if small else [])
    folder = work_folder(work, str(board.size), key)
    start = folder / "start.pt" if small else None
    if small and start and not start.exists():
        torch.manual_seed(setting.seed * 1009 + streams.GROWN_NET)
        config = make_config(setting.net, board.size, board.size)
        save_model(start, carry_over(load_model(small).net, config), variant=board.variant)
    history: list[Progress] = []
    while len(history) < board.generations and not has_converged(history, convergence):
        if not go_on():
            return False
        number, own = len(history) + 1, folder / "artifacts"
        run_generation(Gomoku(), number, setting, parallel, own, again=False, start=start, scratch=folder / "work")
        history.append(_progress(read_json(GenerationFiles(number, own).report)))
    spent = int(read_json(before.report)["multiply_adds_in_all"]) if before else 0
    _publish(files, folder, start, history, setting, spent, has_converged(history, convergence))
    shutil.rmtree(folder)
    return True


def _carried(before: BoardFiles) -> Path:
    """The net that the next board starts from: the best player's, or the last one if no net ever passed the gate."""
    last = before.model(int(read_json(before.report)["generations"]))
    # The player before there is a net has no weights.
    return last if load_model(before.best).config.kind == "uniform" else before.best


def _progress(report: dict[str, Any]) -> Progress:
    gate = report["gate"]
    games = gate["wins"] + gate["draws"] + gate["losses"]
    return Progress(report["train"]["loss"], gate["wins"] + gate["draws"] / 2, games)


def _publish(
    files: BoardFiles,
    folder: Path,
    start: Path | None,
    history: list[Progress],
    setting: GomokuSetting,
    spent: int,
    end: bool,
) -> None:
    """Copy the results of the generations to their places, and sum up their computing."""
    made = [GenerationFiles(number, folder / "artifacts") for number in range(1, len(history) + 1)]
    with written_aside(files.models) as aside:
        aside.mkdir()
        if start:
            shutil.copyfile(start, aside / "00.pt")
        for one in made:
            shutil.copyfile(one.model, aside / f"{one.name}.pt")
        shutil.copyfile(made[-1].best, aside / "best.pt")
    with written_aside(files.games) as aside:
        aside.mkdir()
        for one in made:
            shutil.copyfile(one.games, aside / f"{one.name}.parquet")
    position = multiply_adds(load_model(made[-1].model).net)
    rows, total = [], 0
    for one, progress in zip(made, history, strict=True):
        report = read_json(one.report)
        played, trained = report["self_play"], report["train"]
        total += position * played["evaluations"]
        total += position * (1 + BACKWARD) * setting.train.batch * trained["steps"]
        own = {"generation": one.number, "gate_score": progress.points / progress.games}
        row = trained | played | own | {"multiply_adds": total, "multiply_adds_in_all": spent + total}
        rows.append({name: row[name] for name in CURVE})
    write_table(files.curve, rows)
    write_json(files.timings, {one.name: read_json(one.timings)["seconds"] for one in made})
    write_json(
        files.report,
        {
            "generations": len(history),
            "converged": int(end),
            "games": sum(row["games"] for row in rows),
            "positions": sum(row["positions"] for row in rows),
            "loss": history[-1].loss,
            "multiply_adds_of_a_position": position,
            "multiply_adds": total,
            "multiply_adds_in_all": spent + total,
        },
    )

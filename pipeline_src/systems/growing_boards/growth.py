"""One of the growing boards: start with the net of the smaller board, then make generations until convergence.

The modules of the published claims correspond to functions: network building to `carry_over`, data generation and
training to `run_generation`, convergence to `has_converged`.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from pipeline_src import streams
from pipeline_src.files import read_json, write_json, write_table, written_aside
from pipeline_src.parallel import Parallel
from pipeline_src.project.code import digest
from pipeline_src.systems.gomoku_zero.files import ARTIFACTS, BoardFiles, GenerationFiles
from pipeline_src.systems.gomoku_zero.generation import run_generation
from pipeline_src.systems.gomoku_zero.models import load_model, make_config, save_model
from pipeline_src.systems.gomoku_zero.setting import Setting, make_key
from pipeline_src.systems.growing_boards.carry_over import carry_over, multiply_adds
from pipeline_src.systems.growing_boards.convergence import Progress, has_converged
from pipeline_src.systems.growing_boards.params import GrowingBoard, GrowingConvergence

WORK = Path("work/growing")
"""Folder of unfinished boards."""
BACKWARD = 2
"""Computing of a backward pass, as a multiple of the forward pass's."""


def grow(
    board: GrowingBoard,
    setting: Setting,
    convergence: GrowingConvergence,
    parallel: Parallel,
    artifacts: Path = ARTIFACTS,
    work: Path = WORK,
    go_on: Callable[[], bool] = lambda: True,
) -> bool:
    """Train a board from the net that the one before it ended in, or from fresh weights, and publish its files.

    Killed at any moment and run again, it goes on with what was done.

    Args:
        board: which, and for how many generations at most.
        setting: params of its cycle.
        convergence: when it ends before.
        parallel: how games are played side by side.
        artifacts: folder of all files.
        work: folder of what is under way.
        go_on: asked before each generation.

    Returns:
        Whether the board is done; False where ``go_on`` said no.

    Raises:
        ZugwerkError: the board before it is missing or damaged, or its net is another one.
    """
    files = BoardFiles(board.size, artifacts)
    before = BoardFiles(board.before, artifacts) if board.before else None
    last = before.model(int(read_json(before.report)["generations"])) if before else None
    key = make_key(digest(__name__), setting, 0, [last] if last else [])
    folder = work / f"{board.size}-{key}"
    for old in work.glob(f"{board.size}-*"):
        if old != folder:
            shutil.rmtree(old)
    start = folder / "start.pt" if last else None
    if last and start and not start.exists():
        torch.manual_seed(setting.seed * 1009 + streams.GROWN_NET)
        config = make_config(setting.net, board.size, board.size)
        save_model(start, carry_over(load_model(last).net, config), variant=board.variant)
    history: list[Progress] = []
    while len(history) < board.generations and not has_converged(history, convergence):
        if not go_on():
            return False
        number, own = len(history) + 1, folder / "artifacts"
        run_generation(number, setting, parallel, own, again=False, start=start, scratch=folder / "work")
        history.append(_progress(read_json(GenerationFiles(number, own).report)))
    spent = int(read_json(before.report)["multiply_adds_in_all"]) if before else 0
    _publish(files, folder, start, history, setting, spent, has_converged(history, convergence))
    shutil.rmtree(folder)
    return True


def _progress(report: dict[str, Any]) -> Progress:
    gate = report["gate"]
    games = gate["wins"] + gate["draws"] + gate["losses"]
    return Progress(report["train"]["loss"], gate["wins"] + gate["draws"] / 2, games)


def _publish(
    files: BoardFiles,
    folder: Path,
    start: Path | None,
    history: list[Progress],
    setting: Setting,
    spent: int,
    converged: bool,
) -> None:
    """Copy what the generations left to its place, and sum up their computing."""
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
        rows.append(
            {
                "generation": one.number,
                "games": played["games"],
                "positions": played["positions"],
                "mean_plies": played["mean_plies"],
                "loss": progress.loss,
                "policy_loss": trained["policy_loss"],
                "value_loss": trained["value_loss"],
                "gate_score": progress.points / progress.games,
                "evaluations": played["evaluations"],
                "multiply_adds": total,
                "multiply_adds_in_all": spent + total,
            }
        )
    write_table(files.curve, rows)
    write_json(files.timings, {one.name: read_json(one.timings)["seconds"] for one in made})
    write_json(
        files.report,
        {
            "generations": len(history),
            "converged": int(converged),
            "games": sum(row["games"] for row in rows),
            "positions": sum(row["positions"] for row in rows),
            "loss": history[-1].loss,
            "multiply_adds_of_a_position": position,
            "multiply_adds": total,
            "multiply_adds_in_all": spent + total,
        },
    )

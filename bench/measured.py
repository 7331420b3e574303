"""Committed measurements: the origin of a figure, and the files of docs/measured, which are filled step by step."""

import argparse
import contextlib
import datetime
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.result import Match
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.games.game import get_game
from pipeline_src.players.player import Position
from pipeline_src.players.process import EnginePlayer
from pipeline_src.players.registry import make_player
from pipeline_src.report.figures import processor


def about(command: str, data: str, machine: str = "", profile: str = "committed measurement") -> dict[str, Any]:
    """Return the origin of a figure that is measured now; ``machine`` is by default one core of this one."""
    return {
        "profile": profile,
        "data": data,
        "hardware": machine or f"one core of {processor()}",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
    }


def count(value: float | None, n: int) -> dict[str, Any]:
    """Return a figure without an interval, such as a count among ``n``."""
    return {"value": value, "low": None, "high": None, "n": n}


def known(path: Path) -> dict[str, Any]:
    """Return the content of a file of measurements; empty if there is none yet."""
    return dict(read_json(path)) if path.exists() else {}


def run_stage(folder: Path, stage: str, *words: str) -> None:
    """Run a stage of this checkout, such as ``systems.gomoku_zero.evaluate``, in another project folder.

    Raises:
        ZugwerkError: the stage failed.
    """
    command = [sys.executable, "-m", "pipeline_src.stage", stage, *words]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    if subprocess.run(command, cwd=folder, env=environment).returncode:
        raise ZugwerkError(f"{stage} failed in {folder}; run the same command again to continue")


def match_options(doc: str | None, workers: int) -> argparse.ArgumentParser:
    """Return a parser with the options of all commands that play matches."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="measure only this name, or names with this text in them")
    parser.add_argument("--workers", type=int, default=workers, help="games at the same time, one core each")
    parser.add_argument("--games", type=int, help="play at most so many games of each match")
    return parser


def chosen(only: str, names: Iterable[str]) -> list[str]:
    """Return the names that ``--only`` asks for: the one that it is, or else those with this text in them."""
    every = list(names)
    return [only] if only in every else [name for name in every if only in name]


def line(match: Match) -> str:
    """Return a match in words, for the log."""
    score, standing = match.score, match.standing
    wins_draws_losses = f"{standing.wins}-{standing.draws}-{standing.losses}"
    return f"{match.a} against {match.b}: {wins_draws_losses}, {score.value:.3f} ({score.low:.3f} to {score.high:.3f})"


def late_moves(game: str, protocol: str, command: str, turn_ms: int, moves: int, size: int) -> dict[str, Any]:
    """Count the answers of an engine that come later than the time of a turn, read as a manager reads them.

    The other side plays at random, and a finished game is followed by another one until there are enough moves. The
    machine should be quiet otherwise.

    Args:
        game: amazons or gomoku.
        protocol: ``uci``, or ``brain`` for Gomocup's.
        command: command line of the engine.
        turn_ms: milliseconds of a turn; an answer that is read later is late.
        moves: number of moves.
        size: side of the board.

    Raises:
        PlayerError: the engine ended, hung or made an illegal move.
    """
    rules, rng, times = get_game(game), np.random.default_rng(0), list[float]()
    player = make_player(game, f"{protocol}:{command},movetime={turn_ms}")
    assert isinstance(player, EnginePlayer)
    start = rules.initial_state(size)
    try:
        while len(times) < moves:
            state, actions = start, tuple[int, ...]()
            player.new_game()
            player.ready(start)
            while rules.winner(state) is None and len(times) < moves:
                position = Position(state, rng, start, actions)
                began = time.perf_counter()
                (action,) = player.choose([position])
                times.append(1000 * (time.perf_counter() - began))
                state, actions = rules.play(state, action), (*actions, action)
                if rules.winner(state) is None:
                    action = int(rng.choice(rules.legal_actions(state)))
                    state, actions = rules.play(state, action), (*actions, action)
        memory = _most_memory_mib(player)
    finally:
        player.close()
    late = int((np.array(times) > turn_ms).sum())
    return count(late, len(times)) | {
        "turn_ms": turn_ms,
        "median_ms": float(np.median(times)),
        "p99_ms": float(np.percentile(times, 99)),
        "longest_ms": max(times),
        "most_memory_mib": memory,
    }


@contextlib.contextmanager
def busy_process() -> Iterator[None]:
    """Run a process that never rests during the block."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _most_memory_mib(player: EnginePlayer) -> float | None:
    """Return the peak resident memory of the engine's process; None without /proc."""
    assert player._process is not None
    status = Path(f"/proc/{player._process.pid}/status")
    return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024 if status.exists() else None

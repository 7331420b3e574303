"""Time the moves of an engine as a manager does, and count those that come later than the time of a turn.

The other side plays at random, and a finished game is followed by another one until there are enough moves. Use it on
an otherwise quiet machine.
"""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.measured import count
from pipeline_src.games.game import get_game
from pipeline_src.players.player import Position
from pipeline_src.players.process import EnginePlayer
from pipeline_src.players.registry import make_player


def late_moves(game: str, protocol: str, command: str, turn_ms: int, moves: int, size: int) -> dict[str, Any]:
    """Count the late answers of an engine.

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

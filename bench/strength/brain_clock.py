"""Time the moves of an engine as a manager does, and count those that come later than the time of a turn.

The command measures Gomoku's brain for docs/measured/growing_boards.json; `late_moves` serves other commands too. The
other side plays at random, and a finished game is followed by another one until there are enough moves. Use it on an
otherwise quiet machine:

    python -m bench.strength.brain_clock
"""

import argparse
import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.measured import about, count, known
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.games.game import get_game
from pipeline_src.players.engines.engine import EnginePlayer
from pipeline_src.players.player import Position
from pipeline_src.players.registry import make_player

OUT = Path("docs/measured/growing_boards.json")
COMMAND = "python -m bench.strength.brain_clock"
BRAIN = "zugwerk gomoku brain"


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brain", default=BRAIN, help="command line of the brain")
    parser.add_argument("--moves", type=int, default=1000)
    parser.add_argument("--timeout", type=int, default=200, help="milliseconds of a turn")
    parser.add_argument("--size", type=int, default=15)
    options = parser.parse_args()
    row = late_moves("gomoku", "brain", options.brain, options.timeout, options.moves, options.size)
    print(f"{row['value']} of {row['n']} moves late, longest {row['longest_ms']:.0f} ms")
    more = {"timeout_ms": options.timeout, "brain": options.brain}
    write_json(OUT, known(OUT) | {"brain_time_losses": row | more | about(COMMAND, "its own games")})


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


if __name__ == "__main__":
    run_main(main)

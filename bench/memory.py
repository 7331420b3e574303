"""Memory and time of the stages that read and write games, by number of games; prints a table.

Games are random, of compiled kernels; they stay in the folder for later runs. Memory is the peak of what one process
allocates, the stage's or the largest that it starts, then of all pages of the stage's: those of mapped files the
system takes back. Example:

    python -m bench.memory amazons joseki crawl depth --games 1000 10000 --folder /tmp/many
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from bench.measure import environment
from pipeline_src import yaml12
from pipeline_src.games.amazons import (
    MAX_REACH,
    SPARE,
    AmazonsState,
    buffers,
    copy_into,
    initial_state,
    move_amazon,
    reach,
    shoot,
    write_moves,
)
from pipeline_src.games.go import GoState
from pipeline_src.games.go import copy_into as go_copy_into
from pipeline_src.games.go import initial_state as go_state
from pipeline_src.games.go import legal as go_legal
from pipeline_src.games.kernels import play as go_play
from pipeline_src.jit import njit
from pipeline_src.project.params import read_tree
from pipeline_src.records.littlegolem.amazons import write_record
from pipeline_src.records.raw import SHARD_GIDS, RawGame, Seat, write_raw
from pipeline_src.records.record import GameRecord, Winner, schema

CHECKOUT = Path(__file__).parents[1]
AT_ONCE = 5_000
PLIES = 48  # Plies of a game of Go: it then has about as many new patterns as a made one
STAGES = {
    "amazons": ("amazons_parse", "amazons_samples", "amazons_read", "amazons_evaluate --model residual"),
    "joseki": ("joseki_records", "joseki_build", "joseki_evaluate"),
    "crawl": ("amazons_crawl",),
    "depth": ("depth_label",),
}
"""Stages by kind of games; `read_training` is another one here."""
ARCHIVES = {
    "amazons": "artifacts/records/amazons/games.parquet",
    "joseki": "artifacts/records/joseki/games.parquet",
    "crawl": "artifacts/raw/amazons/archive.parquet",
}
QUICK_LABELS = {"nodes_per_ms": 1, "simulations": 1, "plies": 0}
"""Params of the section ``depth_game`` with which a label takes little time."""
POLL_S = 0.2


@njit(cache=True, allocates=True)
def random_game(
    start: AmazonsState, state: AmazonsState, random: npt.NDArray[np.uint64], moves: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Turns of a random game."""
    copy_into(start, state)
    squares, arrows = state.board.size, np.empty(MAX_REACH + SPARE, np.int32)
    actions, n = np.empty(squares, np.int32), 0
    while True:
        count = write_moves(state, moves)
        if not count:
            return actions[:n]
        move = moves[random[2 * n] % np.uint64(count)]
        move_amazon(state, move // squares, move % squares)
        count = reach(state.lines, state.board.shape[1], move % squares, arrows, 0, 0)
        arrow = arrows[random[2 * n + 1] % np.uint64(count)]
        shoot(state, arrow)
        actions[n] = move * squares + arrow
        n += 1


def amazons_games(first: int, count: int) -> Iterator[GameRecord]:
    """Random games with these numbers."""
    rng, start, state = np.random.default_rng(first), initial_state(10), initial_state(10)
    for gid in range(first, first + count):
        actions = random_game(start, state, rng.integers(1 << 63, size=200).astype(np.uint64), buffers(start)[0])
        winner: Winner = "first" if len(actions) % 2 else "second"
        names = ("ann", "bob") if gid % 2 else ("eve", "joe")
        yield GameRecord(
            "amazons", gid, "engine", "standard", 10, 10, tuple(actions.tolist()), winner, False, *names, 1, 2
        )


@njit(cache=True, allocates=True)
def random_go(start: GoState, state: GoState, random: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Moves of a random game, near the corners: ``random`` [P, 3] are corners and distances from their borders."""
    go_copy_into(start, state)
    actions, n = np.empty(len(random), np.int32), 0
    for corner, row, column in random:
        action = (18 - row if corner & 2 else row) * 19 + (18 - column if corner & 1 else column)
        if go_legal(state, action):
            go_play(state, action)
            actions[n] = action
            n += 1
    return actions[:n]


def joseki_games(first: int, count: int) -> Iterator[GameRecord]:
    """Random games with these numbers."""
    rng, start, state = np.random.default_rng(first), go_state(19), go_state(19)
    for gid in range(first, first + count):
        random = np.minimum(rng.geometric(0.3, (PLIES, 3)) + 1, 9)
        random[:, 0] = rng.integers(4, size=PLIES)
        actions = random_go(start, state, random)
        winner: Winner = "first" if gid % 2 else "second"
        yield GameRecord("go", gid, "engine", "standard", 19, 19, tuple(actions.tolist()), winner)


def write_archive(kind: str, games: int, path: Path) -> None:
    """Write an archive, some games at a time; and for the Amazons the pages that it is parsed from."""
    path.parent.mkdir(parents=True)
    pages = path.parents[2] / "raw" / kind / "pages"
    with pq.ParquetWriter(path, schema(), compression="zstd", write_page_checksum=True) as file:
        for first in range(1, games + 1, AT_ONCE):
            made = joseki_games if kind == "joseki" else amazons_games
            records = list(made(first, min(AT_ONCE, games + 1 - first)))
            file.write_table(pa.table({name: [getattr(r, name) for r in records] for name in schema().names}, schema()))
            if kind == "amazons":
                write_pages(pages, records)


def write_pages(pages: Path, records: list[GameRecord]) -> None:
    """Add the pages of some games to the shards."""
    by_shard: dict[int, list[RawGame]] = {}
    for record in records:
        seats = (Seat(1, record.first_name, "won"), Seat(2, record.second_name, "lost"))
        if record.winner == "second":
            seats = (Seat(1, record.first_name, "lost"), Seat(2, record.second_name, "won"))
        raw = RawGame(record.gid, f"g/{record.gid}", 200, write_record(record), "Size 10", True, seats, True)
        by_shard.setdefault(record.gid // SHARD_GIDS, []).append(raw)
    for number, games in by_shard.items():
        folder = pages / f".{number}-{games[0].gid}"
        write_raw(folder, games)
        (shard,) = folder.glob("*.parquet")
        target = pages / shard.name
        tables = [pq.read_table(file) for file in (target, shard) if file.exists()]
        pq.write_table(pa.concat_tables(tables), target, compression="zstd", row_group_size=2_000)
        shard.unlink()
        folder.rmdir()


def write_params(games: int, path: Path) -> None:
    """Write the params of this checkout, for as many games."""
    params = read_tree(CHECKOUT / "params.yaml")
    params["joseki_records"]["made"]["games"] = params["depth_label"]["games"] = games
    params["depth_game"] |= QUICK_LABELS
    path.write_text(yaml12.dump(params))


def write_nets(path: Path) -> None:
    """Write untrained nets of the fewest filters."""
    from pipeline_src.systems.amazons_net.nets import AmazonsConfig, AmazonsNets, save_nets

    save_nets(path, AmazonsNets(AmazonsConfig(width=0.01)))


def measured(command: list[str], folder: Path, checkout: Path) -> tuple[float, float, float]:
    """Processor seconds of a command, and the peaks in MiB of its allocations and of its resident pages."""
    process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, env=environment(checkout))
    own = 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        own = max(own, *map(allocated, (process.pid, *children(process.pid))))
        time.sleep(POLL_S)
    if status:
        raise SystemExit(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime, own / 1024, usage.ru_maxrss / 1024


def children(process: int) -> list[int]:
    """Processes that a process has started."""
    return [int(pid) for file in Path(f"/proc/{process}/task").glob("*/children") for pid in file.read_text().split()]


def allocated(process: int) -> int:
    """KiB that a process has allocated, 0 if it has ended."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("RssAnon"))


def read_training() -> None:
    """Draw the first, the middle and the last steps of an epoch of a training, and the validation split."""
    from pipeline_src.systems.amazons_net.samples import open_dataset
    from pipeline_src.systems.amazons_net.train import Plan, Validation

    plan = Plan(open_dataset("artifacts/samples/amazons"), batch=512, seed=1, augment=True)
    last = plan.steps_per_epoch
    for number in sorted({*range(min(20, last)), last // 2, last - 1, last}):
        plan.step(number)
    for _ in Validation(plan):
        pass


def main() -> None:
    """Make games, run stages, print a row each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", choices=[*STAGES, []], help="kinds of games")
    parser.add_argument("--games", type=int, nargs="+", default=[1_000, 4_000], help="numbers of games")
    parser.add_argument("--folder", type=Path, help="where games and results are kept")
    parser.add_argument("--stages", nargs="*", help="some of the stages, by name")
    parser.add_argument("--checkout", type=Path, default=CHECKOUT, help="the code to measure")
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read_training()
        return
    for kind in options.kinds:
        for games in options.games:
            folder = (options.folder / f"{kind}-{games}").resolve()
            folder.mkdir(parents=True, exist_ok=True)
            if kind in ARCHIVES and not (folder / ARCHIVES[kind]).exists():
                write_archive(kind, games, folder / ARCHIVES[kind])
            write_params(games, folder / "params.yaml")
            write_nets(folder / "artifacts/models/amazons/residual/nets.pt")
            for command in STAGES[kind]:
                stage, *words = command.split()
                if options.stages is None or stage in options.stages:
                    module = command_of(stage, options.checkout)
                    seconds, own, peak = measured([*module, *words], folder, options.checkout)
                    print(f"| `{stage}` | {games:,} | {seconds:.1f} | {own:,.0f} | {peak:,.0f} |", flush=True)


def command_of(stage: str, checkout: Path) -> list[str]:
    """Return what dvc.yaml runs for a stage after ``python -m``, without options."""
    if stage == "amazons_read":
        return ["bench.memory", "--read"]
    found = read_tree(checkout / "dvc.yaml")["stages"][stage]
    return list(found.get("do", found)["cmd"].split()[2:4])


if __name__ == "__main__":
    main()

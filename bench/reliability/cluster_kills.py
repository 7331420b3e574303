"""Kill the scheduler, a worker or the stage at random moments while a stage plays on a Dask cluster of this machine.

The stage `amazons_archive` plays cheap games on two workers. After each kill what is dead is started again, and so is
the stage if it has ended with an error. Its archive has to be that of one process. Prints a table, and a line of JSON
for each kill on stderr. Needs the extra ``cluster``.

Example:
    python -m bench.reliability.cluster_kills --kills 50 --seed 1
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.systems.amazons_net.archive import OUT, WORK

ROOT = Path(__file__).parents[2]
PORT = 28786
ADDRESS = f"tcp://127.0.0.1:{PORT}"
WORKERS = ("worker 0", "worker 1")
VICTIMS = ("scheduler", WORKERS[0], "stage")
MOST_STARTS = 5  # Times that the stage may be started for one kill: a lost scheduler ends it
PLAYERS = ["random", "one_ply:noise=1", "one_ply:noise=3"]

Process = subprocess.Popen[bytes]


class Cluster:
    """A scheduler and workers, each a process that `mend` starts again if it is dead."""

    def __init__(self, folder: Path) -> None:
        """Start it; ``folder`` is for logs."""
        self.folder, self.processes = folder, dict[str, Process]()
        self.mend()

    def mend(self) -> None:
        """Start what does not run. Workers of a lost scheduler are ended first: they would look for it for minutes."""
        if "scheduler" not in self.processes or self.processes["scheduler"].poll() is not None:
            self.end()
            self._start("scheduler", "--host", "127.0.0.1", "--port", str(PORT), "--dashboard-address", "127.0.0.1:0")
        for name in WORKERS:
            if name not in self.processes or self.processes[name].poll() is not None:
                local = ("--local-directory", str(self.folder / name))
                self._start(name, ADDRESS, "--nthreads", "1", "--no-nanny", "--no-dashboard", *local)

    def _start(self, name: str, *words: str) -> None:
        command = [sys.executable, "-m", "dask", name.split()[0], *words]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log)

    def end(self) -> None:
        """Kill all of it."""
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.processes.clear()


def start_stage(folder: Path) -> Process:
    """Start the stage in a folder with params."""
    command = [sys.executable, "-m", "pipeline_src.stage", "systems.amazons_net.archive"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def write_params(folder: Path, games: int, address: str) -> None:
    """Write params.yaml."""
    archive = {"games": games, "players": PLAYERS, "opening_plies": 4, "cross_share": 0.0}
    parallel = {"workers": 1, "address": address}
    tree = {"seed": 1, "parallel": parallel, "amazons_engine": {}, "amazons_archive": archive}
    (folder / "params.yaml").write_text(yaml12.dump(tree))


def finish(stage: Process, folder: Path, whole: bytes | None) -> bool:
    """Wait for the stage; return whether it ended well.

    Raises:
        ZugwerkError: it ended in a traceback, or its archive is not ``whole``.
    """
    said = stage.communicate(timeout=600)[1].decode()
    if "Traceback" in said:
        raise ZugwerkError(said)
    if stage.returncode == 0 and whole is not None and (folder / OUT).read_bytes() != whole:
        raise ZugwerkError("the archive has other bytes")
    return stage.returncode == 0


def kept_games(folder: Path) -> int:
    """Number of games in the stage's journal."""
    journal = folder / WORK / "journal.jsonl"
    return max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0


def kill_once(cluster: Cluster, folder: Path, whole: bytes, victim: str, after: float) -> Counter[str]:
    """Run the stage, kill something ``after`` some seconds, mend, and run the stage until it has ended well."""
    (folder / OUT).unlink(missing_ok=True)
    shutil.rmtree(folder / WORK, ignore_errors=True)
    stage, starts = start_stage(folder), 1
    time.sleep(after)
    if stage.poll() is not None:  # too late
        finish(stage, folder, whole)
        return Counter()
    killed = cluster.processes.get(victim, stage)
    killed.kill()
    killed.wait()
    found = Counter({"kills": 1, "games kept": kept_games(folder)})
    if victim in WORKERS:
        cluster.mend()
    while not finish(stage, folder, whole):
        if starts == MOST_STARTS:
            raise ZugwerkError(f"after a kill of the {victim} the stage did not end well")
        cluster.mend()
        stage, starts = start_stage(folder), starts + 1
    cluster.mend()
    found["the stage was started again"] = starts > 1
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--games", type=int, default=1000)
    options = parser.parse_args()
    rng, counts = random.Random(options.seed), {victim: Counter[str]() for victim in VICTIMS}
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_params(folder, options.games, "")
        assert finish(start_stage(folder), folder, None)
        whole = (folder / OUT).read_bytes()
        write_params(folder, options.games, ADDRESS)
        cluster = Cluster(folder)
        try:
            for _ in range(2):  # the first one compiles
                begin = time.monotonic()
                assert finish(start_stage(folder), folder, whole)
                seconds = time.monotonic() - begin
            while (done := sum(found["kills"] for found in counts.values())) < options.kills:
                victim = VICTIMS[done % len(VICTIMS)]
                moment = rng.uniform(0, seconds)
                found = kill_once(cluster, folder, whole, victim, moment)
                counts[victim] += found
                if not found:
                    seconds = moment  # the machine is less busy now
                else:
                    print(json.dumps({"kill": done + 1, "victim": victim, **found}), file=sys.stderr, flush=True)
        finally:
            cluster.end()
    heads = ("kills", "the stage was started again", "games kept")
    print(f"| killed | {' | '.join(heads)} |\n| --- |{' ---: |' * len(heads)}")
    for victim, found in counts.items():
        print(f"| {victim} | {' | '.join(f'{found[head]:,}' for head in heads)} |")


if __name__ == "__main__":
    run_main(main)

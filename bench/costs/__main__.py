"""Measure the costs of each stage at three sizes, and extrapolate them to the published size.

Writes docs/measured/costs.json and the table in docs/costs.md. Each chain of stages runs on one core under work/costs/
and is written as soon as it is measured. Example:

    python -m bench.costs --only joseki depth
"""

import argparse
import copy
import datetime
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from bench.costs.chains import CHAINS, Chain, Step
from bench.costs.table import put_table
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.project.profile import merge, merged_text
from pipeline_src.report.provenance import processor

ROOT = Path(__file__).parents[2]
OUT, PAGE, WORK = ROOT / "docs/measured/costs.json", ROOT / "docs/costs.md", ROOT / "work/costs"
ONE_CORE = {
    "parallel": {"workers": 1},
    "torch_threads": 1,
    "gomoku_train": {"threads": 1},
    "growing_train": {"threads": 1},
}


def main() -> None:
    """Measure and write."""
    names = [chain.name for chain in CHAINS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="measure only these chains")
    only = parser.parse_args().only
    text = merged_text("paper", ROOT, (ROOT / "params.yaml").read_text(encoding="utf-8"))
    published = yaml.safe_load(text)
    found = read_json(OUT)["stages"] if OUT.exists() else {}
    for chain in CHAINS:
        if chain.name in only:
            runs = [run_chain(chain, size, published) for size in (chain.sizes[0], *chain.sizes)][
                1:
            ]  # the first run compiles
            found[chain.name] = [row(step, [run[step.name] for run in runs], published) for step in chain.steps]
            about = {
                "hardware": f"one core of {processor()}",
                "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
                "command": "python -m bench.costs",
            }
            measured = {"about": about, "stages": {name: found[name] for name in names if name in found}}
            write_json(OUT, measured)
            put_table(measured, PAGE)


def run_chain(chain: Chain, size: int, published: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return units, CPU seconds, peak memory and bytes on disk of each step by name.

    Raises:
        ZugwerkError: a stage failed.
    """
    folder = WORK / chain.name.replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    params = copy.deepcopy(published)
    merge(params, ONE_CORE, __name__)
    merge(params, chain.params(size), chain.name)
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    for command in chain.before:
        run_stage(command, folder)
    measured: dict[str, dict[str, float]] = {}
    cost: dict[str, float] = {}
    before: tuple[str, ...] = ()
    for step in chain.steps:
        command = (step.stage, *step.words)
        if command != before:
            cost, before = run_stage(command, folder), command
        own = dict(cost)
        if step.part:
            times = read_json(folder / "artifacts" / step.timings)
            own["seconds"] = times[step.part_of][step.part]
        left = [bytes_under(folder / "artifacts" / output) for output in step.outputs]
        measured[step.name] = own | {"units": (step.measured or step.count)(params), "bytes": float(sum(left))}
        print(f"{chain.name} {size}: {step.name} {own['seconds']:.2f} s", flush=True)
    return measured


def run_stage(command: tuple[str, ...], folder: Path) -> dict[str, float]:
    """Return CPU seconds of a stage and its children, its wall seconds, and its peak memory in MiB."""
    begin, log = time.monotonic(), folder / "log.txt"
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    with open(log, "ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", f"pipeline_src.stages.{command[0]}", *command[1:]],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | threads,
            stdout=file,
            stderr=file,
        )
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ZugwerkError(f"{' '.join(command)} ended with {process.returncode}; see {log}")
    wall = time.monotonic() - begin
    return {"seconds": used.ru_utime + used.ru_stime, "wall_s": wall, "peak_mib": used.ru_maxrss / 1024}


def bytes_under(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def row(step: Step, runs: list[dict[str, float]], published: dict[str, Any]) -> dict[str, Any]:
    """Return a step's figures at three sizes and the straight lines through them."""
    units, seconds, left = (np.array([run[key] for run in runs]) for key in ("units", "seconds", "bytes"))
    a_unit, fixed = np.polyfit(units, seconds, 1)
    byte_unit, byte_fixed = np.polyfit(units, left, 1)
    whole = step.count(published)
    return {
        "stage": step.name,
        "unit": step.unit,
        "units": units.tolist(),
        "seconds": seconds.tolist(),
        "wall_s": [run["wall_s"] for run in runs],
        "peak_mib": [run["peak_mib"] for run in runs],
        "bytes": left.tolist(),
        "seconds_fixed": fixed,
        "seconds_a_unit": a_unit,
        "off_the_line": float(np.abs(fixed + a_unit * units - seconds).max() / seconds.max()),
        "published_units": whole,
        "published_hours": (fixed + a_unit * whole) / 3600,
        "published_bytes": byte_fixed + byte_unit * whole if left.any() else None,
    }


if __name__ == "__main__":
    run_main(main)

"""Run every kind of stage with each of its input files damaged, one at a time, and classify the outcome.

A file is removed, emptied, cut in half, or has one bit flipped. The stage has to succeed (if it does not notice, or
does not read that part), or to end with exit status 1 and one line that names the file or its folder. Everything else
is a defect. The artifacts are those of a finished smoke graph, such as that of the kill sweep:

    python -m bench.reliability.damaged_inputs --checkout work/reliability/kill_sweep/checkout
"""

import argparse
import os
import random
import runpy
import shlex
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from bench.measured import RELIABILITY, publish
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import Row, read_table, write_table

TABLE = RELIABILITY.with_name("reliability_damaged.csv")
COMMAND = "python -m bench.reliability.damaged_inputs"
LIMIT_S = 60
MOST_FILES = 6
"""Number of files of one folder, evenly spaced."""
Damage = Callable[[bytes, random.Random], bytes | None]


def turned(data: bytes, rng: random.Random) -> bytes:
    """Return the data with one bit flipped."""
    changed = bytearray(data)
    if changed:
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


DAMAGES: dict[str, Damage] = {
    "missing": lambda _data, _rng: None,
    "empty": lambda _data, _rng: b"",
    "half": lambda data, _rng: data[: len(data) // 2],
    "bit": turned,
}


def main() -> None:
    """Damage, run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, required=True, help="with the artifacts of the smoke graph")
    parser.add_argument("--stage", action="append", help="run only this kind and replace its rows; may be repeated")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import lightning  # noqa: F401 - once, for all forked processes
    import numba  # noqa: F401

    rows: list[Row] = []
    for name, stage in kinds(options.checkout):
        if options.stage and name.partition("@")[0] not in options.stage:
            continue
        for path in inputs(stage, options.checkout):
            for damage in DAMAGES:
                row = attempt(name, stage, path, damage, options.checkout, random.Random(options.seed))
                rows.append(row)
                print(" | ".join(str(cell)[:300] for cell in row.values()), flush=True)
    done = {row["stage"] for row in rows}
    known = read_table(TABLE) if TABLE.exists() else []
    table: list[Row] = [*({**row} for row in known if row["stage"] not in done), *rows]
    outcomes = Counter(row["outcome"] for row in table)
    print(outcomes)
    write_table(TABLE, table)
    figures = {"damaged_inputs": len(table), "damaged_inputs_defects": outcomes["defect"]}
    publish(figures, len(table), COMMAND, f"the smoke graph's own, seed {options.seed}")


def kinds(checkout: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the stages of dvc.lock, one of each group."""
    seen = set()
    for name, stage in yaml.safe_load((checkout / "dvc.lock").read_text(encoding="utf-8"))["stages"].items():
        paths = [one["path"] for one in [*stage["deps"], *stage["outs"]] if one["path"].startswith("artifacts/")]
        there = all((checkout / path).exists() for path in paths)  # else it belongs to another profile
        if there and (kind := name.partition("@")[0]) not in seen:
            seen.add(kind)
            yield name, stage


def inputs(stage: dict[str, Any], checkout: Path) -> Iterator[Path]:
    """Yield the stage's input files, relative to the checkout."""
    for dep in stage.get("deps", []):
        path = checkout / dep["path"]
        if dep["path"].startswith("artifacts/"):
            files = sorted(file for file in path.rglob("[!.]*") if file.is_file()) if path.is_dir() else [path]
            step = -(-len(files) // MOST_FILES)
            yield from (file.relative_to(checkout) for file in files[::step])


def attempt(name: str, stage: dict[str, Any], path: Path, damage: str, checkout: Path, rng: random.Random) -> Row:
    """Run a stage with a damaged file; return a row with stage, file, damage and outcome."""
    with tempfile.TemporaryDirectory(dir=checkout.parent) as scratch:
        folder = Path(scratch)
        shutil.copytree(checkout / "artifacts", folder / "artifacts", copy_function=os.link)
        params = yaml.safe_load((checkout / "params.yaml").read_text(encoding="utf-8"))
        params["parallel"]["workers"] = 1
        (folder / "params.yaml").write_text(yaml.safe_dump(params, sort_keys=False), encoding="utf-8")
        data = DAMAGES[damage]((checkout / path).read_bytes(), rng)
        (folder / path).unlink()  # may be a link to the checkout's file
        if data is not None:
            (folder / path).write_bytes(data)
        status, said = _run(shlex.split(stage["cmd"])[2:], folder)
    last = said.strip().splitlines()[-1] if said.strip() else ""
    named = any(part in last for part in (str(path), str(path.parent)))
    good = status == 1 and last.startswith("error: ") and "Traceback" not in said and named
    taken = {0: "ended well", -signal.SIGKILL: "ran on"}  # the latter: it was still running at the limit
    outcome = taken.get(status, "refused" if good else "defect")
    return {"stage": name, "file": path.as_posix(), "damage": damage, "outcome": outcome, "said": last}


def _run(words: list[str], folder: Path) -> tuple[int, str]:
    """Return exit status and output of ``python -m WORDS`` in a folder, run in a fork of this process."""
    log = folder / "said"
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _become(words, folder, log)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(LIMIT_S)
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    return os.waitstatus_to_exitcode(status), log.read_text(encoding="utf-8", errors="replace")


def _become(words: list[str], folder: Path, log: Path) -> None:
    """Run the module in the child process; this function does not return."""
    status = 1
    try:
        os.chdir(folder)
        with open(log, "wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.argv = words
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.__stderr__, flush=True)
        status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    if not hasattr(os, "fork"):
        raise ZugwerkError("this needs a system that forks")
    run_main(main)

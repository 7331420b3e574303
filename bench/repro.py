"""The whole graph in a fresh clone without compiled kernels: `zugwerk repro` on all cores against plain `dvc repro`.

This takes minutes, at laptop size most of an hour, so `make bench` keeps the committed rows:

    python -m bench.repro smoke
    python -m bench.repro laptop --alone
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import Row, environment, row, seconds
from bench.run import FOLDER, write
from pipeline_src.files import read_json

ROOT = FOLDER.parent
ROWS = {"smoke": "repro_smoke_s", "laptop": "repro_laptop_s"}  # Row by profile
PLAIN = "dvc repro, one stage at a time"


def measure() -> list[Row]:
    """``repro_smoke_s`` and ``repro_laptop_s``, which are measured by this module's own command."""
    return [row(name, None, None, None, "s") for name in ROWS.values()]


def run(profile: str, *command: str) -> float:
    """Return the wall seconds of a command in a new clone of HEAD, without compiled kernels.

    Raises:
        subprocess.CalledProcessError: the command failed.
    """
    with tempfile.TemporaryDirectory(prefix="zugwerk-bench-") as name:
        checkout = Path(name) / "checkout"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(checkout)], check=True)
        env = environment(checkout) | {"ZUGWERK_CACHE": str(Path(name) / "kernels")}

        def python(*words: str) -> None:
            subprocess.run([sys.executable, "-m", *words], cwd=checkout, env=env, check=True, stdout=subprocess.DEVNULL)

        python("pipeline_src.cli", "profile", profile)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = seconds(lambda: python(*command))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{' '.join(command)}: {wall:.0f} s, {cpu:.0f} s of CPU; load at its end {load}", flush=True)
    return wall


def main() -> None:
    """Measure, and write the row into bench/results.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profile", choices=ROWS)
    parser.add_argument("--alone", action="store_true", help="do not measure plain `dvc repro`")
    options = parser.parse_args()
    ours = run(options.profile, "pipeline_src.cli", "repro")
    plain = None if options.alone else run(options.profile, "dvc", "repro")
    made = row(ROWS[options.profile], ours, plain, PLAIN, "s")
    results = FOLDER / "results.json"
    others = [one for one in read_json(results) if one["name"] != made["name"]]
    write(results, [*others, made])


if __name__ == "__main__":
    main()

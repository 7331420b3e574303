"""Set faults at random in the code, and see whether the tests of its package notice them.

A fault changes one place of a function: an operator, a bound by one, a sign, a condition, or a line that is left out.
Each is set in a clone, in which the package's quick tests run until the first one fails. The file of results keeps
faults that were tried, so the same command continues. Whether a fault that no test noticed changes anything at all, is
for a person to say.

    python -m bench.mutations --count 60 --seed 1
"""

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.errors import run_main

ROOT = Path(__file__).parents[1]
WORK = Path("work/mutations")
RESULTS = WORK / "results.jsonl"
LIMIT_S = 1800
"""A fault that makes the tests run longer is noticed."""
PACKAGES = {
    "pipeline_src/arena": "tests/arena",
    "pipeline_src/games": "tests/games",
    "pipeline_src/records": "tests/records",
    "pipeline_src/search/amazons": "tests/search/amazons",
    "pipeline_src/search/gomoku": "tests/search/gomoku tests/systems/gomoku_zero/test_lines.py",
    "pipeline_src/search/mcts": "tests/search/mcts",
    "pipeline_src/systems/amazons_net": "tests/systems/amazons_net",
    "pipeline_src/systems/gomoku_zero": "tests/systems/gomoku_zero",
    "pipeline_src/systems/growing_boards": "tests/systems/growing_boards",
    "pipeline_src/systems/joseki": "tests/systems/joseki",
    "pipeline_src/systems/search_depth": "tests/systems/search_depth",
}
"""Packages, each with its tests."""
OPERATORS: dict[type[ast.AST], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.And: "or", ast.Or: "and",
}  # fmt: skip


class Fault(NamedTuple):
    """A place in a file and its replacement."""

    path: str
    line: int
    start: int
    """Byte of the file at which the replaced text begins."""
    end: int
    before: str
    after: str


def main() -> None:
    """Draw faults, try each, print the outcome."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--package", action="append", choices=sorted(PACKAGES), help="by default all")
    options = parser.parse_args()
    packages = options.package or sorted(PACKAGES)
    rng = random.Random(options.seed)
    drawn = [draw(packages[index % len(packages)], rng) for index in range(options.count)]
    clone = _clone()
    known = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()] if RESULTS.exists() else []
    rows = []
    for fault in drawn:
        row = next((one for one in known if one["fault"] == list(fault)), None)
        if row is None:
            row = {"fault": list(fault), "noticed_by": try_out(fault, clone)}
            with RESULTS.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        rows.append(row)
        noticed = row["noticed_by"] or "NOTHING"
        print(f"{fault.path}:{fault.line}: {fault.before!r} -> {fault.after!r}: {noticed}", flush=True)
    print(f"{sum(row['noticed_by'] is not None for row in rows)} of {len(rows)} noticed")


def draw(package: str, rng: random.Random) -> Fault:
    """Draw a fault of a package; each place of its functions is as likely as any other."""
    return rng.choice(_all_faults(package))


@cache
def _all_faults(package: str) -> list[Fault]:
    return [fault for path in sorted((ROOT / package).rglob("*.py")) for fault in faults(path)]


def faults(path: Path) -> Iterator[Fault]:
    """All faults of a file's functions."""
    data = path.read_bytes()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = path.relative_to(ROOT).as_posix()

    def span(node: ast.AST) -> tuple[int, int]:
        where: Any = node  # expressions and statements have these
        return starts[where.lineno - 1] + where.col_offset, starts[where.end_lineno - 1] + where.end_col_offset

    def replaced(start: int, end: int, text: str) -> Fault:
        return Fault(name, data.count(b"\n", 0, start) + 1, start, end, data[start:end].decode(), text)

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[Fault]:
        """The operator between two operands, if only brackets and spaces surround it."""
        start = span(left)[1]
        text = data[start : span(right)[0]].decode()
        old = text.strip(" ()\n")
        if type(operator) in OPERATORS and "#" not in text and len(old.split()) == 1:
            start += text.index(old)
            yield replaced(start, start + len(old), OPERATORS[type(operator)])

    for function in ast.walk(ast.parse(data)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in (one for statement in function.body for one in ast.walk(statement)):
            if isinstance(node, ast.Compare) and len(node.ops) == 1:
                yield from between(node.left, node.comparators[0], node.ops[0])
            elif isinstance(node, ast.BinOp):
                yield from between(node.left, node.right, node.op)
            elif isinstance(node, ast.BoolOp) and len(node.values) == 2:
                yield from between(node.values[0], node.values[1], node.op)
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                start, _ = span(node)
                yield replaced(start, start + 1, "+")
            elif isinstance(node, ast.Constant) and type(node.value) is int:
                yield replaced(*span(node), str(node.value + 1))
            elif isinstance(node, ast.If):
                start, end = span(node.test)
                yield replaced(start, end, f"not ({data[start:end].decode()})")
            elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
                yield replaced(*span(node), "pass")


def try_out(fault: Fault, clone: Path) -> str | None:
    """Run the tests of a fault's package with it; return which test notices it, None if none does."""
    path = clone / fault.path
    data = path.read_bytes()
    package = next(name for name in PACKAGES if fault.path.startswith(name + "/"))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        *PACKAGES[package].split(),
    ]
    try:
        path.write_bytes(data[: fault.start] + fault.after.encode() + data[fault.end :])
        run = subprocess.Popen(
            command, cwd=clone, env={**os.environ, "PYTHONPATH": str(clone.resolve())}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            said, _ = run.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            run.communicate()
            return f"no end within {LIMIT_S} s"
    finally:
        path.write_bytes(data)
    if run.returncode == 0:
        return None
    failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else f"pytest ended with {run.returncode}"


def _clone() -> Path:
    """A clone of the commit in which faults are set; a new one if the commit is another."""
    folder = WORK / "clone"
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if not (folder / ".git").exists() or (WORK / "commit").read_text(encoding="utf-8") != commit:
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
        (WORK / "commit").write_text(commit, encoding="utf-8")
    subprocess.run(["git", "checkout", "-q", "--", "."], cwd=folder, check=True)
    return folder


if __name__ == "__main__":
    run_main(main)

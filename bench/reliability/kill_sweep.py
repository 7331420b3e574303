"""Kill the smoke graph at random moments and check that it still ends in the same bytes.

A clone of the committed state runs undisturbed once, at smoke size. Each pass begins without artifacts. At random
moments a stage's process, DVC, `zugwerk repro` or the flow is killed (-9), and the next run resumes; after the last
kill of the pass the graph runs to its end. DVC's run cache is off, since it would hide a broken resume. If the sweep
itself is killed, the same command resumes with the same pass.

With --system, passes run that system's stages alone, and the table keeps the rows of other systems.

    python -m bench.reliability.kill_sweep --kills 50 --seed 1
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from bench.measured import RELIABILITY, publish
from bench.reliability.attempt import POLL_S, Attempt, Runner, environment, marked, stage_name, strike
from bench.reliability.kill_plan import Kill, Ran, draw_kills
from bench.reliability.outputs import differing, files_under, hash_outputs
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import Row, read_json, read_table, write_json, write_table

ROOT = Path(__file__).parents[2]
WORK = Path("work/reliability/kill_sweep")
TABLE = RELIABILITY.with_name("reliability_kills.csv")
COMMAND = "make measure-reliability"


class Sweep:
    """A sweep in a folder: the clone, the undisturbed run, and the passes so far."""

    def __init__(self, folder: Path, system: str, kills: int, passes: int, seed: int) -> None:
        """``system`` limits the run to a system's stages; empty means the whole graph."""
        self.folder, self.checkout, self.system = folder.resolve(), folder.resolve() / "checkout", system
        self.mark = str(self.checkout)
        self.undisturbed = self.folder / f"undisturbed{'-' * bool(system)}{system}.json"
        self.size = {"kills": kills, "passes": passes, "seed": seed}
        self.paces = [1.0]
        """Durations of the last stages relative to the undisturbed run."""

    def prepare(self, commit: str) -> None:
        """Clone the checkout at a commit and run the smoke graph once, undisturbed."""
        if not self.checkout.exists() or _git(self.checkout, "rev-parse", "HEAD") != commit:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            _git(ROOT, "clone", "--quiet", str(ROOT), str(self.checkout))
            _git(self.checkout, "reset", "--quiet", "--hard", commit)
            command = [sys.executable, "-m", "pipeline_src.cli", "profile", "smoke"]
            subprocess.run(command, cwd=self.checkout, env=environment(self.checkout), check=True)
        if self.undisturbed.exists():
            return
        print("the undisturbed run", flush=True)
        self._wipe()
        ran = self._undisturbed()
        write_json(
            self.undisturbed,
            {"ran": [asdict(one) for one in ran], "hashes": hash_outputs(self.checkout)},
        )

    def run(self) -> list[dict[str, Any]]:
        """Run all passes that are not done yet; return a row for each kill of all passes."""
        known = read_json(self.undisturbed)
        ran = [Ran(**one) for one in known["ran"]]
        kills = draw_kills(ran, **self.size)
        rows = []
        for number in range(self.size["passes"]):
            size = "-".join(map(str, self.size.values()))
            path = self.folder / f"pass-{self.system or 'all'}-{size}-{number + 1}.json"
            if not path.exists():
                own = [kill for kill in kills if kill.at_pass == number]
                write_json(path, self._pass(number, own, ran, known["hashes"]))
            rows += read_json(path)
        return rows

    def _undisturbed(self) -> list[Ran]:
        begin, ran = time.monotonic(), {}
        with self._attempt() as attempt:
            while attempt.process.poll() is None:
                if (process := attempt.stage()) and (name := stage_name(process)):
                    now = time.monotonic() - begin
                    ran[name] = Ran(name, ran[name].begin if name in ran else now, now)
                time.sleep(POLL_S)
            if attempt.process.returncode:
                raise ZugwerkError(f"the undisturbed run failed; see {self.folder / 'log'}")
        return list(ran.values())

    def _pass(self, number: int, kills: list[Kill], ran: list[Ran], wanted: dict[str, str]) -> list[dict[str, Any]]:
        """Run one pass; return a row for each kill."""
        print(f"{self.system or 'all systems'}, pass {number + 1}: {len(kills)} kills", flush=True)
        self._wipe()
        begin, rows = time.monotonic(), []
        for kill in kills:
            row = self._kill(kill, ran)
            if row is None:
                break  # the graph was finished before the moment
            rows.append(row)
            left = f"; left running: {row['left_running']}" if row["left_running"] else ""
            print(f"  {row['victim']} killed in {row['stage']} after {row['seconds']:.1f} s{left}", flush=True)
        with self._attempt() as attempt:
            if attempt.process.wait():
                raise ZugwerkError(f"after its kills, the graph does not run to its end; see {self.folder / 'log'}")
        found = hash_outputs(self.checkout)
        different, work = differing(found, wanted), files_under(self.checkout / "work")
        work = [path for path in work if not path.startswith("repro/")]  # logs are kept
        seconds = time.monotonic() - begin
        print(f"  {seconds:.0f} s; files that differ: {different or 'none'}; left in work: {len(work)}", flush=True)
        if different:
            kept = self.folder / f"differs-{self.system or 'all'}-{number + 1}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(self.checkout / "artifacts", kept)
        about = {"system": _name(self.system), "pass": number + 1, "differing": different, "left_in_work": work}
        return [row | about for row in rows]

    def _kill(self, kill: Kill, ran: list[Ran]) -> dict[str, Any] | None:
        """Run until the moment of the kill, then kill; return None if the run ended before."""
        runner: Runner = kill.victim if kill.victim in ("repro", "flow") else "dvc"
        with self._attempt(runner) as attempt:
            watch = Watch(ran, self.paces) if runner == "dvc" else SideBySide(ran, self.paces)
            while attempt.process.poll() is None:
                process = attempt.stage()
                watch.see(stage_name(process) if process else "", time.monotonic())
                if watch.has_come(kill):
                    break
                time.sleep(POLL_S)
            else:
                if attempt.process.returncode:
                    raise ZugwerkError(f"the run before a kill failed; see {self.folder / 'log'}")
                return None
            hits_stage = kill.victim == "stage" and process is not None and watch.running
            strike(process.pid if hits_stage and process else attempt.process.pid)
            gone, left = attempt.left_after()
        return {
            "stage": watch.stage if watch.running else f"after {watch.stage}",
            "victim": "stage" if hits_stage else runner,
            "seconds": round(watch.seconds, 2),
            "gone_after": round(gone, 2),
            "left_running": left,
        }

    def _attempt(self, runner: Runner = "dvc") -> Attempt:
        shutil.rmtree(self.checkout / ".dvc/cache/runs", ignore_errors=True)
        targets = [name for name in self._groups() if self.system]
        return Attempt(self.checkout, self.folder / "log", self.mark, targets=targets, runner=runner)

    def _groups(self) -> list[str]:
        """Return the system's stages and groups by their names in dvc.yaml."""
        stages = yaml.safe_load((self.checkout / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
        return [name for name in stages if name.startswith(f"{self.system}_")]

    def _wipe(self) -> None:
        """Restore the state before the first run: no artifacts, no work folder, the committed dvc.lock."""
        for process in marked(self.mark):
            strike(process.pid)  # left from a killed sweep
        for folder in ("artifacts", "work", ".dvc/tmp"):
            shutil.rmtree(self.checkout / folder, ignore_errors=True)
        _git(self.checkout, "checkout", "--quiet", "dvc.lock")


class Watch:
    """The running stage and its duration so far."""

    def __init__(self, ran: list[Ran], paces: list[float]) -> None:
        self.order = {one.stage: index for index, one in enumerate(ran)}
        self.took = {one.stage: one.end - one.begin for one in ran}
        self.paces = paces
        """Durations of stages so far, relative to the undisturbed run; `see` appends to it."""
        self.stage, self.running, self.since, self.seconds = "", False, 0.0, 0.0

    def see(self, stage: str, now: float) -> None:
        """Note the running stage ("" for none) at a time in seconds."""
        if self.running and stage != self.stage:
            self.paces.append((now - self.since) / max(self.took[self.stage], 0.1))
        self.running = bool(stage)
        if stage and stage != self.stage:
            self.stage, self.since = stage, now
        self.seconds = now - self.since

    def has_come(self, kill: Kill) -> bool:
        """Return whether the planned moment has come, or that stage is already over."""
        if not self.stage or self.order[self.stage] < kill.stage:
            return False
        planned = self.order[self.stage] == kill.stage
        ended = not self.running and kill.share <= 1
        pace = statistics.median(self.paces[-9:])
        return not planned or ended or self.seconds >= kill.share * self.took[self.stage] * pace


class SideBySide(Watch):
    """Watch for two stages at a time, where the planned stage may be done: time counts from the run's first stage."""

    def see(self, stage: str, now: float) -> None:
        """Note one of the running stages ("" for none) at a time in seconds."""
        self.since = self.since if self.stage else now
        self.running, self.stage, self.seconds = bool(stage), stage or self.stage, now - self.since

    def has_come(self, kill: Kill) -> bool:
        """Return whether the planned moment has come."""
        planned = list(self.took.values())[kill.stage]
        return bool(self.stage) and self.seconds >= kill.share * planned * statistics.median(self.paces[-9:])


def main() -> None:
    """Run undisturbed, kill, compare, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="number of kills in all")
    parser.add_argument("--passes", type=int, default=4, help="number of passes, among which the kills are divided")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--system", action="append", help="run this system's stages alone; may be repeated")
    parser.add_argument("--work", type=Path, default=WORK)
    options = parser.parse_args()
    systems = options.system or [""]
    if options.passes < 1 or options.kills < options.passes * len(systems):
        parser.error("at least one pass, and a kill in each")
    commit = _git(ROOT, "rev-parse", "HEAD")  # more commits may be made while this runs
    for number, system in enumerate(systems):
        kills = (options.kills + number) // len(systems)
        sweep = Sweep(options.work, system, kills, options.passes, options.seed)
        sweep.prepare(commit)
        record(sweep.run(), system, options.seed)


def record(rows: list[dict[str, Any]], system: str, seed: int) -> None:
    """Replace a system's kills in the table, and publish the figures of the table."""
    kept = read_table(TABLE) if TABLE.exists() else []
    table: list[Row] = [{**row} for row in kept if row["system"] != _name(system)]
    table += [_cells(row) for row in rows]
    write_table(TABLE, table)
    same = [row for row in table if not int(row["differing"])]
    left = sum(int(row["left_running"]) > 0 for row in table)
    passes = {(row["system"], int(row["pass"])) for row in table}
    data = f"the smoke graph, {len(passes)} passes, seed {seed}"
    figures = {"kills": len(table), "kills_same_bytes": len(same), "kills_that_left_a_process": left}
    publish(figures, len(table), COMMAND, data)
    print(f"{len(table)} kills, {len(same)} in passes with the same bytes; {left} left something running", flush=True)


def _name(system: str) -> str:
    """Return the system's name in the table."""
    return system or "all"


def _cells(row: dict[str, Any]) -> Row:
    keys = ("system", "pass", "stage", "victim", "seconds", "gone_after")
    lists = {key: len(row[key]) for key in ("left_running", "differing")}
    return {key: row[key] for key in keys} | lists


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    run_main(main)

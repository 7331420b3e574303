"""Figures of a run of the graph that are kept in git, and how a later run agrees with them.

The figures of a profile are in ``docs/measured/<profile>.json``. Of the profile that params.yaml has in git the tables
and numbers behind them are kept too, in ``docs/measured/<profile>/``, in the order of artifacts/reports.
"""

import datetime
import shlex
import shutil
import string
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, written_aside
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.profile import PROFILES, own_values
from pipeline_src.project.systems import Figure, systems
from pipeline_src.report import page
from pipeline_src.report.figures import (
    COMMITTED,
    ESTIMATE,
    FOLDER,
    LAPTOP,
    REGISTRY,
    SYSTEMS,
    figures,
    of_the_graph,
    profile_measurements,
    system_measurements,
)
from pipeline_src.report.page import interval, number

REPORTS = Path("artifacts/reports")
SMALL = frozenset({".csv", ".json"})
NO_RESULTS = ("parallel", "crawl")  # Sections that change no result
MOST_OWN = 2  # Largest number of own values in the name of a file
IN_NAMES = " " + "".join(sorted(set(string.punctuation) - {"/", "%"}))  # Signs that a file's name has as they are


def keep(folder: Path = Path()) -> tuple[Path, int]:
    """Write the graph's figures at the profile of params.yaml to ``docs/measured/<profile>.json``.

    Where params.yaml departs from the profile, the file is ``<profile>,<key>=<value>.json``, and where it lacks a key
    ``<profile>,~<key>.json``; a slash in a value is ``%2F``. Figures in the file that the graph has not made at this
    profile stay, so that the systems of a night can be made, and kept, one by one.

    Returns:
        The file, and the number of figures that the graph has.

    Raises:
        ZugwerkError: params.yaml departs from the profile in more keys than a name holds, or nothing was made at it; a
            file is damaged.
    """
    profile = str(read_tree(folder / PARAMS_FILE)["profile"])
    own = {key: value for key, value in own_values(folder).items() if key.split(".")[0].strip("~") not in NO_RESULTS}
    if len(own) > MOST_OWN:
        raise ZugwerkError(
            f"{folder / PARAMS_FILE}: {', '.join(own)}: not the values of the profile {profile}; a file of their own "
            f"below {PROFILES} makes them a profile"
        )
    changes = [key if key.startswith("~") else f"{key}={value}" for key, value in own.items()]
    label = ",".join([profile, *(quote(change, IN_NAMES) for change in changes)])
    run = " ".join(["dvc exp run", *(f"-S {shlex.quote(change)}" for change in changes)]) if changes else "dvc repro"
    about = {
        "commit": page.commit(folder, page.CODE),
        "hardware": page.hardware(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    kept, count, made_now = dict(profile_measurements(folder).get(label, {})), 0, set[str]()
    for system, rows in figures(folder).items():
        for name, row in rows.items():
            made = of_the_graph(row)
            if made is None or made["label"] != profile:
                continue
            values = {key: made[key] for key in (*ESTIMATE, "data", "code")}
            command = f"zugwerk profile {profile} && {made['command'].replace('dvc repro', run)}"
            kept[system] = kept.get(system, {}) | {name: values | {"command": command} | about}
            count += 1
            made_now.add(systems()[system].word or system.split("_")[0])
    path = folder / FOLDER / f"{label}.json"
    if not count:
        raise ZugwerkError(f"{path}: the graph has made nothing at the profile {profile}; `zugwerk repro` makes it")
    if label == LAPTOP:
        _keep_reports(folder, made_now)
    write_json(path, kept)
    return path, count


def _keep_reports(folder: Path, made: Set[str]) -> None:
    """Replace the kept reports of the systems that were made, by their folders; those of the others stay."""
    kept = folder / FOLDER / LAPTOP
    for name in sorted(made):
        reports = folder / REPORTS / name
        with written_aside(kept / name) as aside:
            for path in sorted(reports.glob("**/*")):
                if path.suffix in SMALL and not path.name.endswith(".timings.json"):
                    copy = aside / path.relative_to(reports)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, copy)
    with written_aside(kept / PARAMS_FILE) as aside:
        shutil.copyfile(folder / PARAMS_FILE, aside)


@contextmanager
def committed_run(folder: Path = Path()) -> Iterator[Path]:
    """Yield a folder in which the kept run stands where a checkout has its own, for charts that every checkout has."""
    with TemporaryDirectory(prefix="zugwerk-") as name:
        shown, kept = Path(name), (folder / FOLDER).resolve()
        for link, target in ((REPORTS, kept / LAPTOP), (FOLDER, kept), (PARAMS_FILE, kept / LAPTOP / PARAMS_FILE)):
            (shown / link).parent.mkdir(parents=True, exist_ok=True)
            (shown / link).symlink_to(target)
        yield shown


def agreement(folder: Path = Path()) -> list[str]:
    """Say in lines whether the figures of the graph's last run agree with those kept of its profile.

    A figure agrees if it lies in the kept 95 % interval, a count if it is the same. Times, and other numbers without an
    interval, are left out. The first line counts, the others name those that do not agree.

    Raises:
        ZugwerkError: a file is damaged.
    """
    profile = str(read_tree(folder / PARAMS_FILE).get("profile"))
    states: Counter[str] = Counter()
    outside, machines = [], set[str]()
    for system, rows in figures(folder).items():
        for name, row in rows.items():
            own = of_the_graph(row)
            if own is None or own["label"] != profile or not _comparable(REGISTRY[system][name], own):
                continue
            kept = next((one for one in row["others"] if one["label"] == profile + COMMITTED), None)
            state = _state(own, kept)
            states[state] += 1
            machines |= {kept["hardware"] or ""} if kept else set()
            if state == OUTSIDE and kept:
                there = interval(kept) if kept["low"] is not None else number(kept["ours"], row["unit"])
                outside.append(f"  {system}.{name}: {number(own['ours'], row['unit'])}, committed {there}")
    total = states.total()
    if not total:
        return []
    if states[UNKNOWN] == total:
        return [f"{total} headline figures; none of the profile {profile} is committed to compare with"]
    other = "" if states[SAME] == total else f" (bits differ{'' if machines == {page.hardware()} else BETWEEN})"
    if not outside:
        told = "all as committed" if not other else "all inside the committed intervals"
    else:
        told = f"{states[SAME] + states[INSIDE]} inside the committed intervals, {len(outside)} outside"
    told += f", {states[UNKNOWN]} not committed" * bool(states[UNKNOWN])
    return [f"{total} headline figures, {told}{other}", *outside]


SAME, INSIDE, OUTSIDE, UNKNOWN = "same", "inside", "outside", "unknown"
BETWEEN = " from one kind of processor to another"


def _comparable(figure: Figure, own: dict[str, Any]) -> bool:
    return not (figure.timing or figure.times) and (own["low"] is not None or isinstance(own["ours"], int))


def _state(own: dict[str, Any], kept: dict[str, Any] | None) -> str:
    if kept is None:
        return UNKNOWN
    if own["ours"] == kept["ours"]:
        return SAME
    return INSIDE if kept["low"] is not None and kept["low"] <= own["ours"] <= kept["high"] else OUTSIDE


# Tables of the committed matches below docs/measured, as lines of Markdown.


def match_table(system: str, folder: Path = Path()) -> list[str]:
    """Return a row for each match of docs/measured/<system>.json; empty if it has none.

    Raises:
        ZugwerkError: the file is damaged.
    """
    matches = system_measurements(folder, system).get("matches", {})
    words = SYSTEMS[system].matches
    names = [*(name for name in words if name in matches), *(name for name in matches if name not in words)]
    if not names:
        return []
    nodes = "nodes_a_game" in matches[names[0]]
    head = ["match", "games", "W/D/L", "score", "95 % CI", "Elo (95 % CI)"]
    if nodes:
        head = ["match", "games", "score", "95 % CI", "mean margin", "losses on time", "nodes a game, millions"]
    lines = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    for name in names:
        found = matches[name]
        score = found["score"]
        ends = f"{score['low']:.3f} to {score['high']:.3f}"
        cells = [words.get(name, name.replace("_", " ")), number(score["n"])]
        if nodes:
            million = " / ".join(f"{one / 1e6:.2f}" for one in found["nodes_a_game"])
            lost = " / ".join(map(str, found["time_outs"]))
            cells += [f"{score['value']:.3f}", ends, f"{found['margin']['value']:+.2f}", lost, million]
        else:
            counts = "/".join(str(found[key]) for key in ("wins", "draws", "losses"))
            cells += [counts, f"{score['value']:.3f}", ends, _elo(found)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _elo(match: dict[str, Any]) -> str:
    """Return the Elo difference with its interval, or one end of it if one side won all games."""
    low, high = match["elo_low"], match["elo_high"]
    if match["elo"] is not None:
        return f"{match['elo']:+.0f} ({low:+.0f} to {high:+.0f})"
    if low is not None:
        return f"above {low:+.0f}"
    return "-" if high is None else f"below {high:+.0f}"

"""Read the registry's figures: from the metrics of the last `dvc repro`, and from the committed measurements.

A figure may have several measurements: by the graph's last run in the checkout, by committed runs of each profile, and
outside the graph, in matches of thousands of games or on real records. The checkout's own run comes first, then the
measurement with the largest n. Of a figure that names its player, what other code has measured than the graph's comes
behind, the newest first; without a run, other code than that of the laptop's committed run.

A report of the graph says itself what made it (`project.graph.made_by`). `keep` writes the figures of a run to
``docs/measured/<profile>.json``, and of the profile that params.yaml has in git also the reports behind them, to
``docs/measured/<profile>/`` in the order of artifacts/reports; `agreement` says how a later run agrees with them.
"""

import datetime
import json
import math
import os
import platform
import re
import shlex
import shutil
import string
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import partial, reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import MADE_BY, OUTPUTS, finite, read_json, write_json, written_aside
from pipeline_src.project.graph import NO_RESULTS
from pipeline_src.project.params import PARAMS_FILE, at, read_tree
from pipeline_src.project.profile import LAPTOP, PROFILES, own_values
from pipeline_src.project.systems import Counted, Figure, Words, systems

# All systems and their headline figures, as they declare them (`project.systems`).
SYSTEMS = systems()
REGISTRY = {name: system.figures for name, system in SYSTEMS.items()}
REPORTS = OUTPUTS / "reports"


class Origin(NamedTuple):
    """Code and params that made a report of the graph, as far as it says so."""

    code: str | None  # Digest of the code of its stage
    values: dict[str, Any]  # Params behind it by dotted key; empty if they are unknown
    current: bool  # Whether these are the values in params.yaml


def origin(report: Path, params: Mapping[str, Any]) -> Origin:
    """Return what made a report, or a file of times of its stage. Raises ZugwerkError: the report is damaged."""
    report = Path(str(report).replace(".timings.json", ".json"))
    about = at(read_json(report), MADE_BY, {}) if report.is_file() else {}
    values = about.get("params", {})
    current = bool(values) and all(_as_json(at(params, key)) == value for key, value in values.items())
    return Origin(about.get("code"), values, current)


def tree_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by dotted key as a tree like that of params.yaml."""
    tree: dict[str, Any] = {}
    for key, value in values.items():
        *sections, name = key.split(".")
        reduce(lambda inner, section: inner.setdefault(section, {}), sections, tree)[name] = value
    return tree


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(finite(value)))


# The code and the machine of a run.

CODE = ("dvc.yaml", "pipeline_src", "spiders")  # Code that determines the figures


def commit(folder: Path = Path(), files: Sequence[str] = (*CODE, "params.yaml")) -> str | None:
    """Return the commit of the checkout, with ``+`` if one of the files differs from it; None outside git."""

    def git(*command: str) -> str:
        return subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True).stdout  # noqa: S603, S607

    try:
        head = git("rev-parse", "--short=10", "HEAD").strip()
        return head + "+" * bool(git("status", "--porcelain", "--untracked-files=no", "--", *files))
    except (OSError, subprocess.CalledProcessError):
        return None


GPUS = Path("/proc/driver/nvidia/gpus")  # Has a folder for each GPU of NVIDIA


def hardware() -> str:
    """Return the processor and the number of cores for this process, and the GPUs, in words."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gpus = Counter(
        line.removeprefix("Model:").strip()
        for path in sorted(GPUS.glob("*/information"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("Model:")
    )
    own = [f"{count} {name}" for name, count in gpus.items()]
    return " and ".join([*own, f"{cores} {'core' if cores == 1 else 'cores'} of {processor()}"])


def processor() -> str:
    """Return the processor's name from the operating system."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


# Read the committed measurements below docs/measured, in two kinds of files.
#
# - ``docs/measured/<system>.json``, ``{figure: {value, low, high, n, profile, data, hardware, date, command}}``:
#   clocked matches, several seeds, real records. Keys outside the registry hold tables.
# - ``docs/measured/<profile>.json``, ``{system: {figure: {ours, low, high, n, command, commit, date}}}``: the figures
#   of one run of the graph at that profile. A file is of this kind if one of its keys is a system.


FOLDER = Path("docs/measured")
Row = dict[str, Any]


def system_measurements(folder: Path, system: str) -> Row:
    """Return the file of a system; empty if it has none. Raises ZugwerkError: the file is damaged."""
    path = folder / FOLDER / f"{system}.json"
    found = _read(path) if path.exists() else {}
    if not isinstance(found, dict):
        raise ZugwerkError(f"{path}: damaged (expected figures by name); `git checkout` it")
    return found


def profile_measurements(folder: Path) -> dict[str, dict[str, dict[str, Row]]]:
    """Return the files of profiles as ``{profile: {system: {figure: row}}}``.

    Raises:
        ZugwerkError: a file is damaged, or names a system or figure that is not in the registry.
    """
    found = {}
    for path in sorted((folder / FOLDER).glob("*.json")):
        if path.stem in REGISTRY:
            continue
        tree = _read(path)
        if not isinstance(tree, dict) or not tree.keys() & REGISTRY.keys():
            continue  # another table, such as costs.json
        for system, rows in tree.items():
            unknown = [name for name in rows if name not in REGISTRY.get(system, {})] if isinstance(rows, dict) else []
            if system not in REGISTRY or not isinstance(rows, dict) or unknown:
                what = ".".join([system, *unknown[:1]])
                raise ZugwerkError(f"{path}: {what}: no figure of a system; `zugwerk report` lists them")
        found[path.stem] = tree
    return found


def _read(path: Path) -> Any:
    """Return the JSON value in a file that git has, and no stage makes. Raises ZugwerkError: it is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ZugwerkError(f"{path}: not valid JSON ({error}); `git checkout` it") from None


# Times of Gomoku's generations. They are not among the metrics, since they differ from run to run.

GENERATIONS = REPORTS / "gomoku/generations"


class GenerationTime(NamedTuple):
    """Times of one generation."""

    number: int
    seconds: dict[str, float]  # Seconds by phase: self_play, train, gate
    games: int  # Number of games of its self-play


def read_times(folder: Path = Path()) -> list[GenerationTime]:
    """Return the times of the generations; empty if one has none yet. Raises ZugwerkError: a file is damaged."""
    later = read_tree(folder / PARAMS_FILE).get("gomoku_generations")
    if later is None:
        return []
    found = []
    for number in range(1, len(later) + 2):
        report = folder / GENERATIONS / f"{number:02d}.json"
        timings = report.with_suffix(".timings.json")
        if not (report.exists() and timings.exists()):
            return []
        try:
            seconds = {str(phase): float(value) for phase, value in read_json(timings)["seconds"].items()}
            found.append(GenerationTime(number, seconds, int(read_json(report)["self_play"]["games"])))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ZugwerkError(f"{timings}: damaged ({error!r}); make the generation again") from None
    return found


def timed_figures(folder: Path = Path()) -> dict[str, float]:
    """Return ``train_hours`` of all phases of all generations, and ``self_play_games_per_hour`` of self-play."""
    times = read_times(folder)
    seconds = sum(sum(one.seconds.values()) for one in times)
    self_play, games = sum(one.seconds["self_play"] for one in times), sum(one.games for one in times)
    found = {"train_hours": seconds / 3600, "self_play_games_per_hour": 3600 * games / max(self_play, 1e-9)}
    return found if times else {}


KEPT = ("low", "high", "n", "profile", "seed", "data", "hardware", "date", "commit", "command", "player", "code")
ESTIMATE = ("ours", "low", "high", "n", "player")
MEASURED, OTHER_PARAMS, COMMITTED = "measured", "other params", ", committed"


def figures(folder: Path = Path(), run: bool = True) -> dict[str, dict[str, Row]]:
    """Return all figures as ``{system: {figure: row}}``.

    A row has ``words``, ``unit``, ``published``, and of the measurement that stands first: ``ours`` (the value),
    ``low`` and ``high`` (its 95 % interval), ``n``, ``ratio`` (ours / published), ``label``, ``profile``, ``seed``,
    ``data``, ``hardware``, ``date``, ``commit``, ``command`` (to measure it again), ``player`` (what was measured, in
    words), ``code`` (digest of the stage's code) and ``from`` (graph or measured).
    ``label`` is the profile of params.yaml for a figure of the graph (`OTHER_PARAMS` if its stage last ran with
    other params), the name of a profile for a committed run at that profile (with `COMMITTED` behind it, if the graph's
    own has that name), else `MEASURED`.
    ``others`` has the rows of all measurements but the first. Unknown fields are null: a figure that is not measured
    yet has only words, unit, published value and command. Without ``run`` only committed files are read, which are the
    same in every checkout.

    Raises:
        ZugwerkError: a metrics file, a committed measurement or params.yaml cannot be read.
    """
    params = read_tree(folder / "params.yaml")
    profiles, times = profile_measurements(folder), timed_figures(folder) if run else {}
    found: dict[str, dict[str, Row]] = {}
    for system, rows in REGISTRY.items():
        own = system_measurements(folder, system)
        found[system] = {}
        for name, figure in rows.items():
            graph = _from_graph(figure, folder, params, times) if run else {"value": None}
            label = "" if graph["value"] is None else graph["profile"] or OTHER_PARAMS
            remake = {"command": f"dvc repro {figure.stage}" if figure.stage else f"make measure-{system}"}
            rest = []
            for profile, tree in profiles.items():
                if kept := tree.get(system, {}).get(name):
                    again = profile + COMMITTED * (profile == label)
                    rest.append(_row(figure, remake | {"profile": profile} | kept, again))
            if label:
                rest.append(_row(figure, remake | graph, label, "graph"))
            if name in own:
                rest.append(_row(figure, remake | own[name], _label(own[name].get("profile"))))
            committed = profiles.get(LAPTOP, {}).get(system, {}).get(name, {})
            code = graph.get("code") or committed.get("code")
            rest.sort(key=partial(_rank, figure=figure, code=code), reverse=True)
            rest = rest or [_row(figure, remake, "")]
            found[system][name] = rest[0] | {"others": rest[1:]}
    return found


def of_the_graph(row: Row, profile: str | None = None) -> Row | None:
    """Return the graph's measurement of a figure, else that of the committed run of a profile, else None."""
    rows = (row, *row["others"])
    own = (one for one in rows if one["from"] == "graph")
    return next(own, next((one for one in rows if profile and one["label"] == profile), None))


def _rank(row: Row, figure: Figure, code: str | None) -> tuple[bool, bool, bool, str, int]:
    """Sort key of a measurement, largest first; ``code`` is the digest of the graph's code."""
    own = row["from"] == "graph"
    other_code = bool(figure.player) and not own and (row["code"] is None or row["code"] != code)
    own_choices = not (figure.trained and row["player"])
    return own, own_choices, not other_code, row["date"] or "" if other_code else "", row["n"] or 0


def _label(profile: str | None) -> str:
    """Return the label of a measurement outside the graph."""
    return MEASURED if profile in (None, "committed measurement", LAPTOP) else profile


def _row(figure: Figure, found: Row, label: str, source: str = "measured") -> Row:
    ours, published = found.get("value", found.get("ours")), figure.published
    found = found | {"low": None, "high": None} if figure.one_run else found
    return {
        "words": figure.words,
        "unit": figure.unit,
        "published": published,
        "ours": ours,
        "ratio": ours / published if ours is not None and published else None,
        "label": label or None,
        "from": None if ours is None else source,
        **{key: found.get(key) for key in KEPT},
    }


def _from_graph(figure: Figure, folder: Path, params: Row, times: dict[str, float]) -> Row:
    """Return a figure from the metrics; ``value`` is None if they lack it or the words do not fit the params."""
    file, key = metric_of(figure, params)
    path = folder / file
    found: Any = times.get(figure.timing)
    if not figure.timing:
        found = at(read_json(path), key) if path.is_file() else None
    made = origin(path, params)
    named = {key: at(params, key) for key in PLACE.findall(figure.path)} if made.values else {}
    made_with = tree_of(named | made.values)
    about: Row = {"code": made.code}
    if found is None or any(at(made_with, key) not in (None, value) for key, value in figure.named.items()):
        return {"value": None} | about
    estimate = found if isinstance(found, dict) else {"value": found}
    about["profile"] = params.get("profile") if made.current else None
    about["seed"] = made.values.get("seed")
    words = figure.player or figure.trained
    about["player"] = (words(made_with) if words else "") or None
    return estimate | about | {"data": _words(figure.data, folder, made_with)}


PLACE = re.compile(r"\{([\w.]+)\}")  # Of a value of params.yaml in `Figure.path`


def metric_of(figure: Figure, params: Row) -> tuple[str, str]:
    """Return the file of metrics or times that has a figure (the last report for all generations), and its key."""
    if figure.timing:
        return f"{GENERATIONS}/{len(params.get('gomoku_generations', ())) + 1:02d}.json", ""
    file = PLACE.sub(lambda key: str(at(params, key[1])), figure.path or figure.times)
    return file, figure.key


def _words(data: str | Counted | Words, folder: Path, made_with: Mapping[str, Any]) -> str | None:
    """Return the origin of the data in words."""
    if isinstance(data, str):
        return data or None
    if not isinstance(data, Counted):
        return data(made_with) or None
    path = folder / data.path
    counts = at(read_json(path), data.key) if path.is_file() else None
    if not counts:
        return None
    return " and ".join(data.words[name] for name, count in sorted(counts.items()) if count)


# Figures in words.


def with_unit(words: str, unit: str) -> str:
    """Return a figure's words, with the unit if the words do not imply it."""
    return f"{words}, {unit}" if unit in ("hours", "microseconds", "seconds", "squares left") else words


def number(value: float | None, unit: str = "", like: float | None = None) -> str:
    """Return a figure as text: counts in full, shares to three decimals, others with those that ``like`` has.

    ``like`` is the value next to which this one stands, by default itself; it has three digits or more.
    """
    if value is None:
        return "-"
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 100):
        return f"{int(value):,}"
    if unit in ("score", "fraction", "F1", "squared error") or unit.startswith("fraction"):
        return f"{value:.3f}"
    like = abs(like or value)
    return f"{value:,.{max(0, 2 - math.floor(math.log10(like))) if like else 0}f}"


def interval(row: dict[str, Any]) -> str:
    """Return a figure's 95 % interval as text, ``-`` without one."""
    ends = [number(row[end], row["unit"], row["ours"]) for end in ("low", "high")]
    return "-" if row["low"] is None else " to ".join(ends)


# Figures of a run that git keeps.


SMALL = frozenset({".csv", ".json"})
MOST_OWN = 2  # Largest number of own values in the name of a file
IN_NAMES = " " + "".join(sorted(set(string.punctuation) - {"/", "%"}))  # Signs that a file's name has as they are


def keep(folder: Path = Path()) -> tuple[Path, int]:
    """Write the graph's figures at the profile of params.yaml to ``docs/measured/<profile>.json``; also count them.

    Where params.yaml departs from the profile, the file is ``<profile>,<key>=<value>.json``, and where it lacks a key
    ``<profile>,~<key>.json``; a slash in a value is ``%2F``. Figures in the file that the graph has not made at this
    profile stay, so that the systems of a night can be made, and kept, one by one.

    Raises:
        ZugwerkError: params.yaml departs from the profile in more keys than a name holds, or nothing was made at it; a
            file is damaged.
    """
    profile = str(read_tree(folder / PARAMS_FILE)["profile"])
    own = {key: value for key, value in own_values(folder).items() if key.split(".")[0].strip("~") not in NO_RESULTS}
    if len(own) > MOST_OWN:
        what = f"not the values of the profile {profile}; a file of their own below {PROFILES} makes them a profile"
        raise ZugwerkError(f"{folder / PARAMS_FILE}: {', '.join(own)}: {what}")
    changes = [key if key.startswith("~") else f"{key}={value}" for key, value in own.items()]
    label = ",".join([profile, *(quote(change, IN_NAMES) for change in changes)])
    run = " ".join(["dvc exp run", *(f"-S {shlex.quote(change)}" for change in changes)]) if changes else "dvc repro"
    about = {
        "commit": commit(folder, CODE),
        "hardware": hardware(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    kept, count, made_now = dict(profile_measurements(folder).get(label, {})), 0, set[str]()
    for system, rows in figures(folder).items():
        for name, row in rows.items():
            made = of_the_graph(row)
            if made is None or made["label"] != profile:
                continue
            values = {key: made[key] for key in (*ESTIMATE, "data", "code", "seed")}
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
    other = "" if states[SAME] == total else f" (bits differ{'' if machines == {hardware()} else BETWEEN})"
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

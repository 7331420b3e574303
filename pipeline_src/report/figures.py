"""Read the registry's figures: from the metrics of the last `dvc repro`, and from the committed measurements.

A figure may have several measurements: by the graph's last run in the checkout, by committed runs of each profile, and
outside the graph, in matches of thousands of games or on real records. The checkout's own run comes first, then the
measurement with the largest n. Of a figure that names its player, what other code has measured than the graph's comes
behind, the newest first; without a run, other code than that of the laptop's committed run.
"""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping
from functools import cache, partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.params import PARAMS_FILE, at, read_tree
from pipeline_src.project.systems import Counted, Figure, Words, systems

# All systems and their headline figures, as they declare them (`project.systems`).


SYSTEMS = systems()
REGISTRY = {name: system.figures for name, system in SYSTEMS.items()}


# Answers from dvc.lock: with which params a figure, and all that it comes from, was made.


READS, BETWEEN_S, WRITING_S = 50, 0.3, 2.0
"""DVC writes its lock in place and in pieces, in about a second. A file that is older than `WRITING_S` is whole; of a
younger one two reads, `BETWEEN_S` apart, must be equal."""


class Lock:
    """The last run of each stage that the graph has with these params."""

    def __init__(self, folder: Path, params: Mapping[str, Any]) -> None:
        """Read dvc.lock and dvc.yaml of the checkout ``folder``; ``params`` are those of params.yaml.

        Raises:
            ZugwerkError: one of the files cannot be read, or has no stages.
        """
        graph = _stages(folder / "dvc.yaml")
        self._stages = {
            name: stage for name, stage in _stages(folder / "dvc.lock").items() if _is_there(name, graph, params)
        }
        self._folder, self._params = folder, params
        self._outs = {out["path"]: (name, out) for name, stage in self._stages.items() for out in stage.get("outs", ())}
        self._is_current, self._is_other = cache(self._find), cache(self._compare)

    def is_current(self, file: str, stage: str) -> bool:
        """Whether a file of a stage was last made with the values of params.yaml, and from files that were.

        A file with other bytes than dvc.lock has of it, as another run left it, is not. A file that is not an output in
        dvc.lock, such as one of times, is current if all items of its stage are.
        """
        if self._is_other(file):
            return False
        items = [name for name in self._stages if name.split("@")[0] == stage]
        made_by = [self._outs[file][0]] if file in self._outs else items
        return bool(made_by) and all(map(self._is_current, made_by))

    def params_of(self, file: str, stage: str) -> Mapping[str, Any]:
        """Return the params that made a file, as far as they are known: if it is not current, its own stage's alone."""
        if self.is_current(file, stage):
            return self._params
        tree: dict[str, Any] = {}
        for key, value in self._read(file, stage, "params.yaml").items():  # dotted keys, as dvc.yaml lists them
            *sections, name = key.split(".")
            reduce(lambda inner, section: inner.setdefault(section, {}), sections, tree)[name] = value
        return tree

    def code_of(self, file: str, stage: str) -> str | None:
        """Return the digest of the code that made a file of a stage; None if it is not known."""
        found = self._read(file, stage, "artifacts/code.json")
        digest: str | None = found.get(f"code.{stage}", found.get(stage))  # the second in locks of earlier versions
        return digest

    def digests(self, folder: str) -> dict[str, str]:
        """Return the MD5 of each output below a folder, by its path; that of a folder ends in ``.dir``."""
        return {path: out["md5"] for path, (_, out) in self._outs.items() if path.startswith(folder) and "md5" in out}

    def _read(self, file: str, stage: str, params_file: str) -> Mapping[str, Any]:
        """The values that the stage behind a file has read from a file of params; none if another run made the file."""
        if self._is_other(file):
            return {}
        made_by = self._stages.get(self._outs[file][0] if file in self._outs else stage, {})
        found: Mapping[str, Any] = made_by.get("params", {}).get(params_file, {})
        return found

    def _compare(self, file: str) -> bool:
        """Whether a file is there, with another MD5 than dvc.lock has; False for files within an output folder."""
        _, out = self._outs.get(file, ("", {}))
        path = self._folder / file
        if "md5" not in out or not path.is_file():
            return False
        return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() != str(out["md5"])

    def _find(self, name: str) -> bool:
        stage = self._stages[name]
        own = stage.get("params", {}).get("params.yaml", {})
        if any(at(self._params, key) != value for key, value in own.items()):
            return False
        return all(
            self._is_current(maker) and (out["path"] != dep["path"] or out.get("md5") == dep.get("md5"))
            for dep in stage.get("deps", ())
            for maker, out in self._behind(dep["path"])
        )

    def _behind(self, dep: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The stages that made a stage's inputs, with the outputs of each."""
        for path, made in self._outs.items():
            if path == dep or path.startswith(f"{dep}/") or dep.startswith(f"{path}/"):
                yield made


def _stages(path: Path) -> dict[str, Any]:
    """Return the stages of dvc.lock or dvc.yaml; none without the file.

    Raises:
        ZugwerkError: it has conflict markers, is not YAML, has no stages, or does not come to rest.
    """
    before, wrong = "", ZugwerkError(f"{path}: another process keeps writing it; try again when that has ended")
    for _ in range(READS):
        if not path.exists():
            return {}
        whole = time.time() - path.stat().st_mtime > WRITING_S
        text = path.read_text(encoding="utf-8", errors="replace")
        yaml12.refuse_conflict(text, path)
        if whole or text == before:
            try:
                return _parsed(text, path)
            except ZugwerkError as error:
                wrong = error
        if whole:
            break
        before = text
        time.sleep(BETWEEN_S)
    raise wrong


def _parsed(text: str, path: Path) -> dict[str, Any]:
    restore = "`git checkout` it, or see `dvc status`"
    try:
        tree = yaml12.parse(text, path)
    except ZugwerkError as error:
        raise ZugwerkError(f"{error}; {restore}") from None
    stages = tree.get("stages") if isinstance(tree, dict) else None
    if not isinstance(stages, dict) or not all(isinstance(stage, dict) for stage in stages.values()):
        raise ZugwerkError(f"{path}: no stages; {restore}")
    return stages


def _is_there(name: str, graph: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    """Whether the graph has a stage; dvc.lock keeps items that a ``foreach`` has no more."""
    stage, _, item = name.partition("@")
    items = re.fullmatch(r"\$\{(.+)\}", str(graph.get(stage, {}).get("foreach")))
    return not item or not items or item in map(str, at(params, items[1]) or ())


# Read the committed measurements below docs/measured, in two kinds of files.
#
# - ``docs/measured/<system>.json``, ``{figure: {value, low, high, n, profile, data, hardware, date, command}}``:
#   clocked matches, several seeds, real records. Keys outside the registry hold tables.
# - ``docs/measured/<profile>.json``, ``{system: {figure: {ours, low, high, n, command, commit, date}}}``: the figures
#   of one run of the graph at that profile. A file is of this kind if one of its keys is a system.


FOLDER = Path("docs/measured")
Row = dict[str, Any]


def system_measurements(folder: Path, system: str) -> Row:
    """Return the file of a system; empty if it has none.

    Raises:
        ZugwerkError: the file is damaged.
    """
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
    """Return the JSON value in a file that git has, and no stage makes.

    Raises:
        ZugwerkError: it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ZugwerkError(f"{path}: not valid JSON ({error}); `git checkout` it") from None


# Times of Gomoku's generations. They are not among the metrics, since they differ from run to run.


REPORTS = Path("artifacts/reports/gomoku/generations")


class GenerationTime(NamedTuple):
    """Times of one generation."""

    number: int
    seconds: dict[str, float]  # Seconds by phase: self_play, train, gate
    games: int  # Number of games of its self-play


def read_times(folder: Path = Path()) -> list[GenerationTime]:
    """Return the times of the generations in params.yaml; empty if one has no timings yet.

    Raises:
        ZugwerkError: a file is damaged.
    """
    later = read_tree(folder / PARAMS_FILE).get("gomoku_generations")
    if later is None:
        return []
    found = []
    for number in range(1, len(later) + 2):
        report = folder / REPORTS / f"{number:02d}.json"
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
    if not times:
        return {}
    seconds = sum(sum(one.seconds.values()) for one in times)
    self_play = sum(one.seconds["self_play"] for one in times)
    games = sum(one.games for one in times)
    return {"train_hours": seconds / 3600, "self_play_games_per_hour": 3600 * games / max(self_play, 1e-9)}


KEPT = ("low", "high", "n", "profile", "seed", "data", "hardware", "date", "commit", "command", "player", "code")
ESTIMATE = ("ours", "low", "high", "n", "player")
MEASURED, OTHER_PARAMS, COMMITTED = "measured", "other params", ", committed"
LAPTOP = "laptop"  # The profile that params.yaml has in git


def figures(folder: Path = Path(), run: bool = True) -> dict[str, dict[str, Row]]:
    """Return all figures as ``{system: {figure: row}}``.

    A row has ``words``, ``unit``, ``published``, and of the measurement that stands first: ``ours`` (the value),
    ``low`` and ``high`` (its 95 % interval), ``n``, ``ratio`` (ours / published), ``label``, ``profile``, ``seed``,
    ``data``, ``hardware``, ``date``, ``commit``, ``command`` (to measure it again), ``player`` (what was measured, in
    words), ``code`` (digest of the stage's code) and ``from`` (graph or measured).
    ``label`` is the profile of params.yaml for a figure of the graph (`OTHER_PARAMS` if its stage last ran with
    other params), the name of a profile for a committed run at that profile (with `COMMITTED` behind it, if the graph's
    own has that name), else `MEASURED`.
    ``profiles`` is ``{label: {ours, low, high, n, player}}`` of all measurements, and ``others`` has the rows of all
    but the first. ``measured``, the first committed one among these, is kept for one more version. Unknown fields are
    null: a figure that is not measured yet has only words, unit, published value and command.

    Args:
        folder: a checkout, or a copy of its metrics, measurements, params.yaml and dvc.lock.
        run: whether to read the last run; otherwise only committed files, which are the same in every checkout.

    Raises:
        ZugwerkError: a metrics file, a committed measurement or params.yaml cannot be read.
    """
    params = read_tree(folder / "params.yaml")
    lock = Lock(folder, params)
    profiles, times = profile_measurements(folder), timed_figures(folder) if run else {}
    found: dict[str, dict[str, Row]] = {}
    for system, rows in REGISTRY.items():
        own = system_measurements(folder, system)
        found[system] = {}
        for name, figure in rows.items():
            graph = _from_graph(figure, folder, params, lock, times)
            if not run:
                graph["value"] = None
            label = "" if graph["value"] is None else graph["profile"] or OTHER_PARAMS
            remake = {"command": graph["command"] or f"make measure-{system}"}
            rest = [
                _row(
                    figure, remake | {"profile": profile} | tree[system][name], profile + COMMITTED * (profile == label)
                )
                for profile, tree in profiles.items()
                if name in tree.get(system, {})
            ]
            if label:
                rest.append(_row(figure, graph, label, "graph"))
            if name in own:
                rest.append(_row(figure, remake | own[name], _label(own[name].get("profile"))))
            committed = profiles.get(LAPTOP, {}).get(system, {}).get(name, {})
            code = lock.code_of(metric_of(figure, params)[0], figure.stage) if run else committed.get("code")
            rest.sort(key=partial(_rank, figure=figure, code=code), reverse=True)
            rest = rest or [_row(figure, remake, "")]
            by_label: dict[str, Row] = {}
            for row in rest:
                if row["label"]:
                    by_label.setdefault(row["label"], {key: row[key] for key in ESTIMATE})
            behind: Row = {"profiles": by_label, "others": rest[1:]}
            behind["measured"] = next((row for row in rest[1:] if row["from"] == "measured"), None)
            found[system][name] = rest[0] | behind
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


def _from_graph(figure: Figure, folder: Path, params: Row, lock: Lock, times: dict[str, float]) -> Row:
    """Return a figure from the metrics; ``value`` is None if they lack it or the words do not fit the params.

    ``command`` is empty if no stage makes it.
    """
    file, key = metric_of(figure, params)
    path = folder / file
    found: Any = times.get(figure.timing)
    if not figure.timing:
        found = at(read_json(path), key) if file and path.exists() else None
    command = f"dvc repro {figure.stage}" if figure.stage else ""
    made_with = lock.params_of(file, figure.stage)
    if found is None or any(at(made_with, key) not in (None, value) for key, value in figure.named.items()):
        return {"value": None, "command": command}
    estimate = found if isinstance(found, dict) else {"value": found}
    current = lock.is_current(file, figure.stage)
    made_by = {key: params.get(key) if current else None for key in ("profile", "seed")}
    words = figure.player or figure.trained
    made_by["player"] = (words(made_with) if words else "") or None
    made_by["code"] = lock.code_of(file, figure.stage)
    return estimate | made_by | {"data": _words(figure.data, folder, made_with), "command": command}


def metric_of(figure: Figure, params: Row) -> tuple[str, str]:
    """Return the file of metrics or times that has a figure, with these params, and its dotted key in the file."""
    file = re.sub(r"\{([\w.]+)\}", lambda key: str(at(params, key[1])), figure.path or figure.times)
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

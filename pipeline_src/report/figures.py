"""Read the registry's figures: from the metrics of the last `dvc repro`, and from the committed measurements.

A figure may have several measurements: by the graph at the profile of params.yaml, at other profiles, and outside the
graph, in matches of thousands of games or on real records. The measurement with the largest n comes first. Of a figure
that names its player, what other code has measured than the graph's comes behind, the newest first.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pipeline_src.files import read_json
from pipeline_src.project.params import read_tree
from pipeline_src.report import generation_times
from pipeline_src.report.lock import Lock, at
from pipeline_src.report.measurements import profile_measurements, system_measurements
from pipeline_src.report.registry import REGISTRY, Counted, Figure, Words

Row = dict[str, Any]

KEPT = ("low", "high", "n", "profile", "seed", "data", "hardware", "date", "commit", "command", "player", "code")
ESTIMATE = ("ours", "low", "high", "n", "player")
MEASURED, OTHER_PARAMS = "measured", "other params"


def figures(folder: Path = Path(), times: bool = True) -> dict[str, dict[str, Row]]:
    """Return all figures as ``{system: {figure: row}}``.

    A row has ``words``, ``unit``, ``published``, and of the measurement that stands first: ``ours`` (the value),
    ``low`` and ``high`` (its 95 % interval), ``n``, ``ratio`` (ours / published), ``label``, ``profile``, ``seed``,
    ``data``, ``hardware``, ``date``, ``commit``, ``command`` (to measure it again), ``player`` (what was measured, in
    words), ``code`` (digest of the stage's code) and ``from`` (graph or measured).
    ``label`` is the profile of params.yaml for a figure of the graph (`OTHER_PARAMS` if its stage last ran with
    other params), the name of another profile for a measurement at that profile, else `MEASURED`.
    ``profiles`` is ``{label: {ours, low, high, n, player}}`` of all measurements, and ``others`` has the rows of all
    but the first. ``measured``, the first committed one among these, is kept for one more version. Unknown fields are
    null: a figure that is not measured yet has only words, unit, published value and command.

    Args:
        folder: a checkout, or a copy of its metrics, measurements, params.yaml and dvc.lock.
        times: whether to read the times of the last run, which are not in git.

    Raises:
        ZugwerkError: a metrics file, a committed measurement or params.yaml cannot be read.
    """
    params = read_tree(folder / "params.yaml")
    lock = Lock(folder, params)
    profiles, run_times = profile_measurements(folder), generation_times.figures(folder) if times else {}
    found: dict[str, dict[str, Row]] = {}
    for system, rows in REGISTRY.items():
        own = system_measurements(folder, system)
        found[system] = {}
        for name, figure in rows.items():
            graph = _from_graph(figure, folder, params, lock, run_times)
            if figure.times and not times:
                graph["value"] = None
            remake = {"command": graph["command"] or f"make measure-{system}"}
            rest = [
                _row(figure, remake | {"profile": profile} | tree[system][name], profile)
                for profile, tree in profiles.items()
                if name in tree.get(system, {})
            ]
            if graph["value"] is not None:
                rest.append(_row(figure, graph, graph["profile"] or OTHER_PARAMS, "graph"))
            if name in own:
                rest.append(_row(figure, remake | own[name], _label(own[name].get("profile"), params)))
            code = lock.code_of(metric_of(figure, params)[0], figure.stage)
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


def of_the_graph(row: Row) -> Row | None:
    """Return the graph's measurement of a figure, or None."""
    return next((one for one in (row, *row["others"]) if one["from"] == "graph"), None)


def _rank(row: Row, figure: Figure, code: str | None) -> tuple[bool, str, int]:
    """Return what is larger of the measurement that stands first; ``code`` is the digest of the graph's code."""
    other_code = bool(figure.player) and row["from"] == "measured" and (row["code"] is None or row["code"] != code)
    return not other_code, row["date"] or "" if other_code else "", row["n"] or 0


def _label(profile: str | None, params: Row) -> str:
    """Return the label of a committed measurement. The profile of params.yaml is the label of the graph's own."""
    return MEASURED if profile in (None, "committed measurement", params.get("profile")) else str(profile)


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
    made_by["player"] = (figure.player(made_with) if figure.player else "") or None
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

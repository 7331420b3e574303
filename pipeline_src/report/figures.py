"""Read the registry's figures: from the metrics of the last `dvc repro`, and from the committed measurements.

A figure may have several measurements: by the graph's last run in the checkout, by committed runs of each profile, and
outside the graph, in matches of thousands of games or on real records. The checkout's own run comes first, then the
measurement with the largest n. Of a figure that names its player, what other code has measured than the graph's comes
behind, the newest first; without a run, other code than that of the laptop's committed run.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pipeline_src.files import read_json
from pipeline_src.project.params import at, read_tree
from pipeline_src.project.systems import Counted, Figure, Words
from pipeline_src.report import generation_times
from pipeline_src.report.lock import Lock
from pipeline_src.report.measurements import profile_measurements, system_measurements
from pipeline_src.report.registry import REGISTRY

Row = dict[str, Any]

KEPT = ("low", "high", "n", "profile", "seed", "data", "hardware", "date", "commit", "command", "player", "code")
ESTIMATE = ("ours", "low", "high", "n", "player")
MEASURED, OTHER_PARAMS, COMMITTED = "measured", "other params", ", committed"
LAPTOP = "laptop"
"""The profile that params.yaml has in git."""


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
    profiles, times = profile_measurements(folder), generation_times.figures(folder) if run else {}
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

"""Read the registry's figures: from the metrics of the last `dvc repro`, and from the committed measurements.

docs/measured/<system>.json is ``{figure: {value, low, high, n, profile, data, hardware, date, command}}``: clocked
matches, many seeds, published sizes, real records.
"""

import re
from pathlib import Path
from typing import Any

import yaml

from pipeline_src.files import read_json
from pipeline_src.project.params import read_tree
from pipeline_src.report import generation_times
from pipeline_src.report.registry import REGISTRY, Counted, Figure

Row = dict[str, Any]


KEPT = ("low", "high", "n", "profile", "seed", "data", "hardware", "date", "command")


def figures(folder: Path = Path()) -> dict[str, dict[str, Row]]:
    """All figures, ``{system: {figure: row}}``.

    A row has ``words``, ``unit``, ``published``, and of ours: ``ours`` (the value), ``low`` and ``high`` (its 95 %
    interval), ``n``, ``ratio`` (ours / published), ``profile``, ``seed``, ``data``, ``hardware``, ``date``, ``command``
    (which makes it again) and ``from``: graph, or measured. Where both have the figure the row is the graph's, and its
    ``measured`` is the row of the measurement, else null. What is not known, or does not depend on it, is null; of a
    figure that has not been made yet that is all but the words, the unit, the published value and the command.

    Raises:
        ZugwerkError: a metrics file or params.yaml cannot be read.
    """
    params, locked = read_tree(folder / "params.yaml"), _locked_params(folder)
    times = generation_times.figures(folder)
    found: dict[str, dict[str, Row]] = {}
    for system, rows in REGISTRY.items():
        path = folder / "docs/measured" / f"{system}.json"
        measurements = read_json(path) if path.exists() else {}
        found[system] = {}
        for name, figure in rows.items():
            graph = _from_graph(figure, folder, params, locked, times)
            command = graph["command"] or f"make measure-{system}"
            measured = {"command": command} | measurements.get(name, {})
            made = graph["value"] is not None
            row = _row(figure, graph if made else measured, "graph" if made else "measured")
            row["measured"] = _row(figure, measured, "measured") if made and name in measurements else None
            found[system][name] = row
    return found


def _row(figure: Figure, found: Row, source: str) -> Row:
    ours, published = found.get("value"), figure.published
    return {
        "words": figure.words,
        "unit": figure.unit,
        "published": published,
        "ours": ours,
        "ratio": ours / published if ours is not None and published else None,
        "from": None if ours is None else source,
        **{key: found.get(key) for key in KEPT},
    }


def _from_graph(figure: Figure, folder: Path, params: Row, locked: dict[str, Row], times: dict[str, float]) -> Row:
    """A figure as the metrics have it, ``value`` null where they do not; ``command`` empty if no stage makes it."""
    found: Any
    if figure.timing:
        found = times.get(figure.timing)
    else:
        file, key = metric_of(figure, params)
        path = folder / file
        found = _at(read_json(path), key) if file and path.exists() else None
    command = f"dvc repro {figure.stage}" if figure.stage else ""
    if found is None:
        return {"value": None, "command": command}
    estimate = found if isinstance(found, dict) else {"value": found}
    current = _is_current(figure.stage, params, locked)
    made_by = {key: params.get(key) if current else None for key in ("profile", "seed")}
    return estimate | made_by | {"data": _words(figure.data, folder), "command": command}


def metric_of(figure: Figure, params: Row) -> tuple[str, str]:
    """The file of metrics, or of times, that a figure is read from, with these params, and its dotted key there."""
    file = re.sub(r"\{([\w.]+)\}", lambda key: str(_at(params, key[1])), figure.path or figure.times)
    return file, figure.key


def _at(tree: Any, key: str) -> Any:
    for part in key.split("."):
        if not isinstance(tree, dict) or part not in tree:
            return None
        tree = tree[part]
    return tree


def _words(data: str | Counted, folder: Path) -> str | None:
    """Where the data came from."""
    if isinstance(data, str):
        return data or None
    path = folder / data.path
    counts = _at(read_json(path), data.key) if path.is_file() else None
    if not counts:
        return None
    return " and ".join(data.words[name] for name, count in sorted(counts.items()) if count)


def _locked_params(folder: Path) -> dict[str, dict[str, Any]]:
    """Params that each stage last ran with, by stage, without the ``@item`` of a foreach."""
    path = folder / "dvc.lock"
    if not path.exists():
        return {}
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, and a lock is long
    stages = (yaml.load(path.read_text(encoding="utf-8"), loader) or {}).get("stages", {})  # noqa: S506 - both are safe
    return {name.split("@")[0]: stage.get("params", {}).get("params.yaml", {}) for name, stage in stages.items()}


def _is_current(stage: str, params: dict[str, Any], locked: dict[str, dict[str, Any]]) -> bool:
    """Whether the stage last ran with what params.yaml says now; if not, its profile is not the file's."""
    return stage in locked and all(_at(params, key) == value for key, value in locked[stage].items())

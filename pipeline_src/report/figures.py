"""Read the registry's figures: from the metrics of the last `dvc repro`, else from the committed measurements.

docs/measured/<system>.json is ``{figure: {value, low, high, n, profile, data, hardware, date, command}}``.
"""

from pathlib import Path
from typing import Any

import yaml

from pipeline_src.files import read_json
from pipeline_src.params.load import read_tree
from pipeline_src.report.registry import REGISTRY, Figure

Row = dict[str, Any]


def figures(folder: Path = Path()) -> dict[str, dict[str, Row]]:
    """All figures, ``{system: {figure: {ours, low, high, published, unit, n, profile, data, command}}}``.

    A figure that has not been made yet has null for ``ours`` and all that belongs to it.

    Raises:
        ZugwerkError: a metrics file or params.yaml cannot be read.
    """
    params = read_tree(folder / "params.yaml")
    locked, data = _locked_params(folder), _data(folder)
    found: dict[str, dict[str, Row]] = {}
    for system, rows in REGISTRY.items():
        measured = _measurements(folder, system)
        found[system] = {
            name: _row(figure, folder, params, locked, data, measured.get(name)) for name, figure in rows.items()
        }
    return found


def _measurements(folder: Path, system: str) -> dict[str, Row]:
    path = folder / "docs/measured" / f"{system}.json"
    return read_json(path) if path.exists() else {}


def _row(
    figure: Figure,
    folder: Path,
    params: dict[str, Any],
    locked: dict[str, dict[str, Any]],
    data: str | None,
    measured: Row | None,
) -> Row:
    loss = params.get("amazons_match", {}).get("loss", "")
    path = folder / figure.path.format(loss=loss)
    found = _at(read_json(path), figure.key) if path.exists() else None
    estimate = found if isinstance(found, dict) else {"value": found}
    ours = estimate.get("value")
    if ours is None and measured is not None:
        profile, data, command = (measured.get(key) for key in ("profile", "data", "command"))
        estimate, ours = measured, measured.get("value")
    else:
        profile = params.get("profile") if ours is not None and _is_current(figure.stage, params, locked) else None
        data, command = data if ours is not None else None, figure.command
    return {
        "ours": ours,
        "low": estimate.get("low"),
        "high": estimate.get("high"),
        "published": figure.published,
        "unit": figure.unit,
        "n": estimate.get("n"),
        "profile": profile,
        "data": data,
        "command": command,
    }


def _at(tree: Any, key: str) -> Any:
    for part in key.split("."):
        if not isinstance(tree, dict) or part not in tree:
            return None
        tree = tree[part]
    return tree


def _data(folder: Path) -> str | None:
    """Where the games came from, in words."""
    path = folder / "artifacts/reports/amazons/samples.json"
    sources = _at(read_json(path), "sources") if path.exists() else None
    if not sources:
        return None
    words = {"engine": "engine games", "littlegolem": "LittleGolem", "file": "files"}
    return " and ".join(words[name] for name, games in sorted(sources.items()) if games)


def _locked_params(folder: Path) -> dict[str, dict[str, Any]]:
    """Params that each stage last ran with, by stage, without the ``@item`` of a foreach."""
    path = folder / "dvc.lock"
    if not path.exists():
        return {}
    stages = (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("stages", {})
    return {name.split("@")[0]: stage.get("params", {}).get("params.yaml", {}) for name, stage in stages.items()}


def _is_current(stage: str, params: dict[str, Any], locked: dict[str, dict[str, Any]]) -> bool:
    """Whether the stage last ran with what params.yaml says now; if not, its profile is not the file's."""
    return stage in locked and all(_at(params, key) == value for key, value in locked[stage].items())

"""Read the committed measurements below docs/measured, in two kinds of files.

- ``docs/measured/<system>.json``, ``{figure: {value, low, high, n, profile, data, hardware, date, command}}``: clocked
  matches, several seeds, real records. Keys outside the registry hold tables.
- ``docs/measured/<profile>.json``, ``{system: {figure: {ours, low, high, n, command, commit, date}}}``: the figures of
  one run of the graph at that profile. A file is of this kind if one of its keys is a system.
"""

import json
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.report.registry import REGISTRY

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
                raise ZugwerkError(f"{path}: {what}: not in the registry of figures; docs/reference/metrics.md has it")
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

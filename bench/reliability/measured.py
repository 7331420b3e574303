"""docs/measured/reliability.json, which several commands fill, each with its own figures."""

import datetime
from collections.abc import Mapping
from pathlib import Path

from pipeline_src.files import read_json, write_json
from pipeline_src.report.provenance import hardware

OUT = Path("docs/measured/reliability.json")


def publish(figures: Mapping[str, float | None], n: int, command: str, data: str, path: Path = OUT) -> None:
    """Put figures that count something among the file's others.

    Args:
        figures: value by name.
        n: what they were counted among.
        command: that makes them.
        data: where the data came from, in words.
        path: of the file.
    """
    about = {
        "low": None,
        "high": None,
        "n": n,
        "profile": "smoke",
        "data": data,
        "hardware": hardware(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": command,
    }
    known = read_json(path) if path.exists() else {}
    write_json(path, known | {name: {"value": value} | about for name, value in figures.items()})

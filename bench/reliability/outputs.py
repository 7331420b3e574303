"""What a run of the graph left, as a hash by path; times and the report, which shows them, are left out."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import yaml

ARTIFACTS = "artifacts"


def report_paths(dvc_yaml: Path) -> list[str]:
    """Outputs of the stages whose name begins with ``report``: their pages show times and the commit."""
    stages = yaml.safe_load(dvc_yaml.read_text(encoding="utf-8"))["stages"]
    kinds = ("outs", "metrics", "plots")
    entries = [
        entry
        for name, stage in stages.items()
        if name.startswith("report")
        for kind in kinds
        for entry in stage.get("do", stage).get(kind, [])
    ]
    return [next(iter(entry)) if isinstance(entry, dict) else str(entry) for entry in entries]


def hash_outputs(checkout: Path) -> dict[str, str]:
    """sha256 of every file under ``artifacts`` by its path there, hidden leftovers included."""
    left_out = [checkout / path for path in report_paths(checkout / "dvc.yaml")]
    return {
        path.relative_to(checkout).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((checkout / ARTIFACTS).rglob("*"))
        if path.is_file()
        and not path.name.endswith(".timings.json")
        and path.name != ".gitignore"  # DVC's own; killed just before it writes a line there, it never does
        and not any(path == out or out in path.parents for out in left_out)
    }


def differing(found: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Paths that are in one alone, or whose bytes differ."""
    return sorted(path for path in found.keys() | wanted.keys() if found.get(path) != wanted.get(path))


def files_under(folder: Path) -> list[str]:
    """Files in a folder, by their path there; none where there is no folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

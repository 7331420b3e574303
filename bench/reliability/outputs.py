"""Hashes of the outputs of a run by path, without times and the report, which shows times."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import yaml

ARTIFACTS = "artifacts"


def report_paths(dvc_yaml: Path) -> list[str]:
    """Return the outputs of the stages with the prefix ``report``, whose pages show times and the commit."""
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
    """Return the sha256 of every file under ``artifacts`` by path, hidden leftovers included."""
    left_out = [checkout / path for path in report_paths(checkout / "dvc.yaml")]
    return {
        path.relative_to(checkout).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((checkout / ARTIFACTS).rglob("*"))
        if path.is_file()
        and not path.name.endswith(".timings.json")
        and path.name != ".gitignore"  # written by DVC, which does not repeat it after a kill
        and not any(path == out or out in path.parents for out in left_out)
    }


def differing(found: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """Return the paths that are in only one of both, or whose bytes differ."""
    return sorted(path for path in found.keys() | wanted.keys() if found.get(path) != wanted.get(path))


def files_under(folder: Path) -> list[str]:
    """Return the files in a folder by path; empty if there is no folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())

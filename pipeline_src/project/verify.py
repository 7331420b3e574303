"""Check that the files in DVC's cache and outputs still have the bytes of their hashes.

DVC compares sizes and times, and trusts read-only files in its cache, so it does not notice a flipped bit on disk. This
module reads everything.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.project.params import read_tree

LOCK = "dvc.lock"
Stages = dict[str, dict[str, list[dict[str, str]]]]
_DIGEST = re.compile(r"[0-9a-f]{32}(\.dir)?")


class Verified(NamedTuple):
    """Result of the check."""

    read: int  # Number of files read
    removed: list[Path]  # Damaged files that were removed from the cache, because their bytes did not match their names
    different: list[Path]  # Outputs with bytes that differ from dvc.lock


def verify(project: Path = Path()) -> Verified:
    """Read all of the cache and the outputs.

    Damaged files in the cache are removed, as DVC does when it notices them. Outputs that differ get a new time, so
    that DVC checks them again and `dvc status` names them. Outputs that are missing or not in dvc.lock are left to DVC.

    Raises:
        ZugwerkError: DVC is not installed or not set up in ``project``, or dvc.lock cannot be read.
        OSError: a file cannot be read or removed.
    """
    stages = _stages(project)
    if not (project / ".dvc").is_dir():
        raise ZugwerkError(
            f"{project / '.dvc'}: no such folder, so there is no cache; run in a clone or `dvc init` here"
        )
    cache = project / ask_dvc(project, "cache", "dir").strip() / "files/md5"
    kept = [path for path in sorted(cache.glob("??/*")) if _DIGEST.fullmatch(_digest_of(path))]
    removed = []
    for path in tqdm(kept, desc="cache", unit="file", disable=None):
        if _md5(path) != _digest_of(path).removesuffix(".dir"):
            path.unlink()
            removed.append(_below(path, project))
    expected = [(path, digest) for path, digest in _outputs(stages, project, cache) if path.is_file()]
    different = []
    for path, digest in tqdm(expected, desc="outputs", unit="file", disable=None):
        if _md5(path) != digest:
            os.utime(path)
            different.append(_below(path, project))
    return Verified(len(kept) + len(expected), removed, different)


def _outputs(stages: Stages, project: Path, cache: Path) -> Iterator[tuple[Path, str]]:
    """Return files and their MD5. The files of a folder are listed in the cache; without the list they are unknown."""
    for stage in stages.values():
        for out in stage.get("outs", ()):
            path, digest = project / out["path"], out["md5"]
            listing = cache / digest[:2] / digest[2:]
            if not digest.endswith(".dir"):
                yield path, digest
            elif listing.exists():
                yield from ((path / entry["relpath"], entry["md5"]) for entry in read_json(listing))


def _stages(project: Path) -> Stages:
    stages = read_tree(project / LOCK).get("stages")
    if not isinstance(stages, dict):
        raise ZugwerkError(f"{LOCK}: no stages; `git checkout {LOCK}` restores it")
    return stages


def _digest_of(path: Path) -> str:
    """Return the hash in the name of a cache file, whose first two digits are the folder."""
    return path.parent.name + path.name


def _md5(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _below(path: Path, project: Path) -> Path:
    """Return the path as a user of the project would give it."""
    return Path(os.path.relpath(path, project)) if path.is_relative_to(project.resolve()) else path

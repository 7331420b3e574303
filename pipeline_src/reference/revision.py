"""A version of the project (a commit, a DVC experiment or the working tree) as a folder with its small files."""

import io
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.report.lock import Lock

WORKSPACE = "workspace"
FILES = ("params.yaml", "dvc.yaml", "dvc.lock", "artifacts/reports", "docs/measured")
"""Files that `figures` and `metrics` read. git has the headline figures, and DVC's cache the other reports, if a
version was made in this checkout or pulled into it. Neither has times."""


@dataclass(frozen=True)
class Revision:
    """A version of which the files are in ``folder``."""

    name: str
    """Name given by the user; `WORKSPACE` is the working tree."""
    commit: str
    """Commit, 40 hex digits; HEAD for the working tree."""
    date: str
    """Date of the commit, ISO 8601."""
    subject: str
    """First line of the commit's message."""
    changed: bool
    """Whether this is the working tree and it differs from its commit."""
    folder: Path

    @property
    def for_dvc(self) -> str | None:
        """Name for DVC's commands, short enough for a plot's legend; None is the working tree."""
        return None if self.name == WORKSPACE else self.commit[:10]

    @property
    def title(self) -> str:
        """Return name and short commit, as in ``HEAD~3 (1a2b3c4)``."""
        return f"{self.name} ({self.commit[:7]}{' and changes' if self.changed else ''})"

    def params(self) -> dict[str, Any]:
        """Return all of params.yaml.

        Raises:
            ZugwerkError: the file is missing or not YAML.
        """
        return read_tree(self.folder / PARAMS_FILE)


@contextmanager
def opened(name: str, project: Path = Path()) -> Iterator[Revision]:
    """Yield a version of the project, with its files in a folder that is removed afterwards.

    Args:
        name: anything that git accepts as a commit, the name of an experiment (`dvc exp run -n NAME`), or `WORKSPACE`.
        project: the folder of dvc.yaml, in a git repository.

    Raises:
        ZugwerkError: git is not installed, this is no git repository, or the revision is unknown or has no metrics.
    """
    commit = _commit_of("HEAD" if name == WORKSPACE else name, project)
    date, subject = _git(project, "show", "--no-patch", "--format=%cI%n%s", commit).decode().split("\n")[:2]
    if name == WORKSPACE:
        changed = bool(_git(project, "status", "--porcelain", "--", ".").strip())
        yield _with_metrics(Revision(name, commit, date, subject, changed, project))
        return
    with TemporaryDirectory(prefix="zugwerk-") as folder:
        _extract(commit, project, Path(folder))
        yield _with_metrics(Revision(name, commit, date, subject, False, Path(folder)))


def _commit_of(name: str, project: Path) -> str:
    _git(project, "rev-parse", "--git-dir")
    try:
        return _resolved(name, project)
    except ZugwerkError:
        found = _experiments(name, project)
    if len(found) > 1:
        raise ZugwerkError(f"several experiments are called {name!r}; give one of {', '.join(found)}")
    if not found:
        raise ZugwerkError(f"git knows no revision {name!r}, and `dvc exp list --all-commits` no such experiment")
    return _resolved(found[0], project)


def _resolved(name: str, project: Path) -> str:
    return _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}").decode().strip()


def _experiments(name: str, project: Path) -> list[str]:
    """Return the refs of the experiments of a name: refs/exps/<2 digits>/<38 digits of the base commit>/<name>."""
    refs = _git(project, "for-each-ref", "--format=%(refname)", "refs/exps").decode().split()
    return [ref for ref in refs if ref.count("/") == 4 and ref.split("/")[4] == name]


def _extract(commit: str, project: Path, folder: Path) -> None:
    there = _git(project, "ls-tree", "-z", "--name-only", commit, "--", *FILES).decode().split("\0")
    paths = [path for path in there if path]
    if paths:
        # A zip, because tarfile can keep members inside the folder only from Python 3.11.4 on.
        with ZipFile(io.BytesIO(_git(project, "archive", "--format=zip", commit, "--", *paths))) as archive:
            archive.extractall(folder)
    params = read_tree(folder / PARAMS_FILE) if (folder / PARAMS_FILE).exists() else {}
    for path, digest in Lock(folder, params).digests("artifacts/reports/").items():
        _copy(_cache(project), digest, folder / path)


@cache
def _cache(project: Path) -> Path:
    return project / ask_dvc(project, "cache", "dir").strip() / "files/md5"


def _copy(cached: Path, digest: str, path: Path) -> None:
    """Copy an output that DVC's cache has, unless git has brought it."""
    kept = cached / digest[:2] / digest[2:]
    if digest.endswith(".dir"):
        for entry in read_json(kept) if kept.is_file() else ():
            _copy(cached, entry["md5"], path / entry["relpath"])
    elif kept.is_file() and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept, path)


def _with_metrics(revision: Revision) -> Revision:
    if not any(path.exists() for path in (revision.folder / "artifacts/reports").rglob("*.json")):
        raise ZugwerkError(f"{revision.title}: no metrics in artifacts/reports; `dvc repro` makes them")
    return revision


def _git(project: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=project, capture_output=True)  # noqa: S603, S607
    except FileNotFoundError:
        raise ZugwerkError("git is not installed; versions are compared through it") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ZugwerkError(f"git {words[0]}: {said[0] if said else f'status {done.returncode}'}")
    return done.stdout

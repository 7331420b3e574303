"""A version of the project: a commit, an experiment of DVC's, or the working tree, as a folder with its small files."""

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import PARAMS_FILE, read_tree

WORKSPACE = "workspace"
FILES = ("params.yaml", "dvc.lock", "artifacts/reports", "docs/measured")
"""Files that `figures` and `metrics` read. Timings are not in git, so a commit has none."""


@dataclass(frozen=True)
class Revision:
    """One version, readable at ``folder``."""

    name: str
    """As the user gave it; `WORKSPACE` is the working tree."""
    commit: str
    """40 hex digits; of the working tree, those of HEAD."""
    date: str
    """Date of the commit, ISO 8601."""
    subject: str
    """First line of the commit's message."""
    changed: bool
    """Whether it is the working tree, and differs from its commit."""
    folder: Path

    @property
    def for_dvc(self) -> str | None:
        """Name for DVC's commands, short enough for a plot's legend; None is the working tree."""
        return None if self.name == WORKSPACE else self.commit[:10]

    @property
    def title(self) -> str:
        """Name and short commit, as in ``HEAD~3 (1a2b3c4)``."""
        return f"{self.name} ({self.commit[:7]}{' and changes' if self.changed else ''})"

    def params(self) -> dict[str, Any]:
        """All of params.yaml.

        Raises:
            ZugwerkError: there is none, or it is not YAML.
        """
        return read_tree(self.folder / PARAMS_FILE)


@dataclass(frozen=True)
class Version:
    """A commit that changed metrics or measurements, or an experiment."""

    commit: str
    """40 hex digits."""
    name: str
    """Name of an experiment; empty for a commit."""
    date: str
    """ISO 8601."""
    subject: str


def versions(count: int, project: Path = Path()) -> list[Version]:
    """The last ``count`` commits of HEAD that changed what `FILES` names but for params, and all experiments; by date.

    Raises:
        ZugwerkError: no git, or not a git repository.
    """
    form = "%H%x09%cI%x09%s"
    text = _git(project, "log", f"--max-count={count}", f"--format={form}", "--", *FILES[2:]).decode(errors="replace")
    found = [Version(commit, "", date, subject) for commit, date, subject in _fields(text)][::-1]
    fields = "%(objectname)%09%(committerdate:iso-strict)%09%(refname)"
    text = _git(project, "for-each-ref", f"--format={fields}", "refs/exps").decode(errors="replace")
    for commit, date, ref in _fields(text):
        if ref.count("/") == 4:
            found.append(Version(commit, ref.split("/")[4], date, ""))
    return sorted(found, key=lambda one: datetime.fromisoformat(one.date))


def _fields(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        fields = line.split("\t", 2)
        if len(fields) == 3:
            yield fields


@contextmanager
def opened(name: str, project: Path = Path()) -> Iterator[Revision]:
    """Yield a version of the project, its files laid out in a folder that is gone afterwards.

    Args:
        name: anything git takes for a commit, the name of an experiment (`dvc exp run -n NAME`), or `WORKSPACE`.
        project: the folder of dvc.yaml, in a git repository.

    Raises:
        ZugwerkError: no git, not a git repository, no such revision, or one without metrics.
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
    """Refs of the experiments of that name: refs/exps/<2 digits>/<38 digits of the commit they began from>/<name>."""
    refs = _git(project, "for-each-ref", "--format=%(refname)", "refs/exps").decode().split()
    return [ref for ref in refs if ref.count("/") == 4 and ref.split("/")[4] == name]


def _extract(commit: str, project: Path, folder: Path) -> None:
    there = _git(project, "ls-tree", "-z", "--name-only", commit, "--", *FILES).decode().split("\0")
    paths = [path for path in there if path]
    if paths:
        with tarfile.open(fileobj=io.BytesIO(_git(project, "archive", commit, "--", *paths))) as archive:
            archive.extractall(folder, filter="data")


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

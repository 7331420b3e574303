"""Compare two versions: headline figures, params and all other metrics that differ."""

import io
import json
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
from pipeline_src.project.systems import Figure
from pipeline_src.report.figures import REGISTRY, Lock, figures, metric_of, of_the_graph

# A version of the project (a commit, a DVC experiment or the working tree) as a folder with its small files.


WORKSPACE = "workspace"
FILES = ("params.yaml", "dvc.yaml", "dvc.lock", "artifacts/reports", "docs/measured")
"""Files that `figures` and `metrics` read. git has the headline figures, and DVC's cache the other reports, if a
version was made in this checkout or pulled into it. Neither has times."""


@dataclass(frozen=True)
class Revision:
    """A version of which the files are in ``folder``."""

    name: str  # Name given by the user; `WORKSPACE` is the working tree
    commit: str  # Commit, 40 hex digits; HEAD for the working tree
    date: str  # Date of the commit, ISO 8601
    subject: str  # First line of the commit's message
    changed: bool  # Whether this is the working tree and it differs from its commit
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


REPORTS = Path("artifacts/reports")
"""Has a folder for each system. Reports end in .json, files of times in .timings.json."""
Changes = dict[str, dict[str, dict[str, Any]]]  # Changed values as `{file: {dotted key: {old, new}}}`
FIELDS = frozenset({"value", "low", "high", "n"})


def number(value: float | None, sign: str = "") -> str:
    """Return a number with four digits, integers in full, ``-`` for None; ``sign`` "+" always shows the sign."""
    if value is None:
        return "-"
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign}.4g}"


@dataclass(frozen=True)
class Estimate:
    """A number, with its 95 % interval if it has one; ``value`` is None if a version lacks it."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """Return the value, or ``-``."""
        return number(self.value)

    @property
    def interval(self) -> str:
        """Return ``low to high``, or ``-``."""
        return "-" if self.low is None or self.high is None else f"{number(self.low)} to {number(self.high)}"


@dataclass(frozen=True)
class Pair:
    """One figure or metric in both versions."""

    group: str  # System of a figure; file of any other metric
    name: str
    a: Estimate
    b: Estimate
    unit: str = ""

    @property
    def difference(self) -> float | None:
        """Return B - A; None if one of them is missing."""
        return None if self.a.value is None or self.b.value is None else self.b.value - self.a.value

    @property
    def change(self) -> str:
        """Return the difference with its sign, or ``-``."""
        return number(self.difference, sign="+")

    @property
    def differs(self) -> bool:
        """Return whether the two versions differ, in the value or in the interval."""
        return self.a != self.b

    @property
    def apart(self) -> bool:
        """Return whether both have intervals and these do not overlap."""
        if self.a.low is None or self.a.high is None or self.b.low is None or self.b.high is None:
            return False
        return self.a.high < self.b.low or self.b.high < self.a.low


@dataclass(frozen=True)
class Comparison:
    """The comparison of two versions, as a terminal shows it."""

    figures: list[Pair]  # All headline figures of either version, equal or not, without times, which are not in git
    params: list[tuple[str, Any, Any]]
    """Key, value of A and value of B for the values of params.yaml that differ; None for a missing key."""
    metrics: list[Pair]  # All other metrics that differ

    def shown(self, everything: bool) -> list[Pair]:
        """Return the figures that differ, or all of them."""
        return [pair for pair in self.figures if everything or pair.differs]


def compare(a: Revision, b: Revision, project: Path = Path()) -> Comparison:
    """Read both versions.

    Raises:
        ZugwerkError: a file of theirs is damaged, or DVC is missing or fails.
    """
    sides = [(figures(one.folder), str(one.params().get("profile"))) for one in (a, b)]
    pairs = [
        _pair(system, name, figure, *((rows[system][name], profile) for rows, profile in sides))
        for system, named in REGISTRY.items()
        for name, figure in named.items()
        if not (figure.timing or figure.times)
    ]
    params = params_changes(a, b, project)
    changed = [(key, one["old"], one["new"]) for file in params.values() for key, one in sorted(file.items())]
    return Comparison(
        [pair for pair in pairs if pair.a.value is not None or pair.b.value is not None],
        changed,
        _others(metrics_changes(a, b, project), _headline(a) | _headline(b)),
    )


def _pair(system: str, name: str, figure: Figure, *sides: tuple[dict[str, Any], str]) -> Pair:
    """Return a figure of the graph if either version, each a row and a profile, has one, else a measurement of both."""
    made = [of_the_graph(row, profile) for row, profile in sides]
    one, other = (
        Estimate(row["ours"], row["low"], row["high"]) if row else Estimate(None)
        for row in (made if any(made) else [row for row, _ in sides])
    )
    return Pair(system, name, one, other, figure.unit)


def _headline(revision: Revision) -> set[tuple[str, str]]:
    """Return (file, dotted key) of the metrics that are headline figures."""
    params = revision.params()
    return {metric_of(figure, params) for named in REGISTRY.values() for figure in named.values() if figure.path}


def _others(changes: Changes, headline: set[tuple[str, str]]) -> list[Pair]:
    """Return the other metrics that differ; the fields of an estimate become one entry."""
    pairs = []
    for file, leaves in sorted(changes.items()):
        estimates = {key.removesuffix(".low") for key in leaves if key.endswith(".low")}
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for key, leaf in leaves.items():
            parent, _, field = key.rpartition(".")
            grouped = parent in estimates and field in FIELDS
            found.setdefault(parent if grouped else key, {})[field if grouped else "value"] = leaf
        for key, fields in sorted(found.items()):
            one, other = (_estimate(fields, which) for which in ("old", "new"))
            pair = Pair(file, key, one, other)
            if pair.differs and (file, key) not in headline:
                pairs.append(pair)
    return pairs


def _estimate(fields: dict[str, dict[str, Any]], which: str) -> Estimate:
    return Estimate(*(fields.get(field, {}).get(which) for field in ("value", "low", "high")))


def params_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return the values of params.yaml that differ (`dvc params diff`)."""
    return _changes(a, b, project, "params", "diff", "--json")


def metrics_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return every number of every report, equal or not (`dvc metrics diff --all`)."""
    found = ((one.folder, path) for one in (a, b) for path in (one.folder / REPORTS).glob("*/**/*.json"))
    files = {path.relative_to(folder).as_posix() for folder, path in found if not path.name.endswith(".timings.json")}
    return _changes(a, b, project, "metrics", "diff", "--all", "--json", "--targets", *sorted(files), "--")


def _changes(a: Revision, b: Revision, project: Path, *words: str) -> Changes:
    text = ask_dvc(project, *words, *_names(a, b))
    try:
        return json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise ZugwerkError(f"dvc {' '.join(words)}: its answer is not JSON ({error})") from None


def _names(a: Revision, b: Revision) -> list[str]:
    """Return the arguments for two versions; the working tree is the second one if none is given."""
    if a.for_dvc is None:
        raise ZugwerkError(
            "the working tree can only be the second of two versions; give a commit or an experiment first"
        )
    return [a.for_dvc, *([b.for_dvc] if b.for_dvc else [])]

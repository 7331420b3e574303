"""Compare two versions: headline figures, params and all other metrics that differ, as DVC knows them.

git has the headlines, and DVC's cache the other reports, if a version was made in this checkout or pulled into it.
Neither has times.
"""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import MADE_BY
from pipeline_src.project.dvc_run import LOCK, ask_dvc
from pipeline_src.project.params import PARAMS_FILE, at, read_tree
from pipeline_src.report.figures import REGISTRY, REPORTS, SYSTEMS, metric_of

WORKSPACE = "workspace"


@dataclass(frozen=True)
class Revision:
    """A version of the project: a commit, a DVC experiment or the working tree."""

    name: str  # Name given by the user; `WORKSPACE` is the working tree
    commit: str  # Commit, 40 hex digits; HEAD for the working tree
    date: str  # Date of the commit, ISO 8601
    subject: str  # First line of the commit's message
    changed: bool  # Whether this is the working tree and it differs from its commit
    params: dict[str, Any]  # All of params.yaml
    reports: frozenset[str]  # Paths of the JSON files below artifacts/reports, in the project's folder

    @property
    def for_dvc(self) -> str | None:
        """Name for DVC's commands, short enough for a plot's legend; None is the working tree."""
        return None if self.name == WORKSPACE else self.commit[:10]

    @property
    def title(self) -> str:
        """Return name and short commit, as in ``HEAD~3 (1a2b3c4)``."""
        return f"{self.name} ({self.commit[:7]}{' and changes' if self.changed else ''})"


def read_revision(name: str, project: Path = Path()) -> Revision:
    """Return a version of the project: a commit of git's, an experiment (`dvc exp run -n NAME`), or `WORKSPACE`.

    Raises:
        ZugwerkError: git is not installed, this is no git repository, or the revision is unknown or has no metrics.
    """
    commit = _commit_of("HEAD" if name == WORKSPACE else name, project)
    date, subject = _git(project, "show", "--no-patch", "--format=%cI%n%s", commit).split("\n")[:2]
    if name == WORKSPACE:
        changed = bool(_git(project, "status", "--porcelain", "--", ".").strip())
        params = read_tree(project / PARAMS_FILE)
        files = {path.relative_to(project).as_posix() for path in (project / REPORTS).rglob("*")}
    else:
        changed, params = False, _yaml(commit, PARAMS_FILE.name, project)
        files = {*_git(project, "ls-tree", "-zr", "--name-only", commit, "--", str(REPORTS)).split("\0")}
        stages = _yaml(commit, LOCK, project).get("stages", {})
        files |= {out["path"] for stage in stages.values() for out in stage.get("outs", ())}
    reports = {file for file in files if file.startswith(f"{REPORTS}/") and file.endswith(".json")}
    kept = frozenset(file for file in reports if not file.endswith(".timings.json") and file != NO_METRICS)
    found = Revision(name, commit, date, subject, changed, params, kept)
    if not kept:
        raise ZugwerkError(f"{found.title}: no metrics in artifacts/reports; `dvc repro` makes them")
    return found


def _yaml(commit: str, file: str, project: Path) -> dict[str, Any]:
    """Return a mapping in a file of a commit; empty if it has no such file."""
    if not _git(project, "ls-tree", "--name-only", commit, "--", file):
        return {}
    found: dict[str, Any] = yaml12.parse(_git(project, "show", f"{commit}:./{file}"), f"{file} of {commit[:7]}")
    return found


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
    return _git(project, "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}").strip()


def _experiments(name: str, project: Path) -> list[str]:
    """Return the refs of the experiments of a name: refs/exps/<2 digits>/<38 digits of the base commit>/<name>."""
    refs = _git(project, "for-each-ref", "--format=%(refname)", "refs/exps").split()
    return [ref for ref in refs if ref.count("/") == 4 and ref.split("/")[4] == name]


def _git(project: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=project, capture_output=True)  # noqa: S603, S607
    except FileNotFoundError:
        raise ZugwerkError("git is not installed; versions are compared through it") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise ZugwerkError(f"git {words[0]}: {said[0] if said else f'status {done.returncode}'}")
    return done.stdout.decode(errors="replace")


Changes = dict[str, dict[str, dict[str, Any]]]  # Changed values as `{file: {dotted key: {old, new}}}`
HEADLINES = ".headlines.json"
NO_METRICS = f"{REPORTS}/positions.json"  # Boards of the report page
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
        ZugwerkError: DVC is missing or fails.
    """
    params, metrics = params_changes(a, b, project), metrics_changes(a, b, project)
    figures, headline = list[Pair](), set[tuple[str, str]]()
    for system, named in REGISTRY.items():
        for name, figure in named.items():
            if figure.path:
                one, other = _figure(system, name, a, metrics, "old"), _figure(system, name, b, metrics, "new")
                figures.append(Pair(system, name, one, other, figure.unit))
                headline |= {metric_of(figure, side.params) for side in (a, b)}
    changed = [(key, one["old"], one["new"]) for file in params.values() for key, one in sorted(file.items())]
    return Comparison(
        [pair for pair in figures if pair.a.value is not None or pair.b.value is not None],
        changed,
        _others(metrics, headline),
    )


def _others(changes: Changes, headline: set[tuple[str, str]]) -> list[Pair]:
    """Return the other metrics that differ; the fields of an estimate become one entry."""
    pairs = []
    for file, leaves in sorted(changes.items()):
        if file.endswith(HEADLINES):
            continue
        estimates = {key.removesuffix(".low") for key in leaves if key.endswith(".low")}
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for key, leaf in leaves.items():
            parent, _, field = key.rpartition(".")
            grouped = parent in estimates and field in FIELDS
            if not key.startswith(f"{MADE_BY}."):
                found.setdefault(parent if grouped else key, {})[field if grouped else "value"] = leaf
        for key, fields in sorted(found.items()):
            one, other = (_estimate(fields, which) for which in ("old", "new"))
            pair = Pair(file, key, one, other)
            if pair.differs and (file, key) not in headline:
                pairs.append(pair)
    return pairs


def _figure(system: str, name: str, side: Revision, metrics: Changes, which: str) -> Estimate:
    """Return a headline figure of a version: from its report, or from the headlines, which git has."""
    figure, word = REGISTRY[system][name], SYSTEMS[system].word
    if any(at(side.params, key) not in (None, value) for key, value in figure.named.items()):
        return Estimate(None)
    for file, key in (metric_of(figure, side.params), (f"{REPORTS}/{word}{HEADLINES}", f"{word}.{name}")):
        leaves = metrics.get(file, {})
        fields = {field: leaves[f"{key}.{field}"] for field in FIELDS if f"{key}.{field}" in leaves}
        found = _estimate(fields or {"value": leaves.get(key, {})}, which)
        if found.value is not None:
            return found
    return Estimate(None)


def _estimate(fields: dict[str, dict[str, Any]], which: str) -> Estimate:
    return Estimate(*(fields.get(field, {}).get(which) for field in ("value", "low", "high")))


def params_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return the values of params.yaml that differ (`dvc params diff`)."""
    return _changes(a, b, project, "params", "diff", "--json")


def metrics_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return every number of every report, equal or not (`dvc metrics diff --all`)."""
    return _changes(
        a, b, project, "metrics", "diff", "--all", "--json", "--targets", *sorted(a.reports | b.reports), "--"
    )


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

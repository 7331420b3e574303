"""Two versions side by side: headline figures, params, and all other metrics that differ."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_src.project import dvc_diff
from pipeline_src.project.revision import Revision
from pipeline_src.report.figures import figures, metric_of, of_the_graph
from pipeline_src.report.registry import REGISTRY, Figure

FIELDS = frozenset({"value", "low", "high", "n"})


def number(value: float | None, sign: str = "") -> str:
    """A number to four figures, whole ones in full; ``-`` where there is none; ``sign`` "+" shows that of all."""
    if value is None:
        return "-"
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign}.4g}"


@dataclass(frozen=True)
class Estimate:
    """A number, with its 95 % interval where it has one; ``value`` is None where a version does not have it."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """The value, or ``-``."""
        return number(self.value)

    @property
    def interval(self) -> str:
        """``low to high``, or ``-``."""
        return "-" if self.low is None or self.high is None else f"{number(self.low)} to {number(self.high)}"


@dataclass(frozen=True)
class Pair:
    """One figure or metric in both versions."""

    group: str
    """The system of a figure, the file of another metric."""
    name: str
    a: Estimate
    b: Estimate
    unit: str = ""

    @property
    def difference(self) -> float | None:
        """B - A; None where one of them is missing."""
        return None if self.a.value is None or self.b.value is None else self.b.value - self.a.value

    @property
    def change(self) -> str:
        """The difference with its sign, or ``-``."""
        return number(self.difference, sign="+")

    @property
    def differs(self) -> bool:
        """Whether the two versions say something else, be it only about the interval."""
        return self.a != self.b

    @property
    def apart(self) -> bool:
        """Whether both have intervals, and these do not overlap."""
        if self.a.low is None or self.a.high is None or self.b.low is None or self.b.high is None:
            return False
        return self.a.high < self.b.low or self.b.high < self.a.low


@dataclass(frozen=True)
class Side:
    """One of the two versions, as the head of a comparison shows it."""

    title: str
    commit: str
    date: str
    subject: str
    profile: str
    seed: str
    data: str
    """Where each system's data came from, in words."""


@dataclass(frozen=True)
class Comparison:
    """Everything that a terminal or a page shows of two versions."""

    a: Side
    b: Side
    figures: list[Pair]
    """All headline figures that one of the versions has, alike or not. Times are none: git does not have them."""
    params: list[tuple[str, Any, Any]]
    """(key, A's, B's) of the values of params.yaml that differ; None where there is no such key."""
    metrics: list[Pair]
    """All other metrics that differ."""

    def shown(self, everything: bool) -> list[Pair]:
        """The figures that differ, or all of them."""
        return [pair for pair in self.figures if everything or pair.differs]


def compare(a: Revision, b: Revision, project: Path = Path()) -> Comparison:
    """Read both versions.

    Raises:
        ZugwerkError: a file of theirs is damaged, or DVC is missing or fails.
    """
    rows = {one.name: figures(one.folder) for one in (a, b)}
    of_a, of_b = rows[a.name], rows[b.name]
    pairs = [
        _pair(system, name, figure, of_a[system][name], of_b[system][name])
        for system, named in REGISTRY.items()
        for name, figure in named.items()
        if not (figure.timing or figure.times)
    ]
    params = dvc_diff.params_changes(a, b, project)
    changed = [(key, one["old"], one["new"]) for file in params.values() for key, one in sorted(file.items())]
    return Comparison(
        _side(a, of_a),
        _side(b, of_b),
        [pair for pair in pairs if pair.a.value is not None or pair.b.value is not None],
        changed,
        _others(dvc_diff.metrics_changes(a, b, project), _headline(a) | _headline(b)),
    )


def _pair(system: str, name: str, figure: Figure, a: dict[str, Any], b: dict[str, Any]) -> Pair:
    """The graph's figures, if one of the versions has it; a committed measurement is compared with none of them."""
    made = [of_the_graph(row) for row in (a, b)]
    one, other = (
        Estimate(row["ours"], row["low"], row["high"]) if row else Estimate(None)
        for row in (made if any(made) else (a, b))
    )
    return Pair(system, name, one, other, figure.unit)


def _headline(revision: Revision) -> set[tuple[str, str]]:
    """(file, dotted key) of the metrics that are headline figures."""
    params = revision.params()
    return {metric_of(figure, params) for named in REGISTRY.values() for figure in named.values() if figure.path}


def _others(changes: dvc_diff.Changes, headline: set[tuple[str, str]]) -> list[Pair]:
    """The metrics that differ and are no headline figures; the fields of an estimate become one entry."""
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


def _side(revision: Revision, rows: dict[str, dict[str, dict[str, Any]]]) -> Side:
    params = revision.params()
    words = {
        system: ", ".join(sorted({data for row in named.values() if (data := (of_the_graph(row) or row)["data"])}))
        for system, named in rows.items()
    }
    return Side(
        revision.title,
        revision.commit,
        revision.date,
        revision.subject,
        str(params.get("profile", "unknown")),
        str(params.get("seed", "unknown")),
        "; ".join(f"{system}: {data}" for system, data in words.items() if data),
    )

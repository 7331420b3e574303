"""Compare two versions: headline figures, params, all other metrics that differ, plots and experiments.

The page of a comparison is one HTML file that opens offline, with a link to DVC's page of both versions' plots.
"""

import csv
import io
import json
import shutil
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.project import plots_page
from pipeline_src.project.dvc_run import ask_dvc
from pipeline_src.project.systems import Figure
from pipeline_src.reference.revision import Revision
from pipeline_src.report.figures import figures, metric_of, of_the_graph
from pipeline_src.report.registry import REGISTRY

PLOTS = "plots"
"""Folder of DVC's page, next to ours."""
PLOTS_TITLE = "<title>Zugwerk: plots</title>"
"""Mark of DVC's page, from `plots_page`."""
REPORTS = Path("artifacts/reports")
"""Has a folder for each system. Reports end in .json, files of times in .timings.json."""
Changes = dict[str, dict[str, dict[str, Any]]]
"""Changed values as ``{file: {dotted key: {old, new}}}``."""
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

    group: str
    """System of a figure; file of any other metric."""
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
class Side:
    """One of the two versions, as the head of a comparison shows it."""

    title: str
    commit: str
    date: str
    subject: str
    profile: str
    seed: str
    data: str
    """Origin of each system's data, in words."""


@dataclass(frozen=True)
class Comparison:
    """The comparison of two versions, as a terminal or a page shows it."""

    a: Side
    b: Side
    figures: list[Pair]
    """All headline figures of either version, equal or not, without times, which are not in git."""
    params: list[tuple[str, Any, Any]]
    """Key, value of A and value of B for the values of params.yaml that differ; None for a missing key."""
    metrics: list[Pair]
    """All other metrics that differ."""

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
        _side(a, sides[0][0]),
        _side(b, sides[1][0]),
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


def params_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return the values of params.yaml that differ (`dvc params diff`)."""
    return _changes(a, b, project, "params", "diff", "--json")


def metrics_changes(a: Revision, b: Revision, project: Path = Path()) -> Changes:
    """Return every number of every report, equal or not (`dvc metrics diff --all`)."""
    found = ((one.folder, path) for one in (a, b) for path in (one.folder / REPORTS).glob("*/**/*.json"))
    files = {path.relative_to(folder).as_posix() for folder, path in found if not path.name.endswith(".timings.json")}
    return _changes(a, b, project, "metrics", "diff", "--all", "--json", "--targets", *sorted(files), "--")


def experiments(a: Revision, b: Revision, project: Path = Path()) -> list[list[str]]:
    """Return `dvc exp show --only-changed` transposed: a row for each metric or param that varies, a column a version.

    Experiments are versions too. The first column has the names; the table is empty if there is nothing to show.
    """
    revisions = [word for one in (a, b) if one.for_dvc for word in ("--rev", one.for_dvc)]
    hidden = ["--hide-workspace"] * all(one.for_dvc for one in (a, b))
    dropped = ["--drop", r".*\.(low|high|n)$|(.*:)?code\..*"]
    text = ask_dvc(project, "exp", "show", "--csv", "--only-changed", *dropped, *hidden, *revisions)
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    return [list(column) for column in zip(*rows, strict=True)]


def write_plots(a: Revision, b: Revision, out: Path, project: Path = Path()) -> None:
    """Write ``out/index.html`` by `dvc plots diff`; it contains the drawing library and opens offline.

    The folder is replaced as a whole.

    Raises:
        ZugwerkError: the folder has other files than those of an earlier page; DVC is missing or fails.
    """
    if not is_replaceable(out):
        raise ZugwerkError(
            f"{out}: it has files that are not of a page of plots; give another --out, or move them away"
        )
    page = project / plots_page.PAGE
    if not page.exists():
        plots_page.write(page)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)  # DVC creates only the last folder
    template = ["--html-template", str(page.resolve())]
    ask_dvc(project, "plots", "diff", "--out", str(out.resolve()), *template, *_names(a, b))


def is_replaceable(out: Path) -> bool:
    """Whether a folder is missing, is empty, or has an earlier page of plots."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return True
    index = out / "index.html"
    return index.is_file() and PLOTS_TITLE in index.read_text(encoding="utf-8", errors="replace")


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


def write_page(
    comparison: Comparison, a: Revision, b: Revision, out: Path, everything: bool = False, project: Path = Path()
) -> Path:
    """Write ``out/index.html`` and ``out/plots/index.html``; return the first.

    Args:
        comparison: of ``a`` and ``b``.
        a: the first version.
        b: the second.
        out: folder, made if it is not there.
        everything: also the figures that are alike.
        project: the folder of dvc.yaml.

    Raises:
        ZugwerkError: see `write_plots`.
    """
    write_plots(a, b, out / PLOTS, project)
    page = out / "index.html"
    with written_aside(page) as aside:
        aside.write_text(render(comparison, experiments(a, b, project), everything), encoding="utf-8")
    return page


def render(comparison: Comparison, experiments: list[list[str]], everything: bool = False) -> str:
    """Return the page as text; names of versions, params and experiments are escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    jinja = Environment(
        loader=PackageLoader("pipeline_src.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = comparison.shown(everything)
    return jinja.get_template("compare.html").render(
        c=comparison,
        figures=[(system, list(pairs)) for system, pairs in groupby(shown, lambda pair: pair.group)],
        metrics=[(file, list(pairs)) for file, pairs in groupby(comparison.metrics, lambda pair: pair.group)],
        experiments=experiments,
        plots=f"{PLOTS}/index.html",
    )

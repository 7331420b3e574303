"""The page of a comparison: one HTML file that opens offline, with a link to DVC's page of both versions' plots."""

from itertools import groupby
from pathlib import Path

from pipeline_src.files import written_aside
from pipeline_src.reference import dvc_diff
from pipeline_src.reference.compare import Comparison
from pipeline_src.reference.revision import Revision

PLOTS = "plots"
"""Folder of DVC's page, next to ours."""


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
        ZugwerkError: DVC is missing or fails.
    """
    dvc_diff.write_plots(a, b, out / PLOTS, project)
    page = out / "index.html"
    with written_aside(page) as aside:
        aside.write_text(render(comparison, dvc_diff.experiments(a, b, project), everything), encoding="utf-8")
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

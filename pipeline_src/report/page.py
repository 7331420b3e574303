"""The report: every figure beside the published one, charts and boards, as one page that opens offline."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.files import write_json, written_aside
from pipeline_src.params.load import PARAMS_FILE, read_tree
from pipeline_src.report import provenance, table
from pipeline_src.report.figures import figures
from pipeline_src.report.systems import SYSTEMS

TEMPLATES = Path(__file__).parent / "templates"


class Picture(NamedTuple):
    """A chart or a board of the page."""

    name: str
    title: str
    caption: str
    svg: str
    """Markup, taken as it is."""


def write_report(target: Path, folder: Path = Path()) -> None:
    """Write index.html, figures.json and figures.md into ``target``, from what the checkout ``folder`` has.

    Raises:
        ZugwerkError: a metrics file, params.yaml, or a table of a chart is damaged.
    """
    found = figures(folder)
    target.mkdir(parents=True, exist_ok=True)
    write_json(target / "figures.json", found)
    for name, text in (("figures.md", table.markdown(found)), ("index.html", html(found, folder))):
        with written_aside(target / name) as aside:
            aside.write_text(text, encoding="utf-8")


def html(found: Mapping[str, dict[str, dict[str, Any]]], folder: Path) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def ready(pictures: Sequence[Picture]) -> list[Picture]:
        return [picture._replace(svg=Markup(picture.svg)) for picture in pictures]  # noqa: S704  drawn by us

    params = read_tree(folder / PARAMS_FILE)
    made = {
        "profile": params.get("profile"),
        "seed": params.get("seed"),
        "commit": provenance.commit(folder),
        "hardware": provenance.hardware(),
    }
    return environment.get_template("index.html").render(
        made=made,
        systems=SYSTEMS,
        tables={name: table.lines(found[name]) for name in SYSTEMS},
        charts={name: ready(_charts(system.reports, folder)) for name, system in SYSTEMS.items()},
        boards={name: ready(_boards(system.reports, folder)) for name, system in SYSTEMS.items()},
    )


def _charts(reports: str, folder: Path) -> list[Picture]:
    from pipeline_src.report.charts import charts, svg

    found = charts(reports, folder)
    return [Picture(chart.name, chart.title, chart.caption, svg(chart.figure)) for chart in found]


def _boards(reports: str, folder: Path) -> list[Picture]:
    from pipeline_src.report.board_examples import examples

    return [Picture(one.name, one.title, one.caption, one.svg) for one in examples(folder) if one.system == reports]

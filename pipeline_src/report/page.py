"""The report: every figure with the published one, charts and boards, as one page that opens offline."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline_src.files import write_json, written_aside
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.plots_page import bundle
from pipeline_src.report import provenance, table
from pipeline_src.report.board_examples import examples
from pipeline_src.report.charts import charts, interactive, svg
from pipeline_src.report.charts.drawing import LARGEST
from pipeline_src.report.figures import figures
from pipeline_src.report.positions.file import POSITIONS
from pipeline_src.report.registry import SYSTEMS
from pipeline_src.report.verdict import verdicts

TEMPLATES = Path(__file__).parent / "templates"


def write_report(target: Path, folder: Path = Path()) -> None:
    """Write index.html, figures.json and figures.md to ``target``, from the files of the checkout ``folder``.

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
    """Return the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    environment.filters["drawn"] = Markup  # pictures and scripts are made here, with every text in them escaped
    tables = {name: table.lines(found[name]) for name in SYSTEMS}
    boards = examples(folder) if (folder / POSITIONS).exists() else []
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
        tables=tables,
        verdicts=verdicts(found),
        common={name: table.most_common_origins(lines) for name, lines in tables.items()},
        charts={name: charts(name, folder) for name, system in SYSTEMS.items()},
        boards={name: [one for one in boards if one.system == system.word] for name, system in SYSTEMS.items()},
        svg=svg,
        interactive=interactive,
        bundle=bundle,
        largest=LARGEST,
    )

"""Write the reference pages, the generated blocks of README.md and of the pages below docs, and their charts.

prefect.yaml and the templates of `dvc plots` are brought up to date too.

Example: ``python -m pipeline_src.reference --check``
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import written_aside
from pipeline_src.project.systems import systems
from pipeline_src.reference.pages import commands_page, deployments, graph_page, metrics_page, nets_page, params_page
from pipeline_src.reference.results import filled_pages
from pipeline_src.reference.stage_code import json_schema
from pipeline_src.report.charts import SPECS, charts, svg
from pipeline_src.report.keep import committed_run

FOLDER, IMAGES = Path("docs/reference"), Path("docs/images")
DVC_PLOTS = Path(".dvc/plots")
"""Where DVC looks for the templates of `dvc plots`: copies of the package's, since links do not survive everywhere."""
PAGES: dict[str, Callable[[Path], str]] = {
    "params.md": params_page,
    "params.schema.json": lambda _: json.dumps(json_schema(), indent=1) + "\n",
    "profile.schema.json": lambda _: json.dumps(json_schema(whole=False), indent=1) + "\n",
    "cli.md": commands_page,
    "metrics.md": lambda _: metrics_page(),
    "graph.md": graph_page,
    "nets.md": lambda _: nets_page(),
}
LOCAL = {"params.md", "cli.md", "metrics.md", "graph.md"}  # Not in git: params.yaml, its schema and --help say the same


def pictures(folder: Path = Path()) -> dict[Path, str]:
    """Return the charts of the pages on how the systems work by path, without those whose files are missing.

    Raises:
        ZugwerkError: a file with the data of a chart is damaged.
    """
    with committed_run(folder) as run:
        return {
            folder / IMAGES / f"{chart.name}.svg": svg(chart) + "\n"
            for name, system in systems().items()
            for chart in charts(name, run)
            if chart.name in system.pictures
        }


def outdated(folder: Path = Path(), local: bool = False) -> dict[Path, str]:
    """Return the pages below ``folder`` that are out of date, with their new texts; on request the `LOCAL` ones too."""
    wanted = {folder / FOLDER / name: page(folder) for name, page in PAGES.items() if local or name not in LOCAL}
    wanted |= filled_pages(folder) | pictures(folder) | {folder / "prefect.yaml": deployments(folder)}
    wanted |= {folder / DVC_PLOTS / path.name: path.read_text(encoding="utf-8") for path in SPECS.glob("*.json")}
    return {
        path: text for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m pipeline_src.reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a page in git is out of date")
    found = outdated() if parser.parse_args().check else {}
    if found:
        raise ZugwerkError(f"out of date: {', '.join(map(str, found))}; `make docs` writes them")
    for path, text in outdated(local=True).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(path) as aside:
            aside.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    run_main(main)

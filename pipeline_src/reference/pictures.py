"""Charts of the pages on how the systems work, as SVG below docs/images."""

from pathlib import Path

from pipeline_src.project.systems import systems
from pipeline_src.report.charts import charts, svg
from pipeline_src.report.keep import committed_run

FOLDER = Path("docs/images")


def pictures(folder: Path = Path()) -> dict[Path, str]:
    """Return the pictures by path, without those whose files are missing.

    Raises:
        ZugwerkError: a file with the data of a chart is damaged.
    """
    with committed_run(folder) as run:
        return {
            folder / FOLDER / f"{chart.name}.svg": svg(chart) + "\n"
            for name, system in systems().items()
            for chart in charts(name, run)
            if chart.name in system.pictures
        }

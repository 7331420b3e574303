"""Charts that the pages on how the systems work show, as SVG below docs/images."""

from pathlib import Path

from pipeline_src.report.charts import charts, svg

FOLDER = Path("docs/images")
SHOWN = {
    "amazons": "amazons-phases",
    "gomoku": "gomoku-elo",
    "growing": "growing-against-scratch-6-9-11",
    "joseki": "joseki-accuracy-measured",
    "depth": "depth-matches",
}
"""Names of charts, by the system that has them."""


def pictures(folder: Path = Path()) -> dict[Path, str]:
    """The pictures by path; one whose files are not there is left out.

    Raises:
        ZugwerkError: a file that a chart is drawn from is damaged.
    """
    return {
        folder / FOLDER / f"{name}.svg": svg(chart.figure) + "\n"
        for system, name in SHOWN.items()
        for chart in charts(system, folder)
        if chart.name == name
    }

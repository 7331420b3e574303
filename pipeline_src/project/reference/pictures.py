"""Charts of the pages on how the systems work, as SVG below docs/images."""

from pathlib import Path

from pipeline_src.report.charts import charts, svg
from pipeline_src.report.keep import committed_run

FOLDER = Path("docs/images")
BOARDS = ("6-9", "6-9-11", "6-9-11-15")
SHOWN = {
    "amazons": ("amazons-phases",),
    "gomoku": ("gomoku-elo",),
    "growing": tuple(f"growing-against-scratch-{boards}" for boards in BOARDS),
    "joseki": ("joseki-accuracy-measured",),
    "depth": ("depth-matches",),
}
"""Names of charts by system."""


def pictures(folder: Path = Path()) -> dict[Path, str]:
    """Return the pictures by path, without those whose files are missing.

    Raises:
        ZugwerkError: a file with the data of a chart is damaged.
    """
    with committed_run(folder) as run:
        return {
            folder / FOLDER / f"{chart.name}.svg": svg(chart) + "\n"
            for system, names in SHOWN.items()
            for chart in charts(system, run)
            if chart.name in names
        }

"""The charts of each system's report, drawn from the last metrics and tables and from committed measurements."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.report.charts import amazons, depth, gomoku, growing, joseki
from pipeline_src.report.charts.drawing import Chart, interactive, png, svg

__all__ = ["SYSTEMS", "Chart", "charts", "interactive", "png", "svg"]

SYSTEMS: Mapping[str, Callable[[Path], Iterator[Chart | None]]] = {
    "amazons": amazons.charts,
    "gomoku": gomoku.charts,
    "growing": growing.charts,
    "joseki": joseki.charts,
    "depth": depth.charts,
}


def charts(system: str, folder: Path = Path()) -> list[Chart]:
    """Return the charts of a system in the checkout ``folder``, without those that lack their files.

    Args:
        system: name as in folders below artifacts/reports and in stages, one of `SYSTEMS`.
        folder: folder with artifacts/, docs/ and params.yaml.

    Raises:
        ZugwerkError: the system is unknown, or a file is damaged.
    """
    if system not in SYSTEMS:
        raise ZugwerkError(f"no charts of '{system}'; there are those of {', '.join(SYSTEMS)}")
    return [chart for chart in SYSTEMS[system](folder) if chart is not None]

"""The charts of each system's report, drawn from the last metrics and tables and from committed measurements."""

from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.systems import open_function, systems
from pipeline_src.report.charts.drawing import Chart, interactive, png, svg

__all__ = ["Chart", "charts", "drawn", "interactive", "png", "svg"]


def drawn() -> dict[str, str]:
    """Return the names of the systems with charts by their words, as in folders below artifacts/reports."""
    return {system.word: name for name, system in systems().items() if system.charts}


def charts(system: str, folder: Path = Path()) -> list[Chart]:
    """Return the charts of a system in the checkout ``folder``, without those that lack their files.

    Args:
        system: its name or its word; one without charts has none.
        folder: folder with artifacts/, docs/ and params.yaml.

    Raises:
        ZugwerkError: the system is unknown, or a file is damaged.
    """
    known = systems().get(drawn().get(system, system))
    if known is None:
        raise ZugwerkError(f"no charts of '{system}'; there are those of {', '.join(drawn())}")
    found = open_function(known.charts)(folder) if known.charts else ()
    return [chart for chart in found if chart is not None]

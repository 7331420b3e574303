"""Figure 7: Elo over hours, with error bars, as elo_hours.svg and .png beside the tables.

Example: ``python -m pipeline_src.report.gomoku_elo``

The hours come from timings, so the plot is no output of the graph; the graph has Elo over generations.
"""

import csv
from itertools import accumulate
from pathlib import Path

from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import written_aside
from pipeline_src.report.generation_times import read_times

REPORTS = Path("artifacts/reports/gomoku")
Points = list[tuple[float, float, float, float]]


def points(folder: Path = Path()) -> Points:
    """(hours from the start to the generation's end, Elo, low, high) of each rated generation.

    Raises:
        ZugwerkError: the generations or their evaluation are not made yet.
    """
    times = read_times(folder)
    path = folder / REPORTS / "elo.csv"
    if not times or not path.exists():
        raise ZugwerkError(f"{path} or the generations' timings are not there yet; `dvc repro gomoku_evaluate` first")
    hours = dict(
        zip((one.number for one in times), accumulate(sum(one.seconds.values()) for one in times), strict=True)
    )
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    try:
        return [
            (hours[int(row["generation"])] / 3600, float(row["elo"]), float(row["low"]), float(row["high"]))
            for row in rows
        ]
    except (KeyError, ValueError) as error:
        raise ZugwerkError(f"{path}: not the evaluation of these generations ({error!r}); make it again") from None


def draw(found: Points, target: Path) -> None:
    """Write the plot in the format of the target's suffix."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    hours, elo, low, high = zip(*found, strict=True)
    unit, scale = ("hours", 1) if hours[-1] >= 2 else ("minutes", 60)
    errors = [[e - a for e, a in zip(elo, low, strict=True)], [b - e for e, b in zip(elo, high, strict=True)]]
    with mpl.rc_context({"svg.hashsalt": "zugwerk"}):  # ids that do not change from run to run
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot()
        axes.errorbar([hour * scale for hour in hours], elo, yerr=errors, marker="o", markersize=4, capsize=3)
        axes.axhline(0, color="grey", linewidth=0.8, linestyle=":")
        axes.set_xlabel(f"{unit} of self-play, training and gates")
        axes.set_ylabel("Elo (MCTS with 1,000 playouts: 0)")
        axes.set_title("Gomoku: Elo of the generations, with 95 % intervals", fontsize=11)
        with written_aside(target) as aside:
            metadata = {"Date": None} if target.suffix == ".svg" else {}
            figure.savefig(aside, format=target.suffix[1:], dpi=120, metadata=metadata)


def main() -> None:
    """Write both files."""
    found = points()
    for suffix in (".svg", ".png"):
        draw(found, REPORTS / f"elo_hours{suffix}")


if __name__ == "__main__":
    run_main(main)

"""Write charts as SVG and PNG files, for a paper or another page.

Example: ``python -m pipeline_src.report.charts gomoku joseki --out work/charts``
"""

import argparse
from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.files import written_aside
from pipeline_src.report.charts import charts, drawn, png, svg


def main() -> None:
    """Write the charts that have their files.

    Raises:
        ZugwerkError: the data file of a chart is damaged.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(drawn())}; all by default")
    parser.add_argument("--out", type=Path, default=Path("work/charts"), help="folder, work/charts by default")
    options = parser.parse_args()
    for system in options.systems or drawn():
        for chart in charts(system):
            with written_aside(options.out / f"{chart.name}.svg") as aside:
                aside.write_text(svg(chart), encoding="utf-8")
            with written_aside(options.out / f"{chart.name}.png") as aside:
                aside.write_bytes(png(chart))


if __name__ == "__main__":
    run_main(main)

"""Write the report: every figure with the published one, charts and boards, as one offline page.

Example: ``python -m pipeline_src.stages.report_page``

Reads the metrics and plots of all systems below artifacts/reports, docs/measured and params.yaml, and writes
artifacts/reports/index.html. It contains the commit, the processor and how long things took, so it is not the same
bytes from run to run.
"""

from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.report.page import write_report

TARGET = Path("artifacts/reports")


def main() -> None:
    """Write the page."""
    write_report(TARGET)


if __name__ == "__main__":
    run_main(main)

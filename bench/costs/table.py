"""The table of docs/costs.md, from docs/measured/costs.json."""

from pathlib import Path
from typing import Any

from pipeline_src.files import written_aside

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def put_table(measured: dict[str, Any], page: Path) -> None:
    """Replace the table between the page's two marks."""
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    with written_aside(page) as aside:
        aside.write_text(f"{before}{BEGIN}\n{table(measured)}\n{END}{after}", encoding="utf-8")


def table(measured: dict[str, Any]) -> str:
    """Return the table in Markdown, with a row for each step."""
    heads = ("stage", "unit", "units", "core seconds", "a unit", "published units", "core time", "memory", "on disk")
    lines = [_line(heads), _line(["---"] * 3 + ["---:"] * 6)]
    for rows in measured["stages"].values():
        lines += [_line(_cells(row)) for row in rows]
    about = measured["about"]
    return "\n".join([*lines, "", f"Measured on {about['hardware']}, {about['date']}, by `{about['command']}`."])


def _cells(row: dict[str, Any]) -> list[str]:
    units, seconds = (" / ".join(_short(value) for value in row[key]) for key in ("units", "seconds"))
    whole = row["published_bytes"]
    return [
        f"`{row['stage']}`",
        row["unit"],
        units,
        seconds,
        _time(row["seconds_a_unit"]),
        _short(row["published_units"]),
        _time(row["published_hours"] * 3600),
        _size(max(row["peak_mib"]) * 2**20),
        "" if whole is None else _size(whole),
    ]


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _time(seconds: float) -> str:
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60), ("s", 1), ("ms", 1e-3)):
        if seconds >= length:
            return f"{_short(seconds / length)} {unit}"
    return f"{_short(max(seconds, 0) * 1e6)} µs"


def _size(count: float) -> str:
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= size:
            return f"{_short(count / size)} {unit}"
    return f"{count:.0f} B"

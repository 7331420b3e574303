"""The table 'published | ours | interval | ratio': the registry's figures as texts, for the page and for Markdown."""

from collections import Counter
from typing import Any, NamedTuple

from pipeline_src.report.systems import SYSTEMS

COLUMNS = ("figure", "published", "ours", "95 % interval", "ratio", "n", "unit", "rerun", "where")


class Line(NamedTuple):
    """One line of a table; ``-`` where there is nothing."""

    words: str
    published: str
    ours: str
    interval: str
    ratio: str
    n: str
    unit: str
    command: str
    where: str
    """Profile, data, hardware and date, as far as they are known."""
    made: str
    """By graph, measured, or empty for what is not made yet."""
    below: bool
    """Whether it is the measurement of the figure in the line above."""


def lines(rows: dict[str, dict[str, Any]]) -> list[Line]:
    """A line for each of a system's figures (see `figures.figures`), and one below for its measurement."""
    found = []
    for row in rows.values():
        found.append(_line(row, row["words"]))
        if row["measured"]:
            found.append(_line(row["measured"], "measured apart from the graph", below=True))
    return found


def most_common_origins(table: list[Line]) -> dict[str, str]:
    """By how a figure was made, what ``where`` says most often, so that it need not stand in each line."""
    found = {}
    for made in ("graph", "measured"):
        origins = Counter(line.where for line in table if line.made == made and line.where)
        if origins:
            found[made] = origins.most_common(1)[0][0]
    return found


def markdown(figures: dict[str, dict[str, dict[str, Any]]]) -> str:
    """All systems' tables as Markdown."""
    parts = ["# Results"]
    for name, rows in figures.items():
        title = SYSTEMS[name].title if name in SYSTEMS else name
        parts += ["", f"## {title}", "", f"| {' | '.join(COLUMNS)} |", "| --- |" + " ---: |" * 5 + " --- |" * 3]
        for line in lines(rows):
            cells = [*line[:7], f"`{line.command}`", line.where]
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(parts) + "\n"


def number(value: float | None, unit: str = "") -> str:
    """A figure as text: counts in full, shares and scores with three decimals, others with three digits or more."""
    if value is None:
        return "-"
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 100):
        return f"{int(value):,}"
    if unit in ("score", "fraction", "F1", "squared error") or unit.startswith("fraction"):
        return f"{value:.3f}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _line(row: dict[str, Any], words: str, below: bool = False) -> Line:
    unit = row["unit"]
    interval = "-" if row["low"] is None else f"{number(row['low'], unit)} to {number(row['high'], unit)}"
    profile = "" if row["profile"] in (None, "committed measurement") else f"profile {row['profile']}"
    known = [profile, row["data"], row["hardware"], row["date"]]
    if row["from"] == "graph":
        known = known[1:2] if row["profile"] else ["made with other params", *known[1:2]]
    return Line(
        words=words,
        published=number(row["published"], unit),
        ours="not made yet" if row["ours"] is None else number(row["ours"], unit),
        interval=interval,
        ratio="-" if row["ratio"] is None else f"{row['ratio']:.3g}",
        n=number(row["n"]),
        unit=unit,
        command=row["command"] or "-",
        where=", ".join(str(part) for part in known if part),
        made=row["from"] or "",
        below=below,
    )

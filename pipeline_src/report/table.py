"""Tables of the registry's figures, published and ours, as texts for the report and for Markdown."""

from collections import Counter
from typing import Any, NamedTuple

from pipeline_src.report.figures import COMMITTED
from pipeline_src.report.registry import SYSTEMS

COLUMNS = ("figure", "published", "ours", "95 % CI", "n", "unit", "profile", "rerun")


class Line(NamedTuple):
    """One line of a table; ``-`` is an empty cell."""

    words: str
    published: str
    ours: str
    interval: str
    ratio: str
    n: str
    unit: str
    profile: str
    """The profile of the run, or `figures.MEASURED` for a measurement outside the graph."""
    command: str
    where: str
    """Data, hardware and date, as far as they are known."""
    player: str
    """The player that was measured, in words, where params decide it; else empty."""
    made: str
    """``graph``, ``measured``, or empty for a figure without a value."""
    below: bool
    """Whether the line is a further measurement of the figure above it."""


def lines(rows: dict[str, dict[str, Any]]) -> list[Line]:
    """Return a line for each figure of a system (see `figures.figures`), followed by its further measurements.

    The committed run of a profile is left out where the checkout's own has the same value.
    """
    found = []
    for row in rows.values():
        found.append(line(row))
        for other in row["others"]:
            if other["label"] != f"{row['label']}{COMMITTED}" or other["ours"] != row["ours"]:
                found.append(line(other, below=True))
    return found


def most_common_origins(table: list[Line]) -> dict[str, str]:
    """Return the most common ``where`` of each way of measuring, which the lines of the table then omit."""
    found = {}
    for made in ("graph", "measured"):
        origins = Counter(one.where for one in table if one.made == made and one.where)
        if origins:
            found[made] = origins.most_common(1)[0][0]
    return found


def markdown(figures: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the tables of all systems as Markdown."""
    parts = ["# Results"]
    for name, rows in figures.items():
        parts += ["", f"## {SYSTEMS[name].title if name in SYSTEMS else name}", "", *markdown_table(rows)]
    return "\n".join(parts) + "\n"


def markdown_table(rows: dict[str, dict[str, Any]]) -> list[str]:
    """Return a system's table as lines of Markdown, below the most common origins of its figures."""
    table = lines(rows)
    origins = most_common_origins(table)
    words = {"graph": "Data of the graph", "measured": "Data of the measurements"}
    said = [f"{words[made]}: {origin}." for made, origin in origins.items()]
    parts = [" ".join(said), ""] if said else []
    parts += [f"| {' | '.join(COLUMNS)} |", "| --- |" + " ---: |" * 4 + " --- |" * 3]
    for one in table:
        own = [one.player, one.where if one.where != origins.get(one.made) else ""]
        figure = "↳ also" if one.below else one.words
        figure += f" ({'; '.join(filter(None, own))})" if any(own) else ""
        cells = [figure, one.published, one.ours, one.interval, one.n, one.unit, one.profile]
        parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in [*cells, f"`{one.command}`"]) + " |")
    return parts


def with_unit(words: str, unit: str) -> str:
    """Return a figure's words, with the unit if the words do not imply it."""
    return f"{words}, {unit}" if unit in ("hours", "microseconds", "seconds", "squares left") else words


def number(value: float | None, unit: str = "") -> str:
    """Return a figure as text: counts in full, shares and scores to three decimals, others to at least three digits."""
    if value is None:
        return "-"
    if isinstance(value, int) or (float(value).is_integer() and abs(value) >= 100):
        return f"{int(value):,}"
    if unit in ("score", "fraction", "F1", "squared error") or unit.startswith("fraction"):
        return f"{value:.3f}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def interval(row: dict[str, Any]) -> str:
    """Return a figure's 95 % interval as text, ``-`` without one."""
    return "-" if row["low"] is None else f"{number(row['low'], row['unit'])} to {number(row['high'], row['unit'])}"


def line(row: dict[str, Any], below: bool = False) -> Line:
    """Return the line of a measurement, ``below`` that of the figure or not."""
    graph = row["from"] == "graph"
    known = [row["data"], *([] if graph else [row["hardware"], row["date"]])]
    return Line(
        words=row["words"],
        published=number(row["published"], row["unit"]),
        ours="not made yet" if row["ours"] is None else number(row["ours"], row["unit"]),
        interval=interval(row),
        ratio="-" if row["ratio"] is None else f"{row['ratio']:.3g}",
        n=number(row["n"]),
        unit=row["unit"],
        profile=row["label"] or "-",
        command=row["command"] or "-",
        where=", ".join(str(part) for part in known if part) if row["ours"] is not None else "",
        player=row["player"] or "",
        made=row["from"] or "",
        below=below,
    )

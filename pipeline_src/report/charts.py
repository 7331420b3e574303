"""The charts of each system's report, drawn from the last metrics and tables and from committed measurements.

They are Vega-Lite specifications, made of the templates in report/specs, and have pictures as SVG and PNG. `dvc plots`
uses the same templates (.dvc/plots has copies of them) and fills in the same anchors; so do the pages of `zugwerk web`,
in chart.js. A colour of theme.json is a variable of CSS, which a page sets for light and dark.

Charts as files, for a paper or another page: ``python -m pipeline_src.stage report.charts gomoku --out work/charts``
"""

import argparse
import html
import importlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import finite, read_json, read_table, written_aside
from pipeline_src.project.systems import module_of, systems

# Read the tables and metrics of charts. A missing file gives nothing, a damaged one an error that names it.

Row = dict[str, Any]
Rows = list[Row]  # Cells by column; an empty cell of a column of numbers is NaN


def table(path: Path, *numbers: str, words: Sequence[str] = ()) -> Rows:
    """Read a CSV file with such columns; no rows if it is missing. Raises ZugwerkError: it is damaged."""
    return _checked(path, read_table(path, numbers), numbers, words) if path.exists() else []


class Metrics:
    """Numbers of a JSON file, read by key; a missing file has none."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raises ZugwerkError: it is not a JSON object."""
        self.path = path
        self._tree = read_json(path) if path.exists() else {}
        self.keys()

    def keys(self, *keys: str) -> list[str]:
        """Return the keys below ``keys``."""
        return list(self._at(*keys, kind=dict) or {})

    def estimate(self, *keys: str) -> dict[str, float] | None:
        """Return a value with its interval as ``{value, low, high}``; None if it is missing or null."""
        found, numbers = self._at(*keys, kind=dict), ("value", "low", "high")
        if found is None or found.get("value") is None:
            return None
        return _checked(self.path, [{key: found.get(key) for key in numbers}], numbers)[0]

    def count(self, *keys: str) -> int:
        """Return a whole number; 0 if it is missing."""
        return self._at(*keys, kind=int) or 0

    def rows(self, key: str, *numbers: str) -> Rows:
        """Return a list of rows with columns of ``numbers``; none if the key is missing."""
        return _checked(self.path, self._at(key, kind=list) or [], numbers)

    def _at(self, *keys: str, kind: type) -> Any:
        tree: Any = self._tree
        for key, expected in (*((key, dict) for key in keys), ("", kind)):
            if tree is None:
                return None
            found: type = type(tree)
            if found is not expected:
                raise _damaged(self.path, f"'{'.'.join(keys)}': found {tree!r}")
            tree = tree.get(key) if key else tree
        return tree


def points(
    rows: Rows, x: str | Callable[[Row], float], y: Mapping[str, str] | str, **more: str | Callable[[Row], str]
) -> Rows:
    """Return rows for `curves`: x, y, low and high, and ``more`` cells, series, dash or panel.

    ``x`` is a column, or made of a row; ``y`` a column, whose interval is in the columns low and high, or several
    columns without intervals, with their series' names. Cells are words, or made of a row.
    """
    columns = {y: None} if isinstance(y, str) else y
    found = []
    for column, name in columns.items():
        for row in rows:
            cells: Row = {key: value(row) if callable(value) else value for key, value in more.items()}
            cells |= {"low": row.get("low"), "high": row.get("high")} if name is None else {"series": name}
            found.append({"x": x(row) if callable(x) else row[x], "y": row[column], **cells})
    return found


def _checked(path: Path, rows: Iterable[Any], numbers: Sequence[str], words: Sequence[str] = ()) -> Rows:
    found = []
    for place, row in enumerate(rows, 1):
        try:
            cells = {column: math.nan if row[column] in ("", None) else float(row[column]) for column in numbers}
            found.append({**row, **cells, **{column: row[column] for column in words}})
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"row {place}: {error}") from None
    return found


def _damaged(path: Path, what: str) -> ZugwerkError:
    return ZugwerkError(f"{path}: damaged ({what}); remove it and make it again")


SPECS = Path(__file__).parent / "specs"
WIDTH, HEIGHT = 300, 170  # Pixels between the axes. With its labels, a chart is as wide as a phone's screen.
LIGHT = {"card": "#ffffff", "ink": "#222222", "soft": "#5f5f5f", "line": "#e4e4e4"} | {
    f"line-{number}": colour
    for number, colour in enumerate(("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222"), 1)
}
"""Colours on white. The lines are Okabe and Ito's palette (Color Universal Design, 2008) without yellow, which is too
light."""
MOST_MARKERS = 25  # Largest number of points of a curve with markers
MOST_TICKS = 12  # Largest number of counts, such as generations, that each have a tick
LARGEST = 1.7  # How many times its size a page may stretch a chart
ZOOM = {"name": "grid", "select": {"type": "interval", "zoom": "wheel![event.ctrlKey]"}, "bind": "scales"}
"""The wheel alone scrolls the page."""
LOG = {"type": "log"}  # Logarithmic scale
SHARE = {"domain": [0, 1], "padding": 6}  # Scale of shares and scores
Spec = dict[str, Any]


class Chart(NamedTuple):
    """One chart of a system's report."""

    name: str  # Unique name of letters, digits and hyphens
    title: str
    caption: str  # Description, source of the numbers and command to make them again, as plain text
    spec: Spec  # Vega-Lite specification with its data

    @property
    def rows(self) -> Rows:
        """Rows of the data, as drawn."""
        found: Rows = self.spec["data"]["values"]
        return found


def chart(name: str, title: str, caption: str, source: str, rerun: str, spec: Spec | None) -> Chart | None:
    """Make a chart of the ``spec`` of `curves`, `ranked` or `heat`; None if there is nothing to draw.

    The caption, a sentence or two with the units of the axes, gets the ``source``, the files that have the numbers, and
    ``rerun``, the command that makes them.
    """
    return Chart(name, title, f"{caption} From {source}; made again by: {rerun}", spec) if spec else None


def curves(
    rows: Rows,
    x: str,
    y: str,
    *,
    template: str = "linear",
    order: Sequence[str] = (),
    x_scale: Mapping[str, Any] | None = None,
    y_scale: Mapping[str, Any] | None = None,
    joined: bool = True,
    level: float | None = None,
) -> Spec | None:
    """Draw lines, or points that are not ``joined``, with intervals where rows have them; None without rows.

    Rows have x and y, low and high (interval of y), series (colour), dash (dashes), panel (panels below each other).
    ``x`` and ``y`` are titles of the axes, the scales Vega-Lite's; the template is linear, or calibration with its
    diagonal. Charts that share series name them all in ``order``, so that one has the same colour in each. ``level`` is
    that of a dashed line.
    """
    rows = [row for row in finite(rows) if row["x"] is not None]
    if not rows:
        return None
    spec = _filled(template, rows, x, y, order, STROKE_DASH=_names(rows, "dash", {"value": [1, 0]}), PLOT_HEIGHT=HEIGHT)
    across, line = spec["encoding"]["x"], spec["layer"][-1]
    across["scale"] = dict(LOG) if x_scale == LOG else {**across["scale"], **(x_scale or {})}
    if all(row.get("low") is None for row in rows):
        del spec["layer"][-2]  # the intervals
    places = sorted(_unique(rows, "x"))
    if len(places) <= MOST_TICKS and all(float(place).is_integer() for place in places):
        across["axis"] = {"values": places}
    line["encoding"]["y"].setdefault("scale", {}).update(y_scale or {})
    if len(rows) <= MOST_MARKERS * len({(row.get("series"), row.get("panel")) for row in rows}):
        line["mark"]["point"] = True
    if not joined:
        line["mark"] = {**line["mark"], "type": "point", "size": 45}
    return _with_panels(_with_level(spec, "y", level), rows, "y")


def ranked(
    rows: Rows, x: str, *, order: Sequence[str] = (), scale: Mapping[str, Any] | None = None, level: float | None = None
) -> Spec | None:
    """Draw points with intervals by name, the first on top, of rows with name, value, low, high, series and panel."""
    if not rows:
        return None
    series = len(_unique(rows, "series"))
    size: dict[str, Any] = {"PLOT_WIDTH": max(WIDTH // 2, WIDTH + 30 - 6 * max(len(row["name"]) for row in rows))}
    size["PLOT_HEIGHT"] = {"step": 22} if series == 1 else {"step": 9 + 6 * series, "for": "position"}
    spec = _filled("ranked", rows, x, None, order, X="value", Y="name", SHAPE={"value": "circle"}, **size)
    if all(row.get("low") is None for row in finite(rows)):
        del spec["layer"][0]  # the intervals
    if series == 1:
        del spec["encoding"]["yOffset"]
    else:
        spec["encoding"]["yOffset"]["field"] = "series"
    for layer in spec["layer"]:
        layer["encoding"]["x"]["scale"] = {"zero": not scale, **(scale or {})}
    return _with_panels(_with_level(spec, "x", level), rows, "x")


def heat(rows: Rows, x: str, y: str, columns: int = 2) -> Spec | None:
    """Draw counts in shades of blue by panel, of rows with panel, label, chosen, count, share_of_label (shade)."""
    if not rows:
        return None
    spec = _filled("heat", rows, x, y, (), X="chosen", Y="label")
    for axis, field in (("x", "chosen"), ("y", "label")):
        spec["spec"]["encoding"][axis]["sort"] = _unique(rows, field)
    return spec | {"facet": {"field": "panel", "sort": _unique(rows, "panel"), "title": None}, "columns": columns}


def svg(one: Chart, colours: Mapping[str, str] = LIGHT) -> str:
    """Return the picture as an element of an HTML page that takes the page's width, with text as text.

    Ids begin with the chart's name, so that those of a page's charts differ. The same chart gives the same text.
    Without ``colours``, the colours are variables of CSS.
    """
    from vl_convert import vegalite_to_svg

    picture = vegalite_to_svg(json.loads(_coloured(_still(one.spec), colours)))
    picture = re.sub(r' (role|aria-\w+)="[^"]*"', "", picture)  # of the parts, which have no words of their own
    picture = re.sub(r'(id="|url\(#)(?=\w)', rf"\g<1>{one.name}-", picture)

    def scalable(size: re.Match[str]) -> str:
        most = f"max-width: {LARGEST * float(size[1]):.0f}px"
        return f' style="{most}" role="img" aria-label="{html.escape(one.title)}"'

    return re.sub(r' width="([^"]*)" height="[^"]*"', scalable, picture, count=1)


def png(one: Chart, scale: float = 2) -> bytes:
    """Return the picture as a PNG on white."""
    from vl_convert import vegalite_to_png

    return vegalite_to_png(json.loads(_coloured(_still(one.spec), LIGHT)), scale=scale)


def interactive(one: Chart) -> str:
    """Return the specification on white as JSON that no text in it can end a script element."""
    return _coloured(one.spec, LIGHT).replace("<", "\\u003c")


def _filled(template: str, rows: Rows, x: str, y: str | None, order: Sequence[str], **more: Any) -> Spec:
    """Return a template with its anchors replaced by values."""
    values: dict[str, Any] = {"DATA": finite(rows), "X": "x", "Y": "y", "X_LABEL": x or None, "Y_LABEL": y or None}
    values |= {"COLOR": _names(rows, "series", {"value": "var(--line-1)"}, order), "ZOOM_AND_PAN": ZOOM}
    values |= {"TITLE": "", "PLOT_WIDTH": WIDTH} | more

    def fill(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: fill(value) for key, value in part.items()}
        if isinstance(part, list):
            return [fill(value) for value in part]
        anchor = re.fullmatch(r"<DVC_METRIC_(\w+)>", part) if isinstance(part, str) else None
        return values[anchor[1]] if anchor else part

    spec: Spec = fill(_read(template))
    return spec | {"config": _read("theme")}


def _read(name: str) -> Any:
    return json.loads((SPECS / f"{name}.json").read_text(encoding="utf-8"))


def _names(rows: Rows, field: str, single: Spec, order: Sequence[str] = ()) -> Spec:
    """Return the encoding of names as colours or dashes, with a legend; ``single`` where no row has a name."""
    names = _unique(rows, field)
    if names in ([None], [""]):
        return single
    columns = max(1, int(1.1 * WIDTH / (6.2 * max(map(len, names)) + 30)))
    scale: dict[str, Any] = {"domain": names}
    if field == "series":
        places = [order.index(name) if name in order else place for place, name in enumerate(names)]
        scale["range"] = [f"var(--line-{place % 7 + 1})" for place in places]
    return {"field": field, "type": "nominal", "scale": scale, "legend": {"columns": columns}}


def _unique(rows: Iterable[Mapping[str, Any]], field: str) -> list[Any]:
    return list(dict.fromkeys(row.get(field) for row in rows))


def _with_level(spec: Spec, axis: str, value: float | None) -> Spec:
    if value is not None:
        mark = {"type": "rule", "color": "var(--soft)", "strokeDash": [4, 3], "strokeWidth": 1}
        hidden = dict.fromkeys({"x", "y", "yOffset", "color"} - {axis})
        spec["layer"].insert(
            0, {"data": {"values": [{}]}, "mark": mark, "encoding": {**hidden, axis: {"datum": value}}}
        )
    return spec


def _with_panels(spec: Spec, rows: Rows, free: str) -> Spec:
    """Put the panels that rows have below each other; the ``free`` axis of each has ticks of its own and no title."""
    names = _unique(rows, "panel")
    if names == [None]:
        return spec
    for layer in spec["layer"]:
        layer.pop("params", None)  # a scale that is zoomed would be one for all panels
        layer["encoding"][free]["title"] = None
    whole = {key: spec.pop(key) for key in ("$schema", "data", "config")}
    del spec["title"]
    facet = {"field": "panel", "type": "nominal", "sort": names, "title": None}
    return whole | {"facet": facet, "columns": 1, "spec": spec, "resolve": {"scale": {free: "independent"}}}


def _still(part: Any) -> Any:
    """Return a part of a specification without its interactive parts."""
    if isinstance(part, dict):
        unused = {"params", "tooltip"} | ({"point"} if part.get("point") == "transparent" else set())
        return {key: _still(value) for key, value in part.items() if key not in unused}
    return [_still(value) for value in part] if isinstance(part, list) else part


def _coloured(spec: Spec, colours: Mapping[str, str]) -> str:
    return re.sub(r"var\(--([\w-]+)\)", lambda found: colours.get(found[1], found[0]), json.dumps(spec))


def drawn() -> dict[str, str]:
    """Return the names of the systems with charts by their words, as in folders below artifacts/reports."""
    return {system.word: name for name, system in systems().items() if module_of(system, "charts")}


def charts(system: str, folder: Path = Path()) -> list[Chart]:
    """Return the charts of a system, by name or word, that have files. Raises ZugwerkError: unknown, or damaged."""
    known = systems().get(drawn().get(system, system))
    if known is None:
        raise ZugwerkError(f"no charts of '{system}'; there are those of {', '.join(drawn())}")
    module = module_of(known, "charts")
    found = importlib.import_module(module).charts(folder) if module else ()
    return [chart for chart in found if chart is not None]


def main(*options: str) -> None:
    """Write the charts that have their files as SVG and PNG."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=f"of {', '.join(drawn())}; all by default")
    parser.add_argument("--out", type=Path, default=Path("work/charts"), help="folder, work/charts by default")
    chosen = parser.parse_args(options)
    for system in chosen.systems or drawn():
        for chart in charts(system):
            with written_aside(chosen.out / f"{chart.name}.svg") as aside:
                aside.write_text(svg(chart), encoding="utf-8")
            with written_aside(chosen.out / f"{chart.name}.png") as aside:
                aside.write_bytes(png(chart))

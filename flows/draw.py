"""Draw a plot of DVC as a picture: Prefect's result pages show those, not Vega."""

import io
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

INCHES = (5.0, 3.2)
DPI = 80

Row = dict[str, Any]


class Layer(NamedTuple):
    """One mark of a Vega-Lite spec that shows the spec's own table."""

    mark: str
    encoding: dict[str, dict[str, Any]]
    """Channels that show a column, those of the layers around it included."""


def draw(spec: dict[str, Any]) -> bytes | None:
    """A picture of a Vega-Lite spec that `dvc plots show --json` wrote.

    Drawn are lines and points of numbers over x, with intervals where a layer of rules gives them, and horizontal bars.

    Args:
        spec: the plot, its table included.

    Returns:
        A PNG, or None for a plot of another kind, such as a confusion matrix.
    """
    layers = list(_layers(spec, {}))
    main = next((layer for layer in layers if _is_drawn(layer)), None)
    if main is None:
        return None
    figure = Figure(figsize=INCHES, dpi=DPI, layout="constrained")
    axes = figure.subplots()
    channels = main.encoding
    split = next((channels[c]["field"] for c in ("strokeDash", "shape", "column") if c in channels), "rev")
    series: dict[str, list[Row]] = defaultdict(list)
    for row in spec["data"]["values"]:
        series[str(row.get(split, ""))].append(row)
    for place, (name, rows) in enumerate(series.items()):
        if main.mark == "bar":
            _bars(axes, channels, rows, name, place, len(series))
        else:
            axes.plot(*_columns(rows, channels), "o-" if main.mark == "line" else "o", markersize=3, label=name)
        for rule in (layer for layer in layers if layer.mark == "rule" and {"x", "y", "y2"} <= layer.encoding.keys()):
            at, low, high = _columns(rows, rule.encoding, "x", "y", "y2")
            axes.vlines(at, low, high, colors=f"C{place}", alpha=0.5)
    axes.set(xlabel=_title(channels["x"]), ylabel=_title(channels["y"]))
    axes.grid(alpha=0.3)
    if len(series) > 1:
        figure.legend(loc="outside upper center", ncols=2, fontsize="small")
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def _layers(node: dict[str, Any], inherited: dict[str, Any]) -> Iterator[Layer]:
    own = {k: v for k, v in node.get("encoding", {}).items() if isinstance(v, dict) and isinstance(v.get("field"), str)}
    encoding = inherited | own
    mark = node.get("mark")
    if mark is not None:
        yield Layer(mark["type"] if isinstance(mark, dict) else mark, encoding)
    for layer in node.get("layer", []):
        if "data" not in layer:  # a layer with a table of its own is decoration
            yield from _layers(layer, encoding)


def _is_drawn(layer: Layer) -> bool:
    numbers = [c for c in ("x", "y") if layer.encoding.get(c, {}).get("type") == "quantitative"]
    if not {"x", "y"} <= layer.encoding.keys():
        return False
    return "x" in numbers if layer.mark == "bar" else layer.mark in ("line", "point", "circle") and "y" in numbers


def _bars(axes: Axes, channels: dict[str, Any], rows: list[Row], name: str, place: int, of: int) -> None:
    lengths, labels = _columns(rows, channels)
    height = 0.8 / of
    axes.barh([n + height * (place - (of - 1) / 2) for n in range(len(labels))], lengths, height, label=name)
    axes.set_yticks(range(len(labels)), labels)


def _columns(rows: list[Row], channels: dict[str, Any], *names: str) -> list[list[Any]]:
    return [
        [_value(row.get(channels[name]["field"]), channels[name].get("type")) for row in rows]
        for name in names or ("x", "y")
    ]


def _value(text: Any, kind: str | None) -> Any:
    """The number a table's text stands for, NaN where there is none, so that the axis is one of numbers."""
    if kind == "nominal":
        return str(text)
    return float("nan") if text in ("", None) else float(text)


def _title(channel: dict[str, Any]) -> str:
    return str(channel.get("title") or channel["field"])

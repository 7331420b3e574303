"""The style of charts, and their parts: curves, dots with intervals, bars, heat maps.

A chart is as wide as a phone's screen, so that its text is readable there. A page may stretch it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline_src.report.charts.reading import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.2, 2.9
"""Width in inches: 302 points, about the number of pixels of a phone's screen."""
INK, SOFT, FAINT = "#222222", "#666666", "#e4e4e4"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#222222")
"""Okabe and Ito's palette (Color Universal Design, 2008) without its yellow, which is too light on white."""
MARKERS = "osD^vPX"
TICK_STEPS = (1, 2, 5, 10)
MOST_MARKERS = 25
"""Largest number of points of a curve with markers."""
STYLE: dict[Any, Any] = {  # matplotlib has a type for its keys, which grows
    "axes.axisbelow": True,
    "axes.edgecolor": "#999999",
    "axes.grid": True,
    "axes.labelcolor": SOFT,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": SOFT,
    "axes.titlelocation": "left",
    "axes.titlepad": 5,
    "axes.titlesize": 9,
    "errorbar.capsize": 2,
    "figure.facecolor": "white",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 9,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "legend.columnspacing": 1.2,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.handlelength": 1.5,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.3,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "savefig.facecolor": "white",
    "svg.fonttype": "none",
    "svg.hashsalt": "zugwerk",
    "text.color": INK,
    "xtick.color": "#999999",
    "xtick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.color": "#999999",
    "ytick.labelcolor": INK,
    "ytick.labelsize": 9,
}


class Look(NamedTuple):
    """Colour and marker of a series, by its number in the chart."""

    place: int

    @property
    def colour(self) -> str:
        """Value for matplotlib."""
        return COLOURS[self.place % len(COLOURS)]

    @property
    def marker(self) -> str:
        """Value for matplotlib."""
        return MARKERS[self.place % len(MARKERS)]


@contextmanager
def styled() -> Iterator[None]:
    """Apply this style within the block, independent of the user's own."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield


def panels(count: int = 1, height: float = HEIGHT) -> tuple[Figure, list[Axes]]:
    """Make a figure of panels one above the other, ``height`` inches each, with a common horizontal axis."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    figure = Figure(figsize=(WIDTH, height * count), layout="constrained")
    found = list(figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0])
    for axes in found:
        for axis, most in ((axes.xaxis, 7), (axes.yaxis, round(2.6 * height))):
            axis.set_major_locator(
                MaxNLocator(most, steps=TICK_STEPS)
            )  # as many at any size, so that the layout settles
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    return figure, found


def curve(axes: Axes, x: Sequence[float], y: Sequence[float], name: str, look: Look, **options: Any) -> None:
    """Draw a line, with markers if it has few points."""
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker if len(x) <= MOST_MARKERS else ""}
    axes.plot(x, y, label=name, **style | options)


def measured(
    axes: Axes, x: Sequence[float], y: Sequence[Estimate], name: str, look: Look, *, joined: bool = True, **options: Any
) -> None:
    """Draw points with intervals, joined by a line or not."""
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "elinewidth": 1}
    style["linestyle"] = "-" if joined else ""
    axes.errorbar(x, [one.value for one in y], yerr=_arms(y), label=name, **style | options)


def ranked(
    axes: Axes,
    names: Sequence[str],
    x: Sequence[Estimate | None],
    name: str,
    look: Look,
    shift: float = 0,
    **options: Any,
) -> None:
    """Draw points with intervals, one for each line of text, the first on top, ``shift`` lines further down."""
    there = [(place + shift, one) for place, one in enumerate(x) if one is not None]
    places, values = [place for place, _ in there], [one for _, one in there]
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": "", "elinewidth": 1}
    axes.errorbar([one.value for one in values], places, xerr=_arms(values), label=name, **style | options)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def bars(axes: Axes, names: Sequence[str], x: Sequence[Estimate], name: str, look: Look, place: int, of: int) -> None:
    """Draw horizontal bars, the first on top, of series ``place`` out of ``of``, with each value beside its bar."""
    height = 0.8 / of
    at = [line + height * (place - (of - 1) / 2) for line in range(len(names))]
    axes.barh(at, [one.value for one in x], height * 0.9, color=look.colour, label=name)
    axes.errorbar([one.value for one in x], at, xerr=_arms(x), linestyle="", color=INK, elinewidth=1)
    for y, one in zip(at, x, strict=True):
        beyond = one.value if math.isnan(one.high) else max(one.value, one.high)
        axes.annotate(f"{one.value:.2f}", (beyond, y), (4, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def heat(
    axes: Axes,
    shares: Sequence[Sequence[float]],
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
) -> None:
    """Draw a table of shares in shades of blue with the text of each cell, the first row on top; NaN is blank."""
    import numpy as np

    values = np.ma.masked_invalid(np.array(shares, dtype=np.float64))
    axes.pcolormesh(values, cmap="Blues", vmin=0, vmax=1, edgecolors="white", linewidth=1)
    for row, line in enumerate(texts):
        for column, text in enumerate(line):
            ink = "white" if shares[row][column] > 0.6 else INK
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=8)
    axes.set_xticks([place + 0.5 for place in range(len(columns))], columns)
    axes.set_yticks([place + 0.5 for place in range(len(rows))], rows)
    axes.set_ylim(len(rows), 0)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def level(axes: Axes, value: float, name: str = "", *, across: bool = False) -> None:
    """Draw a dashed line at a value of the vertical axis, or of the horizontal one if ``across``, with its name."""
    draw = axes.axvline if across else axes.axhline
    draw(value, color=SOFT, linestyle=(0, (4, 3)), linewidth=1, zorder=1, label=name or "_")


def share_axis(axis: Axis) -> None:
    """Set up an axis of shares or scores, 0 to 1."""
    set_limits = axis.axes.set_xlim if axis is axis.axes.xaxis else axis.axes.set_ylim
    set_limits(-0.04, 1.04)
    axis.set_ticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])


def count_axis(axis: Axis) -> None:
    """Set up an axis of whole numbers."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axis.set_major_locator(MaxNLocator(nbins=6, steps=TICK_STEPS, integer=True))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def log_axis(axis: Axis, values: Sequence[float]) -> None:
    """Set up a logarithmic axis of ``values`` with ticks at 1, 2, 5, 10, ..."""
    from matplotlib.ticker import NullLocator

    set_scale = axis.axes.set_xscale if axis is axis.axes.xaxis else axis.axes.set_yscale
    set_scale("log")
    low, high = 0.7 * min(values), 1.4 * max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [tick for power in powers for tick in (10.0**power, 2 * 10.0**power, 5 * 10.0**power) if low < tick < high]
    axis.set_ticks(ticks, [f"{tick:,.0f}" if tick >= 1 else f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def from_zero(axes: Axes) -> None:
    """Begin the vertical axis at 0, with room for points at 0."""
    top = axes.get_ylim()[1]
    axes.set_ylim(-0.04 * top, top)


def legend(figure: Figure, axes: Axes) -> None:
    """Write the legend above all panels, in as few lines as possible."""
    handles, names = axes.get_legend_handles_labels()
    columns = next((n for n in range(len(names), 1, -1) if _legend_width(names, n) < WIDTH * 72), 1)
    figure.legend(handles, names, loc="outside upper left", ncols=columns)


def _legend_width(names: Sequence[str], columns: int) -> float:
    """Return the width of that many columns in points, with a generous width for letters."""
    length, longer = divmod(len(names), columns)  # as matplotlib fills them, the first ones being the longer
    ends = [length * n + min(n, longer) for n in range(columns + 1)]
    letters = sum(max(len(name) for name in names[a:b]) for a, b in pairwise(ends))
    return 9 * (1.5 + 0.5 + 1.2) * columns + 5.6 * letters


def _arms(values: Sequence[Estimate]) -> list[list[float]]:
    """Return the lengths of the intervals below and above. NaN stays NaN and draws none."""
    return [[_length(one.low, one.value) for one in values], [_length(one.value, one.high) for one in values]]


def _length(low: float, high: float) -> float:
    return 0.0 if low > high else high - low  # rounding may leave an end on the wrong side of the value

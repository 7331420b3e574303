"""A chart with its words, and as a picture: SVG for a page, PNG for what shows no SVG."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree

from pipeline_src.report.charts.drawing import styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
STROKES = "stroke-linejoin: round; stroke-linecap: butt"
"""What matplotlib sets for everything in a file; in a page that rule would be for all of the page."""


class Chart(NamedTuple):
    """One chart of a system's report."""

    name: str
    """Letters, digits and hyphens; no other chart has it."""
    title: str
    caption: str
    """What one sees, where the numbers come from, how to make them again: plain text."""
    figure: Figure


def chart(name: str, title: str, caption: str, source: str, rerun: str, figure: Figure) -> Chart:
    """The chart; the figure learns its name and title, so that its picture has them, and its layout is settled.

    Args:
        name: see `Chart`.
        title: a few words.
        caption: what one sees, in a sentence or two, with the axes' units.
        source: the files that the numbers come from.
        rerun: the command that makes these files.
        figure: drawn to the end.
    """
    figure.set_gid(name)
    figure.set_label(title)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # else each picture would be laid out anew, a little differently
    return Chart(name, title, f"{caption} From {source}; made again by: {rerun}", figure)


def svg(figure: Figure) -> str:
    """The picture as an element of an HTML page: as wide as the page lets it be, text as text, no prolog.

    Ids begin with the chart's name, so two charts on a page have none in common; the same figure gives the same text.
    """
    file = io.StringIO()
    with styled():
        figure.savefig(file, format="svg")
    root = ElementTree.fromstring(file.getvalue())  # noqa: S314  written above
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    for parent in root.iter():
        for child in [one for one in parent if one.tag.rpartition("}")[2] in ("metadata", "style")]:
            parent.remove(child)
    prefix = str(figure.get_gid())
    for element in root.iter():
        element.attrib.update({key: _own(key, value, prefix) for key, value in element.attrib.items()})
    for size in ("width", "height"):
        del root.attrib[size]
    root.attrib |= {"role": "img", "aria-label": str(figure.get_label()), "style": STROKES}
    return ElementTree.tostring(root, encoding="unicode")


def png(figure: Figure, dpi: int = 150) -> bytes:
    """The picture as a PNG on white."""
    file = io.BytesIO()
    with styled():
        figure.savefig(file, format="png", dpi=dpi)
    return file.getvalue()


def _own(key: str, value: str, prefix: str) -> str:
    """An attribute's value with the ids in it made this chart's own."""
    if key == "id":
        return f"{prefix}-{value}"
    if key == f"{{{XLINK}}}href":
        return value.replace("#", f"#{prefix}-", 1)
    return re.sub(r"url\(#", f"url(#{prefix}-", value)

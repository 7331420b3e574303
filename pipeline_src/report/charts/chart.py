"""Charts with their titles and captions, as SVG for pages and as PNG."""

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
"""Style that matplotlib sets for a whole SVG file. Inside a page it would apply to the whole page."""


class Chart(NamedTuple):
    """One chart of a system's report."""

    name: str
    """Unique name of letters, digits and hyphens."""
    title: str
    caption: str
    """Description, source of the numbers and command to make them again, as plain text."""
    figure: Figure


def chart(name: str, title: str, caption: str, source: str, rerun: str, figure: Figure) -> Chart:
    """Make a chart. The figure gets its name and title, which the picture contains, and a final layout.

    Args:
        name: see `Chart`.
        title: title of a few words.
        caption: description of a sentence or two, with the units of the axes.
        source: the files that the numbers come from.
        rerun: the command that makes these files.
        figure: the complete figure.
    """
    figure.set_gid(name)
    figure.set_label(title)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # else each picture would be laid out anew, a little differently
    return Chart(name, title, f"{caption} From {source}; made again by: {rerun}", figure)


def svg(figure: Figure) -> str:
    """Return the picture as an element of an HTML page that takes the page's width, with text as text and no prolog.

    Ids begin with the chart's name, so that those of a page's charts differ. The same figure gives the same text.
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
    """Return the picture as a PNG on white."""
    file = io.BytesIO()
    with styled():
        figure.savefig(file, format="png", dpi=dpi)
    return file.getvalue()


def _own(key: str, value: str, prefix: str) -> str:
    """Return an attribute's value with the chart's name before each id."""
    if key == "id":
        return f"{prefix}-{value}"
    if key == f"{{{XLINK}}}href":
        return value.replace("#", f"#{prefix}-", 1)
    return re.sub(r"url\(#", f"url(#{prefix}-", value)

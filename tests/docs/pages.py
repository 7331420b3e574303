"""The project's pages, and what is in them."""

import re

from pipeline_src.reference.__main__ import LOCAL
from tests.layout.imports import ROOT

PAGES = [
    ROOT / "README.md",
    *(
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.parent.name != "reference" or path.name not in LOCAL
    ),
]  # those in git
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path):
    """(language, text) of each fenced block of a page."""
    return _FENCE.findall(path.read_text())


def prose(path):
    """A page without its fenced blocks."""
    return _FENCE.sub("", path.read_text())


def anchors(path):
    """The anchors that GitHub gives a page's headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.+)$", prose(path), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        again = sum(slug == one or re.fullmatch(re.escape(slug) + r"-\d+", one) is not None for one in found)
        found.add(slug if not again else f"{slug}-{again}")
    return found

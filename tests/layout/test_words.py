"""Docstrings begin with a word that says something, not with one that continues a line before."""

import ast
import re

from tests.layout.imports import ROOT, modules, parsed

ROOMS = (
    *("games", "records", "search", "players", "learning", "arena", "systems", "stages", "report", "web", "cli"),
    *("jit", "parallel", "reference"),
)
EMPTY = {"What", "Whose", "Whom", "Of", "Which", "That", "Those", "There", "Such", "And", "Or", "But", "So"}
"""First words that name nothing. ``Which`` and ``That`` continue another sentence; ``Whether`` answers a question."""


def docstrings(path):
    """(line, first word) of every string that stands alone: docstrings of modules, classes, functions and fields."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            word = re.match(r"\W*(\w*)", node.value.value)[1]
            yield node.lineno, word


def test_no_docstring_begins_with_a_word_that_names_nothing():
    rooms = (*(f"pipeline_src.{room}" for room in ROOMS), "flows")
    paths = [path for name, path in modules().items() if name.startswith(rooms)]
    found = [
        f"{path}:{line}: {word} ..."
        for path in (*paths, *(ROOT / "bench").rglob("*.py"))
        for line, word in docstrings(path)
        if word in EMPTY
    ]
    assert not found, "docstrings name the thing that they describe first:\n" + "\n".join(found)

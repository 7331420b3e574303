"""First-party modules, as the tests of the layout ask for them."""

import ast
from functools import cache

from pipeline_src.project.code import ROOT as ROOT

PACKAGES = ("pipeline_src", "spiders", "flows")


@cache
def modules():
    """Name -> file of every first-party module."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parsed(path):
    """The syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"))

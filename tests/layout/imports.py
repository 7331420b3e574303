"""First-party modules and what they import, as the tests of the layout ask for them."""

import ast
from functools import cache

from pipeline_src.project.code import ROOT as ROOT
from pipeline_src.project.code import Code, read_source

PACKAGES = ("pipeline_src", "spiders", "flows")
CODE = Code(ROOT)


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


@cache
def imported(name):
    """Dotted names that a module imports, third-party ones too; ``from a import b`` is a.b where that is a module."""
    names = read_source(modules()[name].read_text()).names
    return {n if n in modules() or n.rpartition(".")[0] not in modules() else n.rpartition(".")[0] for n in names}

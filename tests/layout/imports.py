"""First-party modules and params, as the tests ask for them."""

import ast
from functools import cache

from pipeline_src import yaml12
from pipeline_src.project.code import ROOT as ROOT
from pipeline_src.project.profile import LAPTOP, merged_text

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


# Params of profiles, each merged once for all tests.


@cache
def profile_text(name):
    """The params file of a profile; the laptop's is params.yaml as it stands."""
    return (ROOT / "params.yaml").read_text() if name == LAPTOP else merged_text(name, ROOT)


@cache
def profile_tree(name):
    """The params of a profile as nested dicts, which nobody changes."""
    return yaml12.parse(profile_text(name))

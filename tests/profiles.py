"""Params of profiles, each merged once for all tests."""

from functools import cache

from pipeline_src import yaml12
from pipeline_src.project.profile import LAPTOP, merged_text
from tests.layout.imports import ROOT


@cache
def profile_text(name):
    """The params file of a profile; the laptop's is params.yaml as it stands."""
    return (ROOT / "params.yaml").read_text() if name == LAPTOP else merged_text(name, ROOT)


@cache
def profile_tree(name):
    """The params of a profile as nested dicts, which nobody changes."""
    return yaml12.parse(profile_text(name))

"""Every section of params.yaml, each of its values replaced by what does not belong there."""

import ast
import importlib
import math

import pytest
import yaml

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import build, load
from pipeline_src.project.sections import SECTIONS
from tests.layout.imports import ROOT, modules

TREE = yaml.safe_load((ROOT / "params.yaml").read_text())
WRONG = [None, "", "x", "../x", "\x00", True, -1, 0, 1, 1.5, 10**30, -1e300, math.nan, math.inf, [], [None], ["x"], {}]
WRONG += [{"x": 1}, {"x": None}, [[]], [1, 2, 3], "9" * 5000]


def loaded():
    """Section -> model, from the sources: who loads what."""
    found = {}
    for name, path in modules().items():
        tree = ast.parse(path.read_text())
        nodes = list(ast.walk(tree))
        home = {one.name: node.module for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
        for node in nodes:
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "load" and len(node.args) > 1:
                kind, section = node.args[:2]
                if isinstance(kind, ast.Name) and isinstance(section, ast.Constant):
                    found[section.value] = getattr(importlib.import_module(home.get(kind.id, name)), kind.id)
    return found


def test_stages_read_the_models_that_sections_name():
    assert {**SECTIONS, **loaded()} == SECTIONS
    assert SECTIONS.keys() - loaded().keys() == {"gomoku_generations", "growing_larger"}


def places(value, path=()):
    """Every key of a nested value."""
    for key, inner in value.items():
        yield (*path, key)
        if isinstance(inner, dict):
            yield from places(inner, (*path, key))


def replaced(value, path, new):
    key, *rest = path
    return {**value, key: replaced(value[key], rest, new) if rest else new}


def without(value, path):
    key, *rest = path
    return {**value, key: without(value[key], rest)} if rest else {k: v for k, v in value.items() if k != key}


@pytest.mark.parametrize("section", SECTIONS)
def test_whatever_stands_in_a_section_it_is_read_or_refused_by_name(section):
    messages = []
    for path in places(TREE[section]):
        variants = [replaced(TREE[section], path, wrong) for wrong in WRONG]
        variants += [without(TREE[section], path), replaced(TREE[section], (*path[:-1], "nothing_of_ours"), 1)]
        for values in variants:
            try:
                build(SECTIONS[section], values, section, "params.yaml")
            except ZugwerkError as error:
                messages.append(str(error))
    assert messages
    assert not [text for text in messages if "\n" in text or not text.startswith(f"params.yaml: {section}")]


@pytest.mark.parametrize(
    "text", ["", "\n", "null", "[]", "3", "a: [", "\x00", "a: &a [*a]", "- seed: 1", "\t", "a: !!python/name:os.system"]
)
def test_no_params_at_all(tmp_path, text):
    (tmp_path / "params.yaml").write_text(text)
    with pytest.raises(ZugwerkError, match=r"params\.yaml: "):
        load(SECTIONS["depth_game"], "depth_game", tmp_path / "params.yaml")


def test_params_in_no_text(tmp_path):
    for data in (b"seed: \xff\xfe", b"seed: " + b"9" * 5000, b"seed: " + b"[" * 5000):
        (tmp_path / "params.yaml").write_bytes(data)
        with pytest.raises(ZugwerkError, match=r"params\.yaml: not valid YAML") as error:
            load(SECTIONS["depth_game"], "depth_game", tmp_path / "params.yaml")
        assert "\n" not in str(error.value)

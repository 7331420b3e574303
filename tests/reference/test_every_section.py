"""Every section of params.yaml, each of its values replaced by what does not belong there."""

import ast
import importlib
import math
import re
from contextlib import nullcontext

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import build, load
from pipeline_src.reference.stage_code import SECTIONS, check_params
from tests.layout.imports import ROOT, modules, parsed
from tests.profiles import profile_tree

TREE = profile_tree("laptop")
WRONG = [None, "", "x", "../x", "\x00", True, -1, 0, 1, 1.5, 10**30, -1e300, math.nan, math.inf, [], [None], ["x"], {}]
WRONG += [{"x": 1}, {"x": None}, [[]], [1, 2, 3], "9" * 5000]


def loaded():
    """Section, function and model of each ``load`` and ``load_part`` in the sources that names all three."""
    for name, path in modules().items():
        if not re.search(r"\bload(_part)?\(", path.read_text()):
            continue
        nodes = list(ast.walk(parsed(path)))
        home = {one.name: node.module for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
        for node in nodes:
            match node:
                case ast.Call(ast.Name("load" | "load_part" as read), [ast.Name(kind), ast.Constant(section), *_]):
                    if section in SECTIONS:
                        yield section, read, getattr(importlib.import_module(home.get(kind, name)), kind)


def test_stages_read_the_models_that_sections_name():
    found = list(loaded())
    for section, read, kind in found:
        assert SECTIONS[section] is kind if read == "load" else issubclass(SECTIONS[section], kind), section
    by_other_names = {
        "amazons_generations",
        "gomoku_generations",
        "gomoku_net",
        "growing_first",
        "growing_larger",
        "growing_net",
    }
    by_other_names |= {"amazons_train", "amazons_residual", "amazons_rays", "depth_train"}
    assert SECTIONS.keys() - {section for section, _, _ in found} == by_other_names


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
def test_any_section_value_is_read_or_refused_by_name(section):
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("seed: 2", "seed: x2", "params.yaml: seed: expected int"),
        ("torch_threads: 1", "torch_threads: 0", "params.yaml: torch_threads: must be at least 1"),
        ("\ndepth_split:", "\ndepth_splits:", "params.yaml: depth_splits: no such section"),
        ("  held_out:", "  hold_out:", "params.yaml: joseki_evaluate.hold_out: unknown key"),
        ('{before: "6", generations: 12}', '{before: "7", generations: 12}', "growing_larger.9: expected"),
        ('"10": {before: "09"}', '"10": {before: "08"}', "gomoku_generations: expected generations in a row"),
    ],
)
def test_the_whole_file_is_checked_before_any_stage_runs(tmp_path, old, new, message):
    text = (ROOT / "params.yaml").read_text()
    assert old in text
    (tmp_path / "params.yaml").write_text(text.replace(old, new, 1))
    with pytest.raises(ZugwerkError) if message else nullcontext() as error:
        check_params(tmp_path / "params.yaml")
    assert message is None or message in str(error.value)

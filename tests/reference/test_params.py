"""Each stage reads the params that dvc.yaml lists for it, and no others."""

import ast
import importlib
import math
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext, suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project import params
from pipeline_src.project.graph import GRAPH, overlap, read_graph
from pipeline_src.project.params import build, load
from pipeline_src.reference.stage_code import CHANGE_NO_RESULT, SECTIONS, check_params, record, unlisted_keys
from pipeline_src.selfplay import generation
from pipeline_src.stage import main_of
from tests.layout.imports import ROOT, modules, parsed, profile_text, profile_tree

WORK = ("each_kept", "run_generation", "grow", "bring_games")  # Functions that begin the work of stages without deps
WHOLE_FILE = {"report_page"}
"""The page looks at all of params.yaml by the keys of its figures and by those that reports name."""


class BegunError(Exception):
    """The stage has read its params."""


def begin(*args, **kwargs):
    raise BegunError


def cases():
    """First and last target of each stage at laptop size, and those with other kinds of nets at the published one."""
    for profile, only in (("laptop", ""), ("paper", ("amazons_train", "gomoku", "growing"))):
        for name, stage in graph_of(profile).items():
            if name.startswith(only) and name not in WHOLE_FILE:
                targets = list(stage.listed)
                yield from ((profile, target) for target in dict.fromkeys((targets[0], targets[-1])))


@cache
def graph_of(profile):
    with TemporaryDirectory() as folder:
        shutil.copy(ROOT / GRAPH, folder)
        Path(folder, "params.yaml").write_text(profile_text(profile))
        return read_graph(Path(folder) / GRAPH)


def least(keys):
    """Keys without those that stand below another one."""
    return {key for key in keys if not any(key != other and f"{key}.".startswith(f"{other}.") for other in keys)}


@cache
def tree_of(text):
    return yaml12.parse(text)


def command(target):
    """The words of a target's command after `python -m pipeline_src.stage`."""
    definition = tree_of((ROOT / GRAPH).read_text())["stages"][target.partition("@")[0]]
    return definition.get("do", definition)["cmd"].split()[3:]


def words(target, profile):
    """The options of a target's command."""
    first = str(tree_of(profile_text(profile))["growing_first"]["size"])
    values = {"${growing_first.size}": first} | dict.fromkeys(("${key}", "${item}"), target.partition("@")[2])
    return [values.get(word, word) for word in command(target)[1:]]


@pytest.mark.parametrize(("profile", "target"), cases())
def test_a_stage_reads_the_params_that_are_listed_for_it(tmp_path, monkeypatch, profile, target):
    """It runs without any data, up to where it needs some; by then it has read all its params."""
    stage = graph_of(profile)[target.partition("@")[0]]
    module, main = importlib.import_module(stage.module), main_of(command(target)[0])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text(profile_text(profile))
    for where in (module, generation):
        for name in WORK:
            if hasattr(where, name):
                monkeypatch.setattr(where, name, begin)
    if stage.name == "amazons_calibration":
        nets = SimpleNamespace(config=SimpleNamespace(size=10))
        monkeypatch.setattr(module, "load_nets", lambda path: nets)
    monkeypatch.setattr(params, "KEYS_READ", read := set())
    monkeypatch.setattr(params, "read_tree", lambda path="params.yaml": deepcopy(tree_of(Path(path).read_text())))
    with suppress(BegunError, params.ZugwerkError, FileNotFoundError):
        main(*words(target, profile))
    read = least({key for key in read if not overlap(key, CHANGE_NO_RESULT)})
    assert read == least(stage.listed[target])


def test_keys_below_a_listed_one_are_listed_siblings_are_not():
    stage = graph_of("laptop")["growing_board"]
    read = ["growing_larger.9.before", "growing_train.batch", "growing_first.size", "parallel"]
    assert unlisted_keys(stage, "growing_board@9", read) == []
    others = ["growing_larger", "growing_larger.99", "growing_first", "growing_evaluate"]
    assert unlisted_keys(stage, "growing_board@9", [*read, *others]) == sorted(others)


@pytest.mark.slow
def test_checked_stage_fails_after_reading_an_unlisted_key(tmp_path):
    shutil.copy(ROOT / "params.yaml", tmp_path)
    text = (ROOT / GRAPH).read_text()
    listed = "params: [artifacts/code.json: [code.joseki_build], joseki_build]"
    command = [sys.executable, "-m", "pipeline_src.stage", "systems.joseki.build"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DVC_STAGE": "joseki_build", "ZUGWERK_CHECK_CODE": "1"}
    found = []
    for params_of in (listed, listed.replace(", joseki_build]", ", joseki_evaluate]")):
        assert listed in text
        (tmp_path / GRAPH).write_text(text.replace(listed, params_of))
        record(tmp_path)
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert done.returncode == 1  # there are no games
        found.append(done.stderr.splitlines())
    missing, told = found
    assert told == [
        *missing,
        "error: joseki_build has read joseki_build, which dvc.yaml does not list for it; add them to its params",
    ]


# Every section of params.yaml, each of its values replaced by what does not belong there.


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


# Values of params.yaml that a system refuses, with the key and what would be right.


REFUSED = [
    ("amazons_parse.min_plies", 0, "min_plies must be at least 1"),
    ("amazons_parse.variants", [], "variants must name at least one, each once"),
    ("amazons_parse.variants", ["standard", "standard"], "variants must name at least one, each once"),
    ("amazons_parse.variants", ["size8"], "'size8' is not one of standard, cross"),
    ("amazons_parse.max_plies", 9, "amazons_parse.max_plies: unknown key"),
    ("amazons_samples.size", 7, "amazons_samples.size: 7 is not one of 6, 8, 10"),
    ("amazons_samples", {"size": 8, "variants": ["cross"]}, "the cross start is for size 10, not 8"),
    ("amazons_samples.split.validation", 0, "amazons_samples.split: validation must be above 0"),
    ("amazons_samples.teachers", "(master", "teachers '(master' is no regular expression: missing )"),
    ("amazons_models.trained", {"cross_entropy": "amazons_train"}, "must name residual"),
    ("amazons_models.trained.residual", "amazons_train", "trained with amazons_residual, not amazons_train"),
    ("amazons_train.optimizer", "adamw", "amazons_train.optimizer: unknown key"),
    ("amazons_train.dropout", 1.0, "dropout must be at least 0 and below 1, not 1.0"),
    ("amazons_train.width", 0.0, "width must be above 0, not 0.0"),
    ("amazons_train.value_weight", -1.0, "value_weight must be at least 0"),
    ("amazons_residual.blocks", 0, "blocks must be at least 1"),
    ("amazons_residual.width", 0.5, "amazons_residual.width: unknown key"),
    ("amazons_match.matches", {}, "matches must name at least one"),
    ("amazons_match.opening_plies", 0, "opening_plies must be 1 to 20"),
    ("depth_game.engine", "width=40,depth=4", "engine: depth=4: what chooses the depth"),
    ("depth_game.engine", "width=40,model=net.pt", "engine: model=net.pt: what chooses the depth"),
    ("depth_game.engine", "width=40,lowest=2", "engine: lowest=2: what chooses the depth"),
    ("depth_game.highest", 17, "highest"),
    ("depth_train.models.x", {"label": "reached", "balance": "smote", "inputs": "full"}, "smote interpolates between"),
    ("depth_match.players.table", "depth=2", "the name table is that of the published opponent"),
    ("depth_match.matches.x", {"a": "table", "b": "table", "pairs": 1}, "matches.x.a: no player 'table'"),
    ("depth_match.matches.x", {"a": "ours", "b": "theirs", "pairs": 1}, "matches.x.b: no player 'theirs'"),
    ("report_positions.gomoku.simulations", 0, "report_positions.gomoku: simulations must be at least 1"),
    ("report_positions.joseki.ply", -1, "report_positions.joseki: ply must be at least 0"),
    ("report_positions.depth.depth", 3, "report_positions.depth.depth: unknown key"),
]


def with_value(tree, keys, value):
    """A tree with another value at some keys."""
    key, *below = keys
    if below:
        return {**tree, key: with_value(tree.get(key, {}), below, value)}
    return {**tree, key: value}


@pytest.mark.parametrize(("key", "value", "said"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_wrong_value_is_refused_by_its_key(key, value, said):
    section, _, below = key.partition(".")
    tree = with_value(TREE[section], below.split("."), value) if below else {**TREE[section], **value}
    with pytest.raises(ZugwerkError) as error:
        build(SECTIONS[section], tree, section, "params.yaml")
    assert str(error.value).startswith(f"params.yaml: {section}")
    assert said in str(error.value)

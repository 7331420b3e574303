"""Each stage reads the params that dvc.yaml lists for it, and no others."""

import importlib
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import pytest

from pipeline_src import yaml12
from pipeline_src.project import params
from pipeline_src.project.graph import GRAPH, overlap, read_graph
from pipeline_src.reference.stage_code import CHANGE_NO_RESULT, record, unlisted_keys
from pipeline_src.selfplay import generation
from pipeline_src.stage import main_of
from tests.layout.imports import ROOT
from tests.profiles import profile_text

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

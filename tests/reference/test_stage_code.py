"""Digests of the stages' code: written to a file in git, and refused where they are those of other code."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from pipeline_src import yaml12
from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import CODE_FILE
from pipeline_src.project.schedule import repro
from tests.layout.imports import ROOT


@pytest.fixture
def project(empty_checkout, tmp_path, monkeypatch):
    """The graph and its digests, without data."""
    folder = tmp_path / "checkout"
    shutil.copytree(empty_checkout, folder)
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, folder)
    monkeypatch.chdir(folder)
    CODE_FILE.parent.mkdir()
    zugwerk("code")
    return folder


def zugwerk(*words):
    told = CliRunner().invoke(app, words)
    if told.exception and not isinstance(told.exception, SystemExit):
        raise told.exception
    return told.output


def set_digest(stage, digest):
    text = json.loads(CODE_FILE.read_text())
    text["code"][stage] = digest
    CODE_FILE.write_text(json.dumps(text))


def test_digests_in_git_are_those_of_the_sources():
    zugwerk("code", "--check")


def test_command_writes_what_differs_and_check_refuses_it(project):
    made = CODE_FILE.read_text()
    assert zugwerk("code") == ""
    zugwerk("code", "--check")
    for stage, digest in (("joseki_build", "0" * 16), ("stage_of_old", "1" * 16)):
        set_digest(stage, digest)
        with pytest.raises(ZugwerkError, match=f"{CODE_FILE}: .* of {stage}; `zugwerk code` writes them"):
            zugwerk("code", "--check")
        assert zugwerk("code") == f"{CODE_FILE}: new digests of {stage}\n"
        assert CODE_FILE.read_text() == made
    CODE_FILE.write_text(f"<<<<<<< ours\n{made}")
    zugwerk("code")
    assert CODE_FILE.read_text() == made


def test_mistake_in_any_section_is_an_error_before_anything_runs(project):
    (project / "params.yaml").write_text((ROOT / "params.yaml").read_text() + "unknown: 1\n")
    with pytest.raises(ZugwerkError, match="unknown: no such section"):
        zugwerk("code", "--check")


def test_dvc_yaml_lists_the_outputs_that_the_params_make(project):
    def models(stage):
        deps = yaml12.parse((project / "dvc.yaml").read_text())["stages"][stage]["deps"]
        return [dep for dep in deps if dep.startswith("artifacts/models/gomoku/")]

    before, params = (project / "dvc.yaml").read_text(), (project / "params.yaml").read_text()
    zugwerk("gomoku", "generations", "3")
    fewer = [f"artifacts/models/gomoku/{number:02}" for number in (1, 2, 3)]
    assert models("gomoku_evaluate") == models("report_positions") == fewer
    zugwerk("code", "--check")
    (project / "params.yaml").write_text(params)
    with pytest.raises(ZugwerkError, match=r"dvc\.yaml: .*`zugwerk code` writes them"):
        zugwerk("code", "--check")
    zugwerk("code")
    assert (project / "dvc.yaml").read_text() == before


@pytest.mark.slow
def test_no_stage_starts_with_the_digest_of_other_code(project):
    command = [sys.executable, "-m", "pipeline_src.stage", "systems.joseki.records"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DVC_STAGE": "joseki_records"}
    set_digest("joseki_build", "0" * 16)
    params = project / "params.yaml"
    params.write_text(params.read_text().replace("    games: 1000\n", "    games: 20\n", 1))
    subprocess.run(command, env=env, check=True)
    shutil.rmtree("artifacts/records")
    set_digest("joseki_records", "0" * 16)
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.count(f"error: {CODE_FILE}: ") == 1
    assert not (project / "artifacts/records").exists()


@pytest.mark.slow
def test_repro_refuses_digests_of_other_code(project):
    set_digest("joseki_build", "0" * 16)
    with pytest.raises(ZugwerkError, match="of joseki_build; `zugwerk code` writes them"):
        repro(project, 1, lambda _: pytest.fail("began"), targets=["joseki_records"])

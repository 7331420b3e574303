import io
import subprocess

import pytest
import yaml
from ruamel.yaml import YAML

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.profile import merged_text, switch_profile
from tests.layout.imports import ROOT

LAPTOP = "# the laptop\nprofile: laptop\nseed: 1\ntrain:\n  epochs: 3 # few\n  width: 0.25\n"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "params.yaml").write_text(LAPTOP)
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "paper.yaml").write_text("train: {epochs: 50}\n")
    (tmp_path / "profiles" / "smoke.yaml").write_text("train: {epochs: 1}\n")
    (tmp_path / "profiles" / "wrong.yaml").write_text("train: {epoch: 1}\n")
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=b@c", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def read(project):
    return yaml.safe_load((project / "params.yaml").read_text())


def test_differences_go_over_the_laptop_and_comments_stay(project):
    switch_profile("paper", project)
    assert read(project) == {"profile": "paper", "seed": 1, "train": {"epochs": 50, "width": 0.25}}
    assert "# few" in (project / "params.yaml").read_text()


def test_profiles_do_not_pile_up_and_laptop_comes_back(project):
    switch_profile("paper", project)
    switch_profile("smoke", project)
    assert read(project)["train"] == {"epochs": 1, "width": 0.25}
    switch_profile("laptop", project)
    assert (project / "params.yaml").read_text() == LAPTOP


def test_edits_of_the_laptop_are_kept(project):
    edited = LAPTOP.replace("seed: 1", "seed: 2")
    (project / "params.yaml").write_text(edited)
    switch_profile("laptop", project)
    assert (project / "params.yaml").read_text() == edited
    switch_profile("smoke", project)
    assert read(project)["seed"] == 2


def test_wrong_names_are_refused_and_nothing_is_written(project):
    with pytest.raises(ZugwerkError, match="there are: laptop, paper, smoke, wrong"):
        switch_profile("desktop", project)
    with pytest.raises(ZugwerkError, match=r"wrong.yaml: train.epoch: params.yaml has no such key"):
        switch_profile("wrong", project)
    assert (project / "params.yaml").read_text() == LAPTOP


def test_every_profile_of_the_project_fits_its_params(tmp_path):
    """Also: what is committed as params.yaml is the laptop's."""
    (tmp_path / "profiles").mkdir()
    committed = subprocess.run(["git", "show", "HEAD:params.yaml"], cwd=ROOT, capture_output=True, text=True)
    current = committed.stdout if committed.returncode == 0 else (ROOT / "params.yaml").read_text()
    assert yaml.safe_load(current)["profile"] == "laptop"
    for path in (ROOT / "profiles").glob("*.yaml"):
        (tmp_path / "profiles" / path.name).write_text(path.read_text())
        (tmp_path / "params.yaml").write_text(current)
        switch_profile(path.stem, tmp_path)
        assert read(tmp_path)["profile"] == path.stem


def test_dvc_reads_what_is_written():
    """It reads YAML 1.2, in which a player's text wants its quotes."""
    from dvc.utils.serialize import parse_yaml

    command = ["git", "show", "HEAD:./params.yaml"]
    laptop = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for profile in ("smoke", "paper", "long"):
        merged = merged_text(profile, ROOT, laptop)
        assert parse_yaml(merged, "params.yaml")["profile"] == profile
        assert parse_yaml(merged, "params.yaml") == yaml.safe_load(merged)


@pytest.mark.parametrize("name", ["laptop", *(path.stem for path in sorted((ROOT / "profiles").glob("*.yaml")))])
def test_params_survive_what_dvc_exp_run_does_to_them(name):
    """``-S`` reads and writes the file by ruamel's own rules, which leave out quotes that a flow mapping would need."""
    text = (ROOT / "params.yaml").read_text() if name == "laptop" else merged_text(name, ROOT)
    out = io.StringIO()
    YAML().dump(YAML().load(text), out)
    assert YAML(typ="safe").load(out.getvalue()) == yaml.safe_load(text)

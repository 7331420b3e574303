"""Sections of params.yaml as models, and profiles merged into the file with its comments."""

import io
import shutil
import subprocess
from typing import Literal

import pytest
from ruamel.yaml import YAML

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import Count, Items, Params, load, load_value
from pipeline_src.project.profile import merged_text, switch_profile
from tests.layout.imports import ROOT, profile_text

LAPTOP = """# the laptop
profile: laptop
seed: 1
train:
  epochs: 3 # few
  width: 0.25
crawl:
  contact: ""
  base_url: https://a.example
  ways: [lists, text] # in this order
"""
OWN = (
    LAPTOP.replace("https://a.example", "https://b.example").replace('""', "me@a.example").replace("lists, text", "api")
)


@pytest.fixture
def project(tmp_path):
    return made(tmp_path, LAPTOP, paper="train: {epochs: 50}", smoke="train: {epochs: 1}", wrong="train: {epoch: 1}")


def made(folder, laptop, **profiles):
    (folder / "params.yaml").write_text(laptop)
    (folder / "profiles").mkdir()
    for name, text in {"laptop": laptop, **profiles}.items():
        (folder / "profiles" / f"{name}.yaml").write_text(text)
    return folder


def edit(project, *changes):
    text = (project / "params.yaml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (project / "params.yaml").write_text(text)


def read_params(project):
    return yaml12.parse((project / "params.yaml").read_text())


def test_differences_are_merged_and_comments_stay(project):
    switch_profile("paper", project)
    expected = yaml12.parse(LAPTOP) | {"profile": "paper", "train": {"epochs": 50, "width": 0.25}}
    assert read_params(project) == expected
    assert "# few" in (project / "params.yaml").read_text()


def test_switching_profiles_restores_the_laptop(project):
    (project / "profiles" / "wide.yaml").write_text("train: {width: 1.0}\n")
    for name, train in (("paper", (50, 0.25)), ("smoke", (1, 0.25)), ("wide", (3, 1.0))):
        switch_profile(name, project)
        assert tuple(read_params(project)["train"].values()) == train
    switch_profile("laptop", project)
    assert (project / "params.yaml").read_text() == LAPTOP


@pytest.mark.parametrize("way", [["laptop"], ["smoke", "laptop"], ["smoke", "smoke", "paper", "laptop"]])
def test_keys_outside_profiles_keep_the_users_values(project, way):
    """Whether they were edited before a profile was written, or after it."""
    (project / "params.yaml").write_text(OWN)
    for name in way:
        assert len(switch_profile(name, project).splitlines()) == 1
        assert read_params(project)["crawl"] == yaml12.parse(OWN)["crawl"] != yaml12.parse(LAPTOP)["crawl"]
    assert (project / "params.yaml").read_text() == OWN
    switch_profile("smoke", project)
    edit(project, ("me@a.example", "you@a.example"), ("seed: 1", "seed: 5"))
    switch_profile("laptop", project)
    assert (project / "params.yaml").read_text() == OWN.replace("me@", "you@").replace("seed: 1", "seed: 5")


def test_replaced_values_of_the_user_are_reported(project):
    edit(project, ("width: 0.25", "width: 0.5"))
    for profile, before, own, after in (("smoke", 3, 7, 1), ("smoke", 1, 2, 1), ("laptop", 1, 2, 3)):
        edit(project, (f"epochs: {before}", f"epochs: {own}"))
        said = switch_profile(profile, project).splitlines()
        assert said[1:] == [f"replaced, a value of your own: train.epochs: {own}"]
        assert read_params(project)["train"] == {"epochs": after, "width": 0.5}


def test_whole_mappings_of_a_profile_are_set_and_removed(tmp_path):
    rows = 'profile: laptop\ngomoku_generations:\n  "02": {before: "01"}\n\nseed: 1\n'
    made(tmp_path, rows, two='gomoku_generations: {"02": {before: "01"}, "03": {before: "02"}}\n')
    switch_profile("two", tmp_path)
    assert list(read_params(tmp_path)["gomoku_generations"]) == ["02", "03"]
    edit(tmp_path, ("seed: 1", "seed: 2"))
    assert switch_profile("laptop", tmp_path).count("\n") == 0
    assert (tmp_path / "params.yaml").read_text() == rows.replace("seed: 1", "seed: 2")


def test_an_unknown_present_profile_is_refused(project):
    edit(project, ("profile: laptop", "profile: mine"))
    with pytest.raises(ZugwerkError, match=r"params.yaml: profile: 'mine' is none of laptop, paper"):
        switch_profile("laptop", project)


def test_missing_base_is_named_and_nothing_is_written(project):
    switch_profile("smoke", project)
    before = (project / "params.yaml").read_text()
    (project / "profiles/laptop.yaml").unlink()
    with pytest.raises(ZugwerkError, match=r"profiles/laptop.yaml: no such file"):
        switch_profile("laptop", project)
    assert (project / "params.yaml").read_text() == before


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml")))
def test_every_profile_can_be_left_again(tmp_path, name):
    """The user's crawl survives, and all else is as it was, except a blank line below a mapping with comments."""
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    laptop = (ROOT / "profiles/laptop.yaml").read_text()
    (tmp_path / "params.yaml").write_text(laptop)
    own = ("source: artifacts/raw/amazons/archive.parquet", "source: artifacts/raw/amazons/live")
    edit(tmp_path, ('contact: ""', "contact: me@a.example"), ("max_games: 0", "max_games: 500"), own)
    edited = (tmp_path / "params.yaml").read_text()
    assert edited != laptop
    switch_profile(name, tmp_path)
    assert read_params(tmp_path)["profile"] == name
    assert read_params(tmp_path)["amazons_crawl"]["max_games"] == 500
    switch_profile("laptop", tmp_path)
    assert (tmp_path / "params.yaml").read_text().replace("\n\n", "\n") == edited.replace("\n\n", "\n")


def test_unknown_profiles_are_refused(project):
    with pytest.raises(ZugwerkError, match="there are: laptop, paper, smoke, wrong"):
        switch_profile("desktop", project)
    with pytest.raises(ZugwerkError, match=r"wrong.yaml: train.epoch: params.yaml has no such key"):
        switch_profile("wrong", project)
    assert (project / "params.yaml").read_text() == LAPTOP


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("params.yaml", "", "expected sections with keys, found nothing"),
        ("params.yaml", "profile: [", "not valid YAML: "),
        ("params.yaml", "profile: laptop\nseed: 1\nseed: 2\n", "not valid YAML: .*duplicate key"),
        ("profiles/smoke.yaml", "train: [", "not valid YAML: "),
        ("profiles/smoke.yaml", "- train\n", "expected sections with keys, found a list"),
        ("profiles/smoke.yaml", "train: 5\n", "train: 5 for a section of params.yaml; name keys of it"),
    ],
)
def test_damaged_files_are_named_and_nothing_is_written(project, file, text, words):
    (project / file).write_text(text)
    before = (project / "params.yaml").read_text()
    with pytest.raises(ZugwerkError, match=f"{file}: {words}"):
        switch_profile("smoke", project)
    assert (project / "params.yaml").read_text() == before
    if file != "params.yaml":
        with pytest.raises(ZugwerkError, match=f"{file}: {words}"):
            merged_text("smoke", project)


def test_committed_params_are_the_laptops():
    committed = subprocess.run(["git", "show", "HEAD:params.yaml"], cwd=ROOT, capture_output=True, text=True)
    current = committed.stdout if committed.returncode == 0 else (ROOT / "params.yaml").read_text()
    laptop = (ROOT / "profiles/laptop.yaml").read_text()
    assert current.splitlines()[2:] == laptop.splitlines()[2:]  # without schema and title


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml")))
def test_params_survive_dvc_exp_run(name):
    """``-S`` reads and writes the file by ruamel's own rules, which leave out quotes that a flow mapping would need."""
    text = profile_text(name)
    out = io.StringIO()
    YAML().dump(YAML().load(text), out)
    assert YAML(typ="safe").load(out.getvalue()) == yaml12.parse(text)


class Inner(Params):
    rate: float


class Section(Params):
    games: Count
    names: Items[str]
    inner: Inner
    limit: int | None = None
    mode: Literal["fast", "slow"] = "fast"


GOOD = "seed: 3\nsection:\n  games: 2\n  names: [a, b]\n  inner: {rate: 1}\n  limit: null\n"


def read(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return load(Section, "section", path)


def test_reads_nested_sections(tmp_path):
    assert read(tmp_path, GOOD) == Section(games=2, names=("a", "b"), inner=Inner(rate=1.0))
    assert load_value(int, "seed", tmp_path / "params.yaml") == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("games: 2", "games: two", "section.games: expected int, found 'two'"),
        ("games: 2", "games: true", "section.games: expected int, found True"),
        ("games: 2", "games: 0", "section: games must be at least 1"),
        ("games: 2", "gmaes: 2", "section.gmaes: unknown key; known: games"),
        ("  games: 2\n", "", "section.games: missing"),
        ("rate: 1", "rate: x", "section.inner.rate: expected float"),
        ("rate: 1", "rat: 1", "section.inner.rat: unknown key"),
        ("[a, b]", "[a, 1]", r"section.names\[1\]: expected str"),
        ("limit: null", "mode: medium", "section.mode: 'medium' is not one of fast, slow"),
        ("section:", "other:", "'section' is missing"),
        ("seed: 3", "seed: [", "not valid YAML"),
        ("seed: 3", "seed: 3\nseed: 4", "not valid YAML: key 'seed' occurs twice"),
        (GOOD, "- 1\n", "expected sections with keys, found list"),
    ],
)
def test_errors_name_file_and_key(tmp_path, old, new, message):
    with pytest.raises(ZugwerkError, match=message) as error:
        read(tmp_path, GOOD.replace(old, new))
    assert "params.yaml" in str(error.value)


def test_missing_file_says_where_to_run(tmp_path):
    with pytest.raises(ZugwerkError, match="no such file"):
        load(Section, "section", tmp_path / "params.yaml")

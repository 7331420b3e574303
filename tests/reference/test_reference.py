import json
import re
import shutil
from typing import get_args, get_origin

import jsonschema  # prefect brings it
import pytest

from pipeline_src import yaml12
from pipeline_src.project.params import Params, build, is_model, unwrapped
from pipeline_src.reference.__main__ import FOLDER, LOCAL, outdated
from pipeline_src.reference.pages import params_page
from pipeline_src.reference.stage_code import SECTIONS, ParamsFile, TopLevel
from tests.layout.imports import ROOT
from tests.profiles import profile_text, profile_tree

pytestmark = pytest.mark.usefixtures("shipped")


@pytest.fixture
def project(tmp_path):
    for name in ("params.yaml", "dvc.yaml", "prefect.yaml", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("profiles", ".dvc/plots", FOLDER):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns(*LOCAL))
    return tmp_path


def test_pages_are_up_to_date():
    assert not outdated(ROOT), "run make docs"


def test_page_with_other_params_or_missing_is_out_of_date(project):
    (project / FOLDER / "nets.md").unlink()
    params = project / "params.yaml"
    params.write_text(re.sub(r"^seed: \d+$", "seed: 17", params.read_text(), flags=re.MULTILINE))
    assert {*outdated(project)} == {project / FOLDER / "nets.md"}
    assert {*outdated(project, local=True)} == {project / FOLDER / name for name in {"nets.md", *LOCAL}}
    assert "| `seed` | whole number | `17` |" in params_page(project)


def test_every_section_is_on_the_page():
    tree = profile_tree("laptop")
    assert {*ParamsFile.model_fields} == {*TopLevel.model_fields, *SECTIONS} == {*tree}


def models(kind, name):
    """A model and the models in it, each with the key under which it stands."""
    kind, _ = unwrapped(kind)
    if is_model(kind):
        yield name, kind
        for key, field in kind.model_fields.items():
            yield from models(field.annotation, f"{name}.{key}")
    elif get_args(kind):
        yield from models(get_args(kind)[-1 if get_origin(kind) is dict else 0], name)


def test_every_key_has_a_description_and_section_a_docstring():
    for section, kind in {"": TopLevel, **SECTIONS}.items():
        for name, model in models(kind, section):
            assert model.__doc__ not in (None, Params.__doc__), name
            assert all(field.description for field in model.model_fields.values()), name


def profiles():
    return sorted((ROOT / "profiles").glob("*.yaml"))


def test_params_and_profiles_fit_their_schemas():
    """The schemas are current: `test_pages_are_up_to_date`."""
    assert len(profiles()) >= 3
    for path in (ROOT / "params.yaml", *profiles()):
        first = path.read_text().splitlines()[0]
        schema = json.loads((path.parent / first.removeprefix("# yaml-language-server: $schema=")).read_text())
        assert ("required" in schema) == (path.name in ("params.yaml", "laptop.yaml"))
        validator = jsonschema.Draft202012Validator(schema)
        tree = yaml12.parse(path.read_text())
        assert not [error.message for error in validator.iter_errors(tree)], path
        for wrong in ({"seeds": 1}, {"amazons_train": {"widht": 1}}, {"gomoku_gate": {"games": 3}}, {"seed": "1"}):
            assert not validator.is_valid(tree | wrong)


@pytest.mark.parametrize("name", ["laptop", *(path.stem for path in profiles())])
def test_all_params_of_every_profile_are_read(name):
    found = build(ParamsFile, profile_tree(name), "params", "params.yaml")
    assert found.profile == name
    assert found.amazons_match.loss in found.amazons_models.trained
    assert max(map(int, found.gomoku_generations)) == len(found.gomoku_generations) + 1
    for size, board in found.growing_larger.items():
        assert int(board.before) < int(size)
        assert board.before in {*found.growing_larger, str(found.growing_first.size)}


def test_profile_written_into_params_keeps_schema_line():
    first = (ROOT / "params.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=docs/reference/params.schema.json"
    assert all(profile_text(path.stem).splitlines()[0] == first for path in profiles())

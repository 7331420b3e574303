import re
import shutil

import pytest
import yaml

from pipeline_src.project.reference.__main__ import FOLDER, outdated
from pipeline_src.project.reference.params import TOP, params_page
from pipeline_src.project.reference.sections import SECTIONS, attribute_docs
from tests.layout.imports import ROOT


@pytest.fixture
def project(tmp_path):
    for name in ("params.yaml", "dvc.yaml", "Makefile"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("profiles", "pipeline_src/stages", FOLDER):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


def test_the_pages_are_what_the_code_says():
    assert not outdated(ROOT), "run make docs"


def test_a_changed_param_is_seen(project):
    params = project / "params.yaml"
    params.write_text(re.sub(r"^seed: \d+$", "seed: 17", params.read_text(), flags=re.MULTILINE))
    assert list(outdated(project)) == [project / FOLDER / "params.md"]
    assert "| `seed` | whole number | `17` |" in params_page(project)


def test_a_page_that_is_missing_is_out_of_date(project):
    (project / FOLDER / "cli.md").unlink()
    assert list(outdated(project)) == [project / FOLDER / "cli.md"]


def test_every_section_is_told():
    tree = yaml.safe_load((ROOT / "params.yaml").read_text())
    assert [*TOP, *SECTIONS] == list(tree)


def test_docstrings_of_fields_are_found_in_parents_too():
    found = attribute_docs(SECTIONS["amazons_train"])
    assert found["dropout"] == "Share of activations dropped after layers 4, 8 and 12; published: 0.3."
    assert found["warmup"] == "Fraction of all steps over which the rate rises from 0."

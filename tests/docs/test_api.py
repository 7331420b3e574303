"""The examples of the Python API, on its page and in docstrings, are run and print what they say."""

import doctest
import importlib
import re

import pytest

from tests.docs.pages import blocks
from tests.layout.imports import ROOT, modules

PAGE = ROOT / "docs/reference/api.md"
EXAMPLES = [name for name, path in modules().items() if re.search(r"^\s*>>> ", path.read_text(), re.MULTILINE)]
ENGINE = ["games", "records", "search", "players", "arena"]


def run(test):
    runner, said = doctest.DocTestRunner(), []
    runner.run(test, out=said.append)
    assert runner.tries > 0
    assert not runner.failures, "".join(said)


def test_the_examples_of_the_page_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(text for language, text in blocks(PAGE) if language == "python")
    run(doctest.DocTestParser().get_doctest(code, {}, PAGE.name, str(PAGE), 0))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [test for test in doctest.DocTestFinder().find(importlib.import_module(name)) if test.examples]
    assert found
    for test in found:
        run(test)


@pytest.mark.parametrize("room", ENGINE)
def test_a_package_of_the_engine_offers_names_that_are_there(room):
    package = importlib.import_module(f"pipeline_src.{room}")
    assert package.__all__
    for name in package.__all__:
        assert getattr(package, name) is not None
        assert re.search(rf"\b{name}\b", package.__doc__ + PAGE.read_text()), f"{name} is shown nowhere"
    with pytest.raises(AttributeError, match=f"pipeline_src.{room}.*nothing_of_this_name"):
        _ = package.nothing_of_this_name

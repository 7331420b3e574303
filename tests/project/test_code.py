import os
import subprocess
import sys

import pytest

from pipeline_src.errors import ZugwerkError
from pipeline_src.project import code
from pipeline_src.project.code import Code, read_source


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small package of one's own; the memo goes to the test's folder."""
    monkeypatch.setenv("ZUGWERK_CACHE", str(tmp_path / "cache"))

    def write(**files):
        for name, text in files.items():
            path = tmp_path / "pipeline_src" / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Code(tmp_path)

    for package in ("", "rules"):
        folder = tmp_path / "pipeline_src" / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
    return write


TEXT = '''"""Head."""

import os  # a comment


def f(a: int) -> str:
    """What it does,

    in lines."""
    text = """kept

    # as it stands  """
    return text + "# no comment"  # a comment
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Head."""', '"""Another head,\n\nlonger."""'),
        ("# a comment", "# another"),
        ("  # a comment", ""),
        ("\n\n\ndef", "\n\n\n\n\n# above\ndef"),
        ("    text =", '    "alone"\n    text ='),
        ("int) -> str:\n", "int) -> str:   \n"),
        ('in lines."""', 'in lines"""  # und Ümlaute'),
    ],
)
def test_comments_docstrings_and_blank_lines_do_not_count(old, new):
    assert old in TEXT
    assert read_source(TEXT.replace(old, new)) == read_source(TEXT)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a: int", "a: float"),
        ("# no comment", "# another text"),
        ("kept\n\n", "kept\n"),
        ("stands  ", "stands"),
        ("import os", "import re"),
        ('    text = """', '    text = b"""'),
        ('"""What it does,\n\n    in lines."""', '"""Doc."""; a += 1'),
        ("    return text", "        return text"),
    ],
)
def test_all_else_counts(old, new):
    assert old in TEXT
    changed = TEXT.replace(old, new)
    if old != "    return text":
        assert read_source(changed).digest != read_source(TEXT).digest
    else:
        with pytest.raises(IndentationError):
            read_source(changed)


def test_a_docstring_beside_code_leaves_the_code():
    assert read_source('class A: """Doc."""').digest == read_source("class A: ''").digest
    assert read_source('class A: """Doc."""').digest != read_source('class B: """Doc."""').digest
    assert read_source("x = 1; 'a note'; y = 2").digest != read_source("x = 1; 'a note'; y = 3").digest


def test_the_closure_follows_imports_names_in_quotes_and_packages(tree):
    found = tree(
        a="from pipeline_src.rules import moves\nfrom pipeline_src.b import thing",
        b="def f():\n    import pipeline_src.c",
        c="import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pipeline_src.d'])",
        d="SETTINGS = {'MIDDLEWARES': {'pipeline_src.e.Retrying': 550}}",
        e="import os",
        other="from pipeline_src import a",
        **{"rules/moves": ""},
    )
    names = ["", ".a", ".b", ".c", ".d", ".e", ".rules", ".rules.moves"]
    assert found.closure("pipeline_src.a") == [f"pipeline_src{name}" for name in names]
    assert found.closure("pipeline_src.c", "pipeline_src.e") == [f"pipeline_src{n}" for n in ("", ".c", ".d", ".e")]
    chain = found.path(["pipeline_src.a"], "pipeline_src.e")
    assert chain == [f"pipeline_src.{name}" for name in "abcde"]
    assert found.path(["pipeline_src.e"], "pipeline_src.a") == []


def test_the_digest_is_that_of_the_closure_alone(tree):
    before = tree(a="import pipeline_src.b", b="x = 1", c="y = 1").digest("pipeline_src.a")
    assert tree(c="y = 2").digest("pipeline_src.a") == before
    assert tree(b="x = 1  # a comment").digest("pipeline_src.a") == before
    assert tree(b="x = 2").digest("pipeline_src.a") != before
    assert tree(b="x = 1").digest("pipeline_src.a") == before
    assert tree(**{"rules/__init__": "z = 1"}).digest("pipeline_src.a") == before
    assert tree(__init__="version = 2").digest("pipeline_src.a") == before  # changes no output


def test_a_packages_own_file_counts_for_what_is_in_it(tree):
    found = tree(a="import pipeline_src.rules.moves", **{"rules/moves": "x = 1"})
    before = found.digest("pipeline_src.a")
    after = tree(**{"rules/__init__": "import pipeline_src.rules.kernels", "rules/kernels": ""})
    assert after.digest("pipeline_src.a") != before


def test_the_memo_changes_nothing_and_may_be_damaged(tree, tmp_path):
    before = tree(a="x = 1").digest("pipeline_src.a")
    memo = tmp_path / "cache" / code._MEMO
    assert memo.exists()
    assert tree().digest("pipeline_src.a") == before
    memo.write_text("{ half")
    assert tree().digest("pipeline_src.a") == before
    stamp = (tmp_path / "pipeline_src/a.py").stat()
    found = tree(a="x = 7")
    os.utime(tmp_path / "pipeline_src/a.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
    assert found.digest("pipeline_src.a") != before


def test_unknown_modules_and_files_are_refused(tree):
    with pytest.raises(ZugwerkError, match=r"pipeline_src\.nothing: no module of pipeline_src or spiders"):
        tree().digest("pipeline_src.nothing")
    with pytest.raises(ZugwerkError, match=r"README\.md: no source file"):
        Code().module("README.md")
    with pytest.raises(ZugwerkError, match="no source file"):
        Code().module("/etc/passwd")


def test_it_reads_no_module_that_it_describes():
    program = (
        "import sys; from pipeline_src.project.code import digest; digest('pipeline_src.stages.amazons_train');"
        "print(sorted({'torch', 'numpy', 'numba', 'pipeline_src.games'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=code.ROOT)
    assert done.stdout.strip() == "[]"

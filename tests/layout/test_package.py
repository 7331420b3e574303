"""The package as a whole: its dependencies, what it offers and shares, that it reads only what is safe, its words."""

import ast
import importlib
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib

import pytest

from tests.conftest import LONGEST
from tests.layout.imports import ROOT, parsed

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
REPRODUCE = "To reproduce (`[reproduce]`)"
TEXT = (ROOT / "docs/dependencies.md").read_text()


def name_of(requirement):
    return re.match(r"[\w.-]+", requirement)[0]


def rows(heading):
    """First cells of the table below a heading, in its order."""
    part = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in part.splitlines() if line.startswith("| ")]
    assert all(cell.strip() for row in cells for cell in row), f"an empty cell under {heading}"
    return [row[0].strip() for row in cells[2:]]


def test_every_dependency_has_its_reason():
    extras = dict(PROJECT["optional-dependencies"])
    for heading, wanted in (("To play", PROJECT["dependencies"]), (REPRODUCE, extras.pop("reproduce"))):
        assert rows(heading) == sorted(rows(heading)) == sorted(map(name_of, wanted))
    assert set(rows("To work on it (`.[dev]`)")) == {name_of(r) for r in extras.pop("dev")}
    assert set(rows("Further extras")) == {name_of(r) for some in extras.values() for r in some}


def test_every_upper_bound_has_its_reason():
    wanted = PROJECT["dependencies"] + [r for some in PROJECT["optional-dependencies"].values() for r in some]
    bounds = {f"{name_of(r)}{bound}" for r in wanted for bound in re.findall(r"(?:<|==)[\d.]+", r)}
    named = [bound for cell in rows("Bounds") for bound in re.findall(r"`(.+?)`", cell)]
    assert sorted(named) == sorted(bounds)


def test_the_lock_file_has_one_version_of_each():
    lines = (ROOT / "requirements.lock").read_text().split()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    locked = [re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines]
    assert len(set(locked)) == len(locked)
    extras = PROJECT["optional-dependencies"]
    wanted = PROJECT["dependencies"] + [one for name in ("reproduce", "dev", "cluster", "s3") for one in extras[name]]
    assert {re.sub(r"[-_.]+", "-", name_of(r)).lower() for r in wanted} <= set(locked)


# First-party code imports from modules, not from the lazy names at the top of a package.
#
# A name that is looked up there is found when it is used, so its module would be missing from the closure of code that
# keys stages and kernels (`project.code`).


def test_our_code_imports_from_modules_not_package_tops():
    files = [path for folder in ("pipeline_src", "spiders", "flows") for path in (ROOT / folder).rglob("*.py")]
    files = [path for path in files if re.search(r"\bfrom\s+pipeline_src\.\w+\s+import\b", path.read_text())]
    exported = {
        package: set(importlib.import_module(package).__all__)
        for package in (f"pipeline_src.{name}" for name in ("games", "records", "search", "players", "arena"))
    }
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.module}.{name.name}"
        for path in files
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom) and node.module in exported
        for name in node.names
        if name.name in exported[node.module]
    ]
    assert files
    assert not found
    assert all(exported.values())


def test_onnxruntime_telemetry_is_off_before_import() -> None:
    program = "import os, sys, pipeline_src; print(os.environ['ORT_DISABLE_TELEMETRY'], 'onnxruntime' in sys.modules)"
    clean = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    for environment, said in ((clean, "1 False"), (clean | {"ORT_DISABLE_TELEMETRY": "0"}, "0 False")):
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == said


# docs/share.md: what one clone pushed brings another up to date, though it has none of the other's times.


DVC_YAML = """
stages:
  make:
    cmd: python make.py
    deps: [make.py]
    outs: [artifacts/models, artifacts/reports/board/6.json]
  evaluate:
    cmd: echo ran >> runs.txt && cp artifacts/reports/board/6.json artifacts/reports/board.headlines.json
    deps: [artifacts/reports/board, artifacts/models]
    metrics:
      - artifacts/reports/board.headlines.json: {cache: false}
"""
NEVER_RUN = """
  later:
    cmd: echo later > artifacts/records/later.txt
    outs: [artifacts/records/later.txt]
"""
MAKE = """
import os, time
os.makedirs("artifacts/models"), os.makedirs("artifacts/reports/board", exist_ok=True)
open("artifacts/models/a.pt", "w").write("weights"), open("artifacts/models/b.pt", "w").write("others")
open("artifacts/reports/board/6.json", "w").write('{"games": 6}')
open("artifacts/reports/board/6.timings.json", "w").write(f'{{"seconds": {time.time()}}}')
"""


def run(folder, *words):
    environment = os.environ | {"DVC_NO_ANALYTICS": "1"}
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def dvc(folder, *words):
    return run(folder, sys.executable, "-m", "dvc", *words)


@pytest.fixture
def clone(tmp_path, request):
    """A clone of a checkout that has pushed what its stages made; stages given by the test were never run there."""
    first = tmp_path / "first"
    first.mkdir()
    run(first, "git", "init", "-q", "-b", "main")
    dvc(first, "init", "-q")
    for name in (".gitignore", ".dvcignore", ".dvc/config"):
        shutil.copyfile(ROOT / name, first / name)
    (first / "dvc.yaml").write_text(DVC_YAML + getattr(request, "param", ""))
    (first / "make.py").write_text(MAKE)
    dvc(first, "remote", "add", "-d", "storage", str(tmp_path / "remote"))
    dvc(first, "repro", "evaluate")
    run(first, "git", "add", "-A")
    run(first, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "All")
    dvc(first, "push")
    run(tmp_path, "git", "clone", "-q", str(first), str(tmp_path / "clone"))
    return tmp_path / "clone"


@pytest.mark.slow
def test_a_fresh_clone_pulls_and_has_nothing_to_run(clone):
    made = {path.relative_to(clone).as_posix() for path in (clone / "artifacts").rglob("*") if path.is_file()}
    assert made == {"artifacts/reports/board.headlines.json"}  # in git: the headline figures alone, no list of DVC's
    dvc(clone, "pull")
    assert (clone / "artifacts/models/a.pt").read_text() == "weights"
    assert (clone / "artifacts/reports/board/6.json").exists()
    assert not (clone / "artifacts/reports/board/6.timings.json").exists()
    assert "Running stage" not in dvc(clone, "repro")
    assert (clone / "runs.txt").read_text() == "ran\n"  # of the first checkout
    assert run(clone, "git", "status", "--porcelain") == ""


@pytest.mark.slow
@pytest.mark.parametrize("clone", [NEVER_RUN], indirect=True)
def test_one_system_is_pulled_where_the_others_were_never_run(clone):
    dvc(clone, "pull", "--with-deps", "evaluate")
    assert (clone / "artifacts/models/a.pt").read_text() == "weights"
    assert "Running stage" not in dvc(clone, "repro", "evaluate")


# Arrays, nets and checkpoints are read as data: options that ruff does not look at keep pickles out of them.


FILES = sorted(path for name in ("pipeline_src", "spiders", "flows", "bench") for path in (ROOT / name).rglob("*.py"))
NEEDED = {
    "torch.load": ("weights_only", True),
    "numpy.load": ("allow_pickle", False),
    "numpy.save": ("allow_pickle", False),
    "numpy.savez": ("allow_pickle", False),
}


def dotted(node):
    """``a.b.c`` of a name or attribute; what is no name is ``(a value)``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "(a value)"


def complaints(tree):
    """Calls of a syntax tree that could run what they read; ``np.load`` is numpy.load."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, _, rest = dotted(node.func).partition(".")
            name = ".".join(filter(None, [names.get(first, first), rest]))
            given = {k.arg: k.value.value if isinstance(k.value, ast.Constant) else None for k in node.keywords}
            resumed = name.endswith(".fit") and "ckpt_path" in given
            option, value = ("weights_only", True) if resumed else NEEDED.get(name, ("", None))
            if option and given.get(option) is not value:
                yield f"{node.lineno}: {name} without {option}={value}"


def test_no_reader_executes_its_input():
    assert len(FILES) > 200
    found = [f"{path.relative_to(ROOT)}:{text}" for path in FILES for text in complaints(parsed(path))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "import torch as t\nt.load(path)",
        "from torch import load\nload(path, weights_only=False)",
        "import numpy as np\nnp.load(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "trainer.fit(module, ckpt_path=path)",
    ],
)
def test_guard_finds_violations(text):
    assert list(complaints(ast.parse(text)))


# Docstrings name the thing that they describe first; no text or test name has words that readers stumble over.


FOLDERS = ("pipeline_src", "spiders", "flows", "bench", "tests")
EMPTY = {
    *("What", "Whose", "Whom", "Of", "Which", "That", "Those", "There", "Such", "And", "Or", "But", "So"),
    *("Whatever", "Whoever"),
}
"""First words that name nothing. ``Which`` and ``That`` continue another sentence; ``Whether`` answers a question."""
TICS = re.compile(r"\b(beside|anew|told|goes on)\b", re.IGNORECASE)
"""Words that once stood for a dozen others: next to, with, in addition to; again; reported; continues, is running."""
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
MOST_WORDS = 10
"""Largest number of words in the name of a test: it says what holds, in the field's words."""


def paths(*folders):
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def docstrings(path):
    """(line, text) of every string that stands alone: docstrings of modules, classes, functions and fields."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def comments(path):
    """(line, text) of every comment."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def faults(name):
    """Faults of the name of a test."""
    words = name.removeprefix("test_").split("_")
    found = [] if len(words) <= MOST_WORDS else [f"{len(words)} words"]
    found += [match[0] for match in TICS.finditer(" ".join(words))]
    return found + [word for word in words[:1] if word in ("what", "whatever", "whose", "whom", "of", "that", "which")]


def test_no_docstring_begins_with_a_word_that_names_nothing():
    found = [
        f"{path}:{line}: {text.strip()[:60]} ..."
        for path in paths(*FOLDERS[:-1])
        for line, text in docstrings(path)
        if re.match(r"\W*(\w*)", text)[1] in EMPTY
    ]
    assert not found, "docstrings name the thing that they describe first:\n" + "\n".join(found)


def test_docstrings_and_comments_have_no_tics():
    found = [
        f"{path}:{line}: {match[0]}"
        for path in paths(*FOLDERS)
        if TICS.search(path.read_text(encoding="utf-8"))
        for line, text in (*docstrings(path), *comments(path))
        for match in TICS.finditer(QUOTED.sub("", text))
    ]
    assert not found, "say which of its meanings is meant:\n" + "\n".join(found)


def test_files_that_come_first_exist():
    assert [name for name in LONGEST if not (ROOT / f"tests/{name}.py").exists()] == []


def test_names_of_tests_are_short_and_plain():
    found = [
        f"{path}: {name}: {', '.join(faults(name))}"
        for path in paths("tests")
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
        if faults(name)
    ]
    assert not found, "a test's name says what holds, in ten words:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("test_keeps_move_after_big5_comment", []),
        ("test_a_bad_question_is_told", ["told"]),
        ("test_a_match_goes_on_where_it_was", ["goes on"]),
        ("test_what_is_no_record_is_refused", ["what"]),
        ("test_a_game_that_ends_while_it_is_crawled_is_fetched_again", ["11 words"]),
    ],
)
def test_bad_names_are_found(name, found):
    assert faults(name) == found

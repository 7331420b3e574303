"""What is read from a file or the network is data: nothing that could run it is called anywhere."""

import ast

import pytest

from tests.layout.imports import ROOT, parsed

FILES = sorted(path for name in ("pipeline_src", "spiders", "flows", "bench") for path in (ROOT / name).rglob("*.py"))
RUNS_WHAT_IT_READS = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib.load", "joblib.dump"}
FORBIDDEN = {"eval", "exec", "os.system", "os.popen", "joblib.load", "joblib.dump", "torch.jit.load", "tempfile.mktemp"}
FORBIDDEN |= {"yaml.unsafe_load", "yaml.full_load", "yaml.load_all", "shutil.unpack_archive", "markupsafe.Markup"}
FORBIDDEN |= {"lightning.LightningModule.load_from_checkpoint", "importlib.reload"}
"""By the names under which they are called."""


def dotted(node):
    """``a.b.c`` of a name or attribute; what is no name is ``(a value)``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "(a value)"


def calls(tree):
    """(name, keywords with a constant value, call) of every call, its name as imported: ``np.load`` is numpy.load."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            first, _, rest = dotted(node.func).partition(".")
            name = ".".join(filter(None, [names.get(first, "(a value)" if rest else first), rest]))
            yield name, {k.arg: k.value.value for k in node.keywords if isinstance(k.value, ast.Constant)}, node


def is_safe_loader(tree, node):
    """Whether an argument is a class of this file whose base is the loader that makes plain values only."""
    classes = (one for one in ast.walk(tree) if isinstance(one, ast.ClassDef))
    return any(one.name == dotted(node) and [*map(dotted, one.bases)] == ["yaml.SafeLoader"] for one in classes)


def complaints(tree):
    """Lines of a syntax tree that could run what they read, each with the reason."""
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        imported.update(modules)
        for module in RUNS_WHAT_IT_READS.intersection(modules):
            yield f"{node.lineno}: imports {module}"
    for name, given, node in calls(tree):
        last = name.rpartition(".")[2]
        unsafe = name == "yaml.load" and not (len(node.args) == 2 and is_safe_loader(tree, node.args[1]))
        if name in FORBIDDEN or unsafe or given.get("shell") is True:
            yield f"{node.lineno}: {name}"
        if name == "torch.load" and given.get("weights_only") is not True:
            yield f"{node.lineno}: torch.load without weights_only=True"
        if last == "fit" and any(k.arg == "ckpt_path" for k in node.keywords) and given.get("weights_only") is not True:
            yield f"{node.lineno}: a checkpoint is taken up without weights_only=True"
        if name in ("numpy.load", "numpy.save", "numpy.savez") and given.get("allow_pickle") is not False:
            yield f"{node.lineno}: {name} without allow_pickle=False"
        if last in ("extract", "extractall") and ("zipfile" not in imported or "tarfile" in imported):
            yield f"{node.lineno}: {name}, which a tar could lead out of its folder"  # its filter is not in 3.11.2
        if name == "jinja2.Environment" and not any(k.arg == "autoescape" for k in node.keywords):
            yield f"{node.lineno}: jinja2 without autoescape"


def test_no_reader_executes_its_input():
    assert len(FILES) > 400
    found = [f"{path.relative_to(ROOT)}:{text}" for path in FILES for text in complaints(parsed(path))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from joblib import load",
        "import torch as t\nt.load(path)",
        "from torch import load\nload(path, weights_only=False)",
        "import numpy as np\nnp.load(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import yaml\nyaml.load(text, Loader)",
        "import yaml\nclass Loader(yaml.Loader):\n    pass\nyaml.load(text, Loader)",
        "import subprocess\nsubprocess.run(text, shell=True)",
        "import os\nos.system(text)",
        "eval(text)",
        "import tarfile\ntarfile.open(path).extractall(folder)",
        "import tarfile, zipfile\ntar.extractall(folder, filter='data')",
        "trainer.fit(module, ckpt_path=path)",
        "from jinja2 import Environment\nEnvironment(loader=x)",
    ],
)
def test_guard_finds_violations(text):
    assert list(complaints(ast.parse(text)))

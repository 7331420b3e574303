"""Arrays, nets and checkpoints are read as data: options that ruff does not look at keep pickles out of them."""

import ast

import pytest

from tests.layout.imports import ROOT, parsed

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

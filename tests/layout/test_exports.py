"""First-party code imports from modules, not from the lazy names at the top of a package.

A name that is looked up there is found when it is used, so its module would be missing from the closure of code that
keys stages and kernels (`project.code`).
"""

import ast
import importlib
import re

from tests.layout.imports import ROOT, parsed


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

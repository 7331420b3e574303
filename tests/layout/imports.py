"""What a first-party module imports, read from its source: at its head and inside its functions."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("pipeline_src", "spiders", "flows")


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules():
    """Name -> file of every first-party module."""
    return {module_name(p): p for package in PACKAGES for p in sorted((ROOT / package).rglob("*.py"))}


@cache
def imported(path):
    """Names of the modules that a file imports, third-party too; ``from a import b`` is a.b where that is a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {n if n in modules() else node.module for n in names}
    return found


@cache
def first_party(path):
    """First-party files that a file imports, the packages around them included."""
    found = set()
    for name in imported(path):
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            inner = modules().get(".".join(parts[:end]))
            if inner:
                found.add(inner)
    return found


def reached(*paths):
    """All first-party files that files import, directly or not, themselves included."""
    seen, todo = set(), list(paths)
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo += first_party(path)
    return seen

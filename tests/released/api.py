"""What a change of `zugwerk` breaks for those who import it, as griffe finds it.

It is compared with the last tag, or, in a clone without tags, with ``zugwerk.pyi`` in this folder, which a release
overwrites: ``stubgen zugwerk/__init__.py -o work && cp work/zugwerk/__init__.pyi tests/released/zugwerk.pyi``.

Example: ``python -m tests.released.api``
"""

import re
import subprocess
import sys
from pathlib import Path

import griffe

ROOT, NAME = Path(__file__).parents[2], "zugwerk"
FILE = ROOT / NAME / "__init__.py"
SNAPSHOT = Path(__file__).with_name("zugwerk.pyi")


def visited(text: str) -> griffe.Module:
    """The names that a module's text offers."""
    seen = griffe.visit(NAME, FILE, text, modules_collection=griffe.ModulesCollection())
    seen.modules_collection[NAME] = seen
    for name in [name for name, member in seen.members.items() if member.is_alias]:
        del seen.members[name]  # a name of another module, which is not this one's to break
    return seen


def broken(old: str, new: str) -> list[str]:
    """Return a line for each thing that works with the old text of the module and not with the new one."""
    found = griffe.find_breaking_changes(visited(old), visited(new))
    return [re.sub(r"\x1b\[\d+m", "", one.explain(griffe.ExplanationStyle.ONE_LINE)) for one in found]


def git(*words: str) -> str:
    """Return what git prints; empty if it fails."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def last() -> str:
    """Return the module's text of the last release."""
    tag = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*").strip()  # tags of nets have other names
    return (tag and git("show", f"{tag}:{NAME}/__init__.py")) or SNAPSHOT.read_text()


if __name__ == "__main__":
    lines = broken(last(), FILE.read_text())
    print(*lines or [f"{NAME}: nothing that the last release offered is gone or different"], sep="\n")  # noqa: T201
    sys.exit(bool(lines))

"""docs/tutorial.md: its commands, word by word, in a checkout of its own."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.layout.imports import ROOT

STEADY = re.compile(
    r"(Running stage|Stage '|Ran experiment|Data and pipelines|params\.yaml is now|params\.yaml +gomoku).*"
)
"""Lines of the page that every machine prints; figures differ."""
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^\d+> (.+)$", re.MULTILINE)


def sections():
    """Return the commands of each section, each with what the page shows below it."""
    found = {}
    for section in (ROOT / "docs/tutorial.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        found[title] = [step for block in BLOCK.findall(text) for step in steps(block)]
    return found


def steps(block):
    """Return the commands of a block: after a prompt with their output, else a line each without its comment."""
    if "$ " not in block:
        return [(re.sub(r" +#.*", "", line), "") for line in block.splitlines() if line]
    return [tuple(part.partition("\n")[::2]) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]


@pytest.fixture
def checkout(tmp_path):
    """The sources as they are here, as the first commit of a repository, and nothing that a run makes."""
    folder, listed = tmp_path / "zugwerk", ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder),
        "COLUMNS": "100",
        **{f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in IDENTITY.items()},
    }

    def run(command, typed=""):
        done = subprocess.run(
            shlex.split(command),
            cwd=folder,
            env=environment,
            input=typed,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        return done.stdout + done.stderr

    for command in ("git init -q -b main", "git add -A", "git commit -qm First"):
        run(command)
    return run


IDENTITY = {"NAME": "t", "EMAIL": "t@example.org"}


def test_commands_are_read_with_their_output():
    assert steps("$ a b\nout\n...\n$ c\n") == [("a b", "out\n...\n"), ("c", "")]
    assert steps("a -x   # why\n\nb\n") == [("a -x", ""), ("b", "")]
    assert [len(found) for found in sections().values()][:2] == [4, 1]


@pytest.mark.slow
@pytest.mark.timeout(1800)  # two runs of a system at smoke size
def test_every_command_prints_the_documented_output(checkout):
    """From the choice of the profile on: the first section sets up, the last one links to other pages."""
    done = []
    for title, commands in list(sections().items())[1:-1]:
        for command, shown in commands:
            output = checkout(command, "".join(f"{line}\n" for line in TYPED.findall(shown)))
            for line in filter(STEADY.fullmatch, shown.splitlines()):
                assert line in output, f"{title}: {command}\n{output}"
            if not shown or "Running stage" not in shown:
                assert "Running stage" not in output, f"{title}: {command}"
            done.append(command)
    assert len(done) > 20
    assert checkout("git status --porcelain --untracked-files=no") == ""  # the game that was left is saved, too
    assert "up to date" in checkout("dvc --cd ../zugwerk-2 status gomoku_evaluate")

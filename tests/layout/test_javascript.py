"""oxlint, as `make check` runs it, finds what a browser would only find when it runs the line."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.layout.imports import ROOT

OXLINT = shutil.which("oxlint", path=Path(sys.executable).parent) or shutil.which("oxlint")


@pytest.mark.skipif(OXLINT is None, reason="oxlint is not installed; make setup installs it")
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("export const one = () => nowhere();", "no-undef"),
        ('import { field, put } from "./dom.js";\nput(1);', "no-unused-vars"),
        ('import { nothing } from "./dom.js";\nnothing();', "import(named)"),
        ("export const same = (a) => a == 1;", "eqeqeq"),
        ("export const one = 1", None),
    ],
)
def test_faults_of_the_pages_are_named(tmp_path, text, rule):
    (tmp_path / "dom.js").write_text("export const field = 1, put = (one) => one;\n")
    (tmp_path / "page.js").write_text(text)
    command = [OXLINT, "--config", ROOT / ".oxlintrc.json", "--format", "unix", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, rule is None or rule in done.stdout) == (0 if rule is None else 1, True), done.stdout

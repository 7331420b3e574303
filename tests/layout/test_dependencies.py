"""docs/dependencies.md names what pyproject.toml names, and the lock file holds it."""

import re
import tomllib

from tests.layout.imports import ROOT

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

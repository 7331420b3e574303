"""Every metric of a real run has a name of the glossary's table, and with it one unit; estimates have intervals."""

import json
import re
from fnmatch import fnmatchcase

import pytest

from pipeline_src.project.params import read_tree
from pipeline_src.report.figures import REGISTRY, metric_of
from tests.layout.imports import ROOT

REPORTS = ROOT / "docs/measured/laptop"
FILES = sorted(REPORTS.glob("*/**/*.json"))
PARENTS = {"rejects_by_reason", "winner_by", "sources", "by_variant", "skipped", "left_out"}
"""Keys whose own keys are words of the data, not names of metrics."""
ESTIMATED = ("score", "fraction", "F1", "Elo", "squared error", "squares left")
"""How the units of figures begin that are estimates."""
SCORES_AS_RATES = {"unbeaten_vs_fixed", "wins_vs_fixed", "cnn_unbeaten_vs_fixed"}
"""Figures given as fractions, whose metric is a score: without draws both are the same."""


def units():
    """Unit by name, from the table of the glossary."""
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").split("## Metrics")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")]
    return [(name, unit) for names, unit, _ in rows for name in re.findall(r"`([^`]+)`", names)]


UNITS = units()


def leaves(tree, path=()):
    """(path, number or estimate) of everything in a metrics file."""
    if isinstance(tree, dict) and not {"value", "low", "high"} <= set(tree):
        for key, inner in tree.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, tree


def name_of(path):
    """The name that the glossary has: the last key, with the one above where it is a number or a word of the data."""
    if re.fullmatch(r"\d+%?", path[-1]):
        return f"{path[-2]}.#"
    return f"{path[-2]}.{path[-1]}" if len(path) > 1 and path[-2] in PARENTS else path[-1]


def unit_of(name):
    fitting = [(len(pattern.replace("*", "")), unit) for pattern, unit in UNITS if fnmatchcase(name, pattern)]
    return max(fitting)[1] if fitting else None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(REPORTS).as_posix())
def test_every_leaf_is_number_or_estimate_with_unit(path):
    for keys, leaf in leaves(json.loads(path.read_text(encoding="utf-8"))):
        assert unit_of(name_of(keys)) is not None, f"{'.'.join(keys)}: docs/glossary.md does not have it"
        if isinstance(leaf, dict):
            assert set(leaf) == {"value", "low", "high", "n"}, keys
            numbers = [leaf[key] for key in ("low", "value", "high") if leaf[key] is not None]
            assert numbers == sorted(numbers), keys
            assert leaf["n"] >= 0, keys
        else:
            assert leaf is None or (isinstance(leaf, int | float) and not isinstance(leaf, bool)), keys


def test_names_in_the_table_are_unique():
    names = [name for name, _ in UNITS]
    assert len(names) == len(set(names))
    assert len(names) > 100


def figures_of_metrics():
    for system, rows in REGISTRY.items():
        for name, figure in rows.items():
            if figure.path:
                yield pytest.param(name, figure, id=f"{system}.{name}")


@pytest.mark.parametrize(("name", "figure"), figures_of_metrics())
def test_headline_figures_have_the_unit_and_interval_of_their_metric(name, figure):
    file, key = metric_of(figure, read_tree(ROOT / "params.yaml"))
    unit = "score" if name in SCORES_AS_RATES else figure.unit
    assert unit.startswith(unit_of(name_of(key.split("."))))
    found = json.loads((REPORTS / file.removeprefix("artifacts/reports/")).read_text(encoding="utf-8"))
    for part in key.split("."):
        found = found[part]
    assert isinstance(found, dict) == figure.unit.startswith(ESTIMATED)

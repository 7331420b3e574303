"""The page of the figures that the project reports, and of the files of the graph that hold metrics."""

from pathlib import Path

import yaml

from pipeline_src.project.reference.tables import NOTE, code, table
from pipeline_src.report.registry import REGISTRY, Figure

INTRO = f"""# Metrics

{NOTE}

`zugwerk report` shows the figures below beside the published ones; `dvc metrics show` and `dvc metrics diff` show
every number of the [files](#files), `zugwerk compare` the figures of two versions. Names and units of all numbers are
in the [glossary](../glossary.md#metrics).

- An estimate is `{{value, low, high, n}}`: `low` to `high` is its 95 % interval, `n` the number of games, turns or
  positions behind it. Numbers without an interval are counts, or nothing was drawn for them.
- Rates, shares and scores are fractions from 0 to 1. A score is (won + drawn / 2) / games, from pairs of games with
  the sides swapped. A value or win rate is the side to move's.
- `elo` of a match is the difference that its score means; null where one side won everything. The Elo of Gomoku's
  models is 0 for MCTS with 1,000 random playouts.
- Seconds and hardware are no metrics, since no run repeats them: they are in `*.timings.json`, outside git and DVC.
- A figure that no stage makes comes from `docs/measured/SYSTEM.json`, which `make measure-SYSTEM` writes, with
  profile, data, hardware, date and command.

## Figures

"""


def metrics_page(folder: Path = Path()) -> str:
    """The page's text, for the registry of figures and the dvc.yaml of ``folder``."""
    lines = INTRO.splitlines()
    for system, figures in REGISTRY.items():
        lines += [f"### {system}", ""]
        rows = [(code(name), *_about(system, figure)) for name, figure in figures.items()]
        lines += [*table(["figure", "unit", "published", "made by", "file, key"], rows), ""]
    lines += ["## Files", "", "Metrics of each stage; all are in git, and none holds anything but numbers.", ""]
    return "\n".join([*lines, *table(["stage", "metrics"], _files(folder))]) + "\n"


def _about(system: str, figure: Figure) -> tuple[str, str, str, str]:
    published = "" if figure.published is None else f"{figure.published:,}"
    if not figure.stage:
        return figure.unit, published, code(f"make measure-{system}"), code(f"docs/measured/{system}.json")
    place = f"{code(figure.path or figure.times)} {code(figure.key)}" if figure.key else "times of the generations"
    return figure.unit, published, code(f"dvc repro {figure.stage}"), place


def _files(folder: Path) -> list[tuple[str, str]]:
    stages = yaml.safe_load((folder / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    rows = []
    for name, definition in stages.items():
        files = [next(iter(one)) for one in definition.get("do", definition).get("metrics", [])]
        shown = [file.replace("${item}", "NAME").replace("${key}", "NAME") for file in files]
        if shown:
            rows.append((code(name), ", ".join(map(code, shown))))
    return rows

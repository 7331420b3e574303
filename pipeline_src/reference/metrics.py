"""The page of the figures that the project reports, and of the metrics files of the graph."""

from pipeline_src.project.systems import Figure
from pipeline_src.reference.tables import NOTE, code, table
from pipeline_src.report.registry import REGISTRY

INTRO = f"""# Metrics

{NOTE}

`zugwerk report` prints the figures below next to the published ones, `zugwerk report --json` prints them for programs,
and `zugwerk compare` sets all numbers of two versions side by side. Units, published values and commands are in
[results](../results.md), names in the [glossary](../glossary.md#metrics).

The reports of a stage are below `artifacts/reports/` under its name (`amazons_match` writes `amazons/match.json`;
dvc.yaml lists all) and hold numbers only; those of the committed run are in [docs/measured/laptop](../measured/laptop)
too. To DVC a few figures of each system are metrics, those in `SYSTEM.headlines.json`: `dvc metrics show`, `dvc metrics
diff` and `dvc exp show` print them, `dvc metrics diff --targets FILE` the numbers of any report. For a table of
experiments with a column for each figure or param that differs:

```sh
dvc exp show --only-changed --drop '.*\\.(low|high|n)$|code\\..*|artifacts/.*|Created'
```

- `elo` of a match is the Elo difference that corresponds to its score, null where one side won every game. On the scale
  of Gomoku's models, MCTS with 1,000 random playouts is 0.
- A figure with no file of the graph comes from `docs/measured/SYSTEM.json`, which `make measure-SYSTEM` writes.
- A figure may have several measurements: by the last run in this checkout, by a committed run of a profile, or outside
  the graph. The checkout's own stands first, then the one with the largest n; `profiles` has all of them by name, and
  `others` the details of the rest ([formats](../results.md#add-a-measurement)).
- `player` says what was measured where params decide it, such as `bare net, 64 simulations` or `net with solver=200,
  400 simulations`. Of such a figure, a measurement by other code than the graph's (`code`, the digest of the stage's
  code) stands behind those by the same code, the newest first. `as printed` says that Amazons-Net was trained as its
  patent prints it, and such a measurement stands behind all others.
- A figure names what it was played with, such as best of five or two plies. Where the graph played with something else,
  it has no such figure.

## Figures

"""


def metrics_page() -> str:
    """Return the page's text, for the registry of figures."""
    lines = INTRO.splitlines()
    for system, figures in REGISTRY.items():
        lines += [f"### {system}", ""]
        rows = [(code(name), figure.words, _place(figure)) for name, figure in figures.items()]
        heads = ["key", "figure", "file, key"][: 3 if any(place for *_, place in rows) else 2]
        lines += [*table(heads, [row[: len(heads)] for row in rows]), ""]
    return "\n".join(lines[:-1]) + "\n"


def _place(figure: Figure) -> str:
    if not figure.stage:
        return ""
    file = (figure.path or figure.times).removeprefix("artifacts/reports/")
    return f"{code(file)} {code(figure.key)}" if figure.key else "times of the generations"

"""Pages and files that are written from the code: figures and metrics, packaged nets."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline_src import yaml12
from pipeline_src.arena.calibration import MOST_AT_START, MOST_BIAS
from pipeline_src.players.packaged import Card, CardFigure, packaged_nets
from pipeline_src.project.systems import Figure
from pipeline_src.report.figures import REGISTRY

NOTE = "<!-- Written by `make docs` from the code; edit that. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; bars inside cells are escaped."""
    lines = [list(head), ["---"] * len(head), *map(list, rows)]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]


def code(text: str) -> str:
    """Return text as code; empty text stays empty."""
    return f"`{text}`" if text else ""


def value_code(value: Any) -> str:
    """Return a value of params.yaml as code."""
    text = yaml12.dump(value, default_flow_style=True, width=10_000).strip()
    return code(text.removesuffix("...").strip())


# The page of the figures that the project reports, and of the metrics files of the graph.


METRICS_INTRO = f"""# Metrics

{NOTE}

`zugwerk report` prints the figures below next to the published ones, `zugwerk report --json` prints them for programs,
and `zugwerk compare` sets all numbers of two versions side by side. Units, published values and commands are in
[results](../results.md).

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
  the graph. The checkout's own stands first, then the one with the largest n; `others`
  has the rest ([formats](../results.md#add-a-measurement)).
- `player` says what was measured where params decide it, such as `bare net, 64 simulations` or `net with solver=200,
  400 simulations`. Of such a figure, a measurement by other code than the graph's (`code`, the digest of the stage's
  code) stands behind those by the same code, the newest first. `as printed` says that Amazons-Net was trained as its
  patent prints it, and such a measurement stands behind all others.
- A figure names what it was played with, such as best of five or two plies. Where the graph played with something else,
  it has no such figure.

## Figures

"""


UNITS = Path(__file__).with_name("units.csv")
UNITS_WORDS = "`*` is any text and `#` a number; if several names fit, the longest applies."


def metrics_page() -> str:
    """Return the page's text, for the registry of figures."""
    lines = METRICS_INTRO.splitlines()
    for system, figures in REGISTRY.items():
        lines += [f"### {system}", ""]
        rows = [(code(name), figure.words, _place(figure)) for name, figure in figures.items()]
        heads = ["key", "figure", "file, key"][: 3 if any(place for *_, place in rows) else 2]
        lines += [*table(heads, [row[: len(heads)] for row in rows]), ""]
    with UNITS.open(encoding="utf-8", newline="") as file:
        names = [
            (" ".join(map(code, row["name"].split())), row["unit"], row["meaning"]) for row in csv.DictReader(file)
        ]
    lines += ["## Names in the reports of stages", "", UNITS_WORDS, "", *table(["name", "unit", "meaning"], names)]
    return "\n".join(lines) + "\n"


def _place(figure: Figure) -> str:
    if not figure.stage:
        return ""
    file = (figure.path or figure.times).removeprefix("artifacts/reports/")
    return f"{code(file)} {code(figure.key)}" if figure.key else "times of the generations"


# The page of the packaged nets, with a card for each.


NETS_INTRO = f"""# Nets that come with the package

{NOTE}

Players whose text names no model (`zero`, `puct`, `nets`) play with the net of their board. Each is a card, and a file
below `pipeline_src/nets` that runs without torch: an ONNX model, or the table of a line net. The net of the Amazons is
there a second time in 8-bit integers, with which `puct` searches. `zugwerk export MODEL --package SYSTEM` makes them of
a model of this checkout, with its profile, params, commit and figures. The weights of these nets were once rounded to
16 bits; figures are those before that, with 95 % intervals. What a card leaves out is not known.

The table has win rates in games against itself, from random openings of two plies: Brier score, means predicted for
the side to move and scored in the first half of each game; at the start, and of the second side a ply later. A net is
not packaged if its Brier score is above that of always saying one half (0.25, by the interval), if the mean prediction
is more than {MOST_BIAS} from the points scored, or if the win rates at the start together are more than
{MOST_AT_START} from 1.

"""


def nets_page() -> str:
    """Return the page's text."""
    nets = packaged_nets()
    head = ["net and card for hubs", "bytes", "Brier score", "predicted", "scored", "first side", "second side"]
    lines = [*NETS_INTRO.splitlines(), *table(head, [_row(net.card) for net in nets]), ""]
    for net in nets:
        lines += [f"## {net.card.name}", "", *_about(net.card), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(card: Card) -> list[str]:
    found = card.calibration
    numbers = (found.predicted, found.scored, found.start_first, found.start_second)
    brier = f"{found.brier:.3f} ({found.brier_low:.3f} to {found.brier_high:.3f})"
    link = f"[{card.name}](../../pipeline_src/nets/{card.name}.md)"
    return [link, f"{card.bytes:,}", brier, *(f"{one:.3f}" for one in numbers)]


def _about(card: Card) -> Iterator[str]:
    hours = None if card.hours is None else f"{card.hours:.3g}"
    params = ", ".join(code(f"{key}: {value}") for key, value in card.params.items())
    facts = {
        "net": card.architecture,
        "data": card.data,
        "params": params,
        "commands": ", then ".join(map(code, card.command)),
        "commit": code(card.commit or ""),
        "packaged on": card.date,
        "hours": hours,
        "hardware": card.hardware,
        "SHA-256": code(card.sha256),
    }
    yield from (f"- {name}: {value}" for name, value in facts.items() if value)


def hub_card(card: Card) -> str:
    """Return a net's card in the form that hubs of models read: Markdown below a head in YAML with the figures."""
    name = f"{card.game}-{card.size}x{card.size}-{card.rule}"
    found = card.calibration
    brier = CardFigure(
        words="Brier score of its win rates (one half always: 0.25)", value=found.brier, low=found.brier_low,
        high=found.brier_high, n=found.games, unit="squared error",
    )  # fmt: skip
    metrics = [
        {
            "type": one.unit,
            "name": one.words,
            "value": one.value,
            "args": {"low": one.low, "high": one.high, "n": one.n},
        }
        for one in (card.figures or (brier,))
    ]
    task = {"type": "reinforcement-learning", "name": f"{card.game}, {card.rule}, {card.size}x{card.size}"}
    data = {"type": "games", "name": card.data if card.figures and card.data else "its games against itself"}
    head = {
        "license": "mit",
        "library_name": "zugwerk",
        "tags": [card.game, card.rule, "board-games", "reproducible-research"],
        "model-index": [{"name": name, "results": [{"task": task, "dataset": data, "metrics": metrics}]}],
    }
    about = f"{card.architecture}. `zugwerk.net({name!r})` loads it; `args` are the ends of the 95 % interval."
    return f"---\n{yaml12.dump(head, width=120)}---\n\n# {name}\n\n{about}\n"

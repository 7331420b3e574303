"""Markdown tables, and the words in their cells."""

import ast
import csv
import re
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import typer

from pipeline_src import yaml12
from pipeline_src.arena.calibration import MOST_AT_START, MOST_BIAS
from pipeline_src.cli.app import app
from pipeline_src.players.packaged import Card, CardCalibration, CardFigure, packaged_nets
from pipeline_src.project.graph import CODE, GRAPH, Stage, overlap, reached, read_graph
from pipeline_src.project.params import PARAMS_FILE, is_model, read_tree, sentence, type_words, unwrapped
from pipeline_src.project.profile import LAPTOP, PARAMS, PROFILES, merged_text
from pipeline_src.project.systems import Figure, systems
from pipeline_src.reference.stage_code import SECTIONS, TopLevel, about
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


# The page of all commands: zugwerk, make, the stages.


COMMANDS_INTRO = f"""# Commands

{NOTE}

[zugwerk](#zugwerk) plays, measures and shows; [make](#make) sets up and runs whole things; `dvc repro` makes what
[stages](#stages) make, and no stage needs DVC to run. The Prefect flows and their options are in
[flows.md](../flows.md), the texts that name players (`alphabeta:depth=3`) in [engine.md](../engine.md#players) and
[gomoku.md](../gomoku.md#players).

"""
STAGES = """## stages

`dvc repro STAGE` brings a stage and what it needs up to date; a stage for each of several models or generations is
`STAGE@NAME`, and `dvc repro STAGE` is all of them. `python -m pipeline_src.stage systems.amazons_net.match` runs just
this one, whatever is out of date; dvc.yaml has the command of each.

"""

ZUGWERK = """## zugwerk

`--help` or `-h` after a command shows its arguments and options.

"""


def commands_page(folder: Path = Path()) -> str:
    """Return the page's text, for the Makefile, dvc.yaml and stages of ``folder``."""
    lines = [
        *COMMANDS_INTRO.splitlines(),
        "## make",
        "",
        *table(["target", "what it does"], _targets(folder / "Makefile")),
        "",
        *STAGES.splitlines(),
        *table(["stage", "what it makes"], _stages(folder)),
        "",
    ]
    rows = _commands(typer.main.get_command(app), "zugwerk")
    return "\n".join([*lines, *ZUGWERK.splitlines(), *table(["command", "what it does", "example"], rows)]) + "\n"


def _commands(command: Any, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each command below a group, the first sentence of its help, and its example."""
    for below in command.commands.values():
        if hasattr(below, "commands"):
            yield from _commands(below, f"{name} {below.name}")
        else:
            example = re.search(r"Example: (zugwerk .+)", f"{below.help}\n{below.epilog}")
            first = sentence((below.help or "").partition("Example: ")[0]).partition(". ")[0].rstrip(".")
            yield code(f"{name} {below.name}"), f"{first}.", code(example[1].rstrip(".")) if example else ""


def _targets(makefile: Path) -> list[tuple[str, str]]:
    found = re.findall(r"^([a-z_-]+):.*?## (.+)$", makefile.read_text(encoding="utf-8"), re.MULTILINE)
    return [(code(f"make {name}"), text) for name, text in found]


PACKAGE = Path(__file__).parents[1]


def _stages(folder: Path) -> list[tuple[str, str]]:
    rows = []
    stages = read_tree(folder / "dvc.yaml")["stages"]
    for name, definition in stages.items():
        command = definition.get("do", definition)["cmd"]
        module, _, function = command.split()[3].partition(":")  # python -m pipeline_src.stage MODULE[:FUNCTION]
        tree = ast.parse((PACKAGE / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8"))
        mains = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == (function or "main"))
        text = sentence(ast.get_docstring(next(mains)))
        if not function and not text.startswith("Stage "):
            text = sentence(ast.get_docstring(tree))
        about = re.sub(r"^Stage \w+: ", "", text)
        many = "@NAME" if "foreach" in definition else ""
        rows.append((code(name + many), about[:1].upper() + about[1:]))
    return rows


# The page of the stages that run again after a change of params.yaml.


GRAPH_INTRO = f"""# What runs again

{NOTE}

`dvc repro` runs a stage again when a parameter, its code or an input of it has changed, and then those that read its
outputs, if these have changed. `zugwerk status` lists the stages that would run now, and why.

The stage `code` writes the digests of code at the start of a run. `dvc status` and `dvc repro --dry` see every change
of params and files, but of code only what was edited before the last run. `zugwerk status` first brings the digests up
to date (`dvc repro --single-item code`); until the next edit DVC's own commands then say the same.

A row of the table is about the key and everything below it; NAME is any item, `report_*` stands for all stages of that
beginning. `dvc dag` draws which stages read which.

"""
CODE_OF_STAGES = """
A key with no stage changes no output of the graph: `parallel`, for one, says how many processes work.

A stage's code is its module, the players that its params name, and all first-party modules that these import; comments,
docstrings and blank lines do not count. `zugwerk code STAGE` lists the files, `zugwerk code STAGE --why FILE` shows
which imports lead to a file. After an edit `zugwerk status` lists the stages that run it.
"""


def graph_page(folder: Path = Path()) -> str:
    """Return the page's text, for the dvc.yaml and the params.yaml of ``folder``."""
    graph, params = read_graph(folder / GRAPH), read_tree(folder / PARAMS_FILE)
    stages = {name: stage for name, stage in graph.items() if name != CODE}
    head = ["key of params.yaml", "runs again", "and then, where its outputs differ"]
    return GRAPH_INTRO + "\n".join(table(head, _keys(stages, params))) + "\n" + CODE_OF_STAGES


def _keys(stages: Mapping[str, Stage], params: Mapping[str, Any]) -> Iterator[list[str]]:
    for section in params:
        readers: dict[str, set[str]] = {section: set()}
        for target, keys in ((target, stage.keys_of(target)) for stage in stages.values() for target in stage.listed):
            for key in filter(partial(overlap, section), keys):
                shown, name = _shown(key, target)
                readers.setdefault(shown, set()).add(name)
        rows: dict[frozenset[str], list[str]] = {}
        for key in sorted(readers):
            above = {name for other in readers if key.startswith(f"{other}.") for name in readers[other]}
            if not readers[key] <= above or len(readers) == 1:
                rows.setdefault(frozenset(above | readers[key]), []).append(code(key))
        for first, names in rows.items():
            groups = {name.partition("@")[0] for name in first}
            yield [", ".join(names), _targets_graph(stages, first), _listed(stages, reached(stages, groups) - groups)]


def _shown(key: str, target: str) -> tuple[str, str]:
    """A key and a target with NAME in place of the item that both name."""
    group, _, item = target.partition("@")
    parts = key.split(".")
    if item not in parts:
        return key, target
    return ".".join("NAME" if part == item else part for part in parts), f"{group}@NAME"


def _targets_graph(stages: Mapping[str, Stage], targets: Set[str]) -> str:
    """Stages, and of a `foreach` the members where not all of them are meant."""
    whole: set[str] = set()
    some: list[str] = []
    for name, stage in stages.items():
        if stage.listed.keys() <= targets:
            whole.add(name)
        else:
            some += [target for target in (f"{name}@NAME", *stage.listed) if target in targets]
    return ", ".join([*map(code, some), *([_listed(stages, whole)] if whole or not some else [])])


def _listed(stages: Mapping[str, Stage], names: set[str]) -> str:
    """Stages in the order of the graph; those of one beginning together where all of several are meant."""
    if names and names == set(stages):
        return "every stage"
    groups: dict[str, list[str]] = {}
    for name in stages:
        groups.setdefault(name.partition("_")[0], []).append(name)
    shown: list[str] = []
    for beginning, group in groups.items():
        together = len(group) > 1 and names.issuperset(group)
        shown += [f"{beginning}_*"] if together else [name for name in group if name in names]
    return ", ".join(map(code, shown)) or "-"


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

Each net also played against itself, from random openings of two plies, and its win rates were compared with the
results. A net is not packaged if its Brier score is above that of always saying one half (0.25, by the interval), if
its mean prediction is more than {MOST_BIAS} from the points scored, or if the win rates of both sides at the start
together are more than {MOST_AT_START} from 1.

"""


def nets_page() -> str:
    """Return the page's text."""
    nets = packaged_nets()
    head = ["net", "game", "board", "rule", "bytes"]
    rows = [(code(c.name), c.game, f"{c.size}x{c.size}", c.rule, f"{c.bytes:,}") for c in (net.card for net in nets)]
    lines = [*NETS_INTRO.splitlines(), *table(head, rows), ""]
    for net in nets:
        lines += [f"## {net.card.name}", "", *_about(net.card), ""]
        lines += [
            f"[Its card for hubs](../../pipeline_src/nets/{net.card.name}.md) has the figures with intervals.",
            "",
        ]
        lines += [*_calibration(net.card.calibration), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


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


def _calibration(found: CardCalibration) -> Iterator[str]:
    yield (
        f"Win rates in {found.games} games against itself at {found.simulations} simulations a move, first half of "
        f"each game: Brier score {found.brier:.3f} ({found.brier_low:.3f} to {found.brier_high:.3f}); "
        f"{found.predicted:.3f} predicted for the side to move, {found.scored:.3f} scored; at the start "
        f"{found.start_first:.3f} for the first side, a ply later {found.start_second:.3f} for the second."
    )


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


# The page of params.yaml: every key with its type, its value in each profile, and its meaning.


PARAMS_INTRO = f"""# params.yaml

{NOTE}

The committed `params.yaml` is the profile `laptop`. `zugwerk profile NAME` writes another one to the file; keys that
profiles do not name, such as `crawl.contact`, stay as you set them. `dvc exp run -S KEY=VALUE` changes single keys,
such as `-S amazons_train.width=0.5`. An unknown key, a wrong type or a value out of range is an error that names the
key; editors with a YAML language server report it as you type.

A value is the laptop's; those of profiles with another one follow, each behind its profile's name. A count is a whole
number, at least 1. *NAME* in a key stands for a name of your own. [What runs again](graph.md) names the stages that
depend on each key.

"""
FIRST = (LAPTOP, "smoke", "paper")  # Profiles whose values come first
ALIKE = 3  # Number of keys shared with an earlier section at which what is equal there is not repeated
COUNT = "whole number, at least 1"  # The most frequent type, which the page calls a count
MANY = 12  # Number of entries of a mapping above which all share one row
ABSENT = object()


@dataclass(frozen=True)
class Row:
    """A key with its type, its meaning and its value in each profile."""

    name: str
    type: str
    meaning: str
    values: Mapping[str, Any]


class Shown(str):
    """Text that is shown unchanged."""


def params_page(folder: Path = Path()) -> str:
    """Return the page's text, for the params.yaml and the profiles of ``folder``.

    Raises:
        ZugwerkError: params.yaml is not the laptop's.
    """
    names = [path.stem for path in sorted((folder / PROFILES).glob("*.yaml"))]
    trees = {LAPTOP: read_tree(folder / PARAMS)}
    trees |= {name: yaml12.parse(merged_text(name, folder), name) for name in [*FIRST[1:], *names] if name in names}
    sections = [name for name in trees[LAPTOP] if name in SECTIONS]
    tops = {profile: {key: tree[key] for key in TopLevel.model_fields} for profile, tree in trees.items()}
    lines = [*PARAMS_INTRO.splitlines(), *table(["sections", "of"], _contents(sections)), "", "## All systems", ""]
    lines += _table(list(_rows(TopLevel, "", tops)))
    earlier: dict[str, list[Row]] = {}
    for name in sections:
        kind = SECTIONS[name]
        values = {profile: tree[name] for profile, tree in trees.items()}
        whole = list(_rows(kind, "", values))
        same, rows = _without_repeats(whole, earlier)
        earlier[name] = whole
        same = f" Keys without a type or a row are as in [{same}](#{same})." if same else ""
        lines += ["", f"## {name}", "", f"{sentence(about(kind))}{same}", "", *_table(rows)]
    return "\n".join(lines) + "\n"


def _without_repeats(rows: list[Row], earlier: Mapping[str, list[Row]]) -> tuple[str, list[Row]]:
    """Return the earlier section that shares most keys, and the rows without what stands there; empty for few."""
    shared = {name: {_words(row) for row in rows if row.type} & {*map(_words, old)} for name, old in earlier.items()}
    name = max(shared, key=lambda one: len(shared[one]), default="")
    if not name or len(shared[name]) < ALIKE:
        return "", rows
    values = {_words(row): row.values for row in earlier[name]}
    left = [row for row in rows if _words(row) not in shared[name] or row.values != values[_words(row)]]
    return name, [replace(row, type="", meaning="") if _words(row) in shared[name] else row for row in left]


def _words(row: Row) -> tuple[str, str, str]:
    return row.name, row.type, row.meaning


def _contents(sections: list[str]) -> list[tuple[str, str]]:
    systems: dict[str, list[str]] = {}
    for name in sections:
        systems.setdefault(name.split("_")[0] if "_" in name else "all systems", []).append(f"[{name}](#{name})")
    return [(" ".join(links), system) for system, links in systems.items()]


def _rows(kind: Any, key: str, values: Mapping[str, Any]) -> Iterator[Row]:
    """Return the rows of the keys in a model or mapping below ``key``, with the values of each profile."""
    if typing.get_origin(kind) is dict:
        item = typing.get_args(kind)[1]
        for name, field in getattr(item, "model_fields", {}).items():
            yield Row(f"{key}*NAME*.{name}", type_words(field), sentence(field.description), {})
        yield from _entries(key, values)
        return
    for name, field in kind.model_fields.items():
        default = field.default.model_dump() if is_model(type(field.default)) else field.default
        inner = {p: v.get(name, default) if isinstance(v, dict) else ABSENT for p, v in values.items()}
        below, _ = unwrapped(field.annotation)
        mapping = typing.get_origin(below) is dict
        if not is_model(below):
            yield Row(f"{key}{name}", type_words(field), sentence(field.description), {} if mapping else inner)
        if is_model(below) or mapping:
            yield from _rows(below, f"{key}{name}.", inner)


def _entries(key: str, values: Mapping[str, Any]) -> Iterator[Row]:
    """Return a row for each entry of a mapping, or one for all if there are many."""
    names = list(dict.fromkeys(name for value in values.values() if isinstance(value, dict) for name in value))
    if len(names) > MANY:
        spans = {p: f"{next(iter(v))} to {next(reversed(v))}" for p, v in values.items()}
        yield Row(f"{key}*NAME*", "", "", {p: Shown(text) for p, text in spans.items()})
        return
    for name in names:
        yield Row(f"{key}{name}", "", "", {p: v.get(name, ABSENT) for p, v in values.items()})


def _table(rows: list[Row]) -> list[str]:
    cells = [[_name(r.name), r.type.replace(COUNT, "count"), _values(r.values), r.meaning] for r in rows]
    return table(["key", "type", "value", "meaning"], cells)


def _values(values: Mapping[str, Any]) -> str:
    """Return the laptop's value, and the others with their profiles."""
    if not values:
        return ""
    own, others = values[LAPTOP], dict[str, list[str]]()
    for profile, value in values.items():
        if value is not own and value != own:
            others.setdefault(_value(_difference(own, value)), []).append(profile)
    return "; ".join([_value(own), *(f"{', '.join(names)} {text}" for text, names in others.items())])


def _name(name: str) -> str:
    return "".join(
        part if part == "*NAME*" else code(part) for part in name.replace("*NAME*", "\0*NAME*\0").split("\0")
    )


def _difference(own: Any, other: Any) -> Any:
    """Return the other value, without what two mappings have in common."""
    if isinstance(own, dict) and isinstance(other, dict):
        return {key: value for key, value in other.items() if own.get(key, ABSENT) != value}
    return other


def _value(value: Any) -> str:
    if value is ABSENT:
        return "none"
    return code(value) if isinstance(value, Shown) else value_code(value)


# prefect.yaml: the flows as deployments, of the whole graph and of each system that declares a flow.


HEAD = """# Written by `make docs` from dvc.yaml and the declarations of the systems.
# The flows as deployments on the process work pool `zugwerk`, which `make serve` creates with room for one run at a
# time: one writer a checkout. `make serve` applies this file each time it starts. Schedules are not in here: those made
# in the browser, or by `prefect deployment schedule create`, stay as they are, as does the nightly one of `make serve`.
name: zugwerk
prefect-version: 3.8.0

deployments:
"""
MEASURE = ("_baselines", "_evaluate", "_match", "_calibration", "_page")  # Ends of the names of stages that measure


def deployments(folder: Path = Path()) -> str:
    """Return the file's text, for the dvc.yaml of ``folder``."""
    return HEAD + "\n".join(_entries_deployments(list(read_graph(folder / GRAPH))))


def _entries_deployments(stages: list[str]) -> Iterator[str]:
    crawls = [name for name in stages if name.endswith("_crawl")]
    measured = "".join(f"\n        - {name}" for name in stages if name.endswith(MEASURE))
    for name, words, parameters in (
        (
            "local",
            "Fetch the games that are new, bring the whole graph up to date, publish the headline figures.",
            " { refresh_crawl: true }",
        ),
        (
            "crawl",
            "Fetch the games that are new, and nothing else; runs when asked to.",
            f" {{ targets: [{', '.join(crawls)}], refresh_crawl: true }}",
        ),
        (
            "evaluation",
            "All evaluations and the report, and of what they depend on only what has changed; runs when asked to.",
            f"\n      targets:{measured}",
        ),
    ):
        yield _entry(name, "reproduce", words, parameters)
    for system, declared in systems().items():
        if flow := declared.flow:
            yield _entry("local", system, flow.deployment, " { refresh_crawl: true }" if flow.crawls else "")


def _entry(name: str, flow: str, about: str, parameters: str) -> str:
    lines = [f"  - name: {name}", f"    entrypoint: flows/systems.py:{flow}", f"    description: {about}"]
    lines += ["    work_pool: { name: zugwerk }", *([f"    parameters:{parameters}"] if parameters else [])]
    return "\n".join(lines) + "\n"

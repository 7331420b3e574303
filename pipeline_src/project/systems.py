"""Declarations: the facts about a system that the project uses, in the module ``declaration`` of its package.

`systems` finds them as the registry finds players, so that no list elsewhere names the systems: figures, tables,
charts, boards, sections of params.yaml and pages all come from here.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.project.params import Params, Whole

PACKAGE = Path(__file__).parents[1]
DECLARATION = "declaration"  # Name of the module, which has the `System` as `SYSTEM`
Words = Callable[[Mapping[str, Any]], str]  # Makes a description from the tree of params.yaml


@dataclass(frozen=True)
class Counted:
    """Words on the data of a figure: those with a count above 0 in a metrics file."""

    path: str
    key: str  # Dotted path of the counts in the file
    words: Mapping[str, str]  # Words by the keys of the counts


@dataclass(frozen=True)
class Figure:
    """One figure. Its value in a metrics file is a number or ``{value, low, high, n}``.

    In ``path``, ``{section.key}`` stands for the value in params.yaml.
    """

    words: str  # Description for tables
    unit: str
    path: str = ""  # Metrics file of the graph; empty if only committed measurements have the figure
    key: str = ""  # Dotted path of the value in the file
    stage: str = ""  # DVC stage that makes the file
    published: float | None = None
    data: str | Counted | Words = ""  # Origin of the data, in words
    timing: str = ""  # Key in `generation_times.figures`, in place of a metrics file
    times: str = ""  # File of times with the key, in place of a metrics file
    # The player that the graph measures, in words. An older measurement by other code comes after all others.
    player: Words | None = None
    # How the nets that the graph measures were trained, if not by our own choices. Such committed ones come last.
    trained: Words | None = None
    one_run: bool = False  # Whether n counts models of one run, which are not independent: its interval is not shown
    # Params that the words name, by dotted keys. A value that the graph made with others is left out.
    named: Mapping[str, Any] = field(default_factory=dict)


class Claim(NamedTuple):
    """Report of a publication, and the figure that decides whether it was reached."""

    words: str
    figure: str
    bar: float | str  # The published value of the figure, or, if none is printed, the figure that takes its place
    reason: str  # Remark on the verdict
    missed: str = ""  # Why it was not reached, if it was not; by default `reason`
    run: str = ""  # The figure to show of a run that lacks the deciding one
    bar_words: str = ""  # Name of the figure of `bar`, if it is one
    less: bool = False  # Whether less is better
    outcomes: tuple[str, str] = ("beaten", "reproduced")  # Verdicts on a value beyond the bar, and on one like it
    margin: float = 0.0  # By how much a value that is like the bar may be worse, in the figure's unit
    profile: str = ""  # The only profile whose measurement decides, if one is like the publication
    logs: bool = False  # Whether the figure is a ratio of a few runs, with Student's interval on logarithms
    sample: str = "games"  # What the figure's n counts
    beside: tuple[tuple[str, str, str], ...] = ()  # Words, figure and profile ("" for the same) of further values


class Boards(NamedTuple):
    """Boards of the report: positions and games that the stage report_positions chooses.

    ``boards`` of the system's module `boards` takes the params and returns a function that makes the list of
    `report.examples.Example`s; this one takes a function from names to generators of random numbers.
    """

    params: type[Any]  # Model of the system's key in section `report_positions`
    about: str = ""  # Description of the key; by default the docstring of the model


@dataclass(frozen=True)
class System:
    """A published system, or a part of the engine with figures of its own."""

    name: str  # Name of docs/measured/NAME.json, in tables of figures, and of a published system's folder
    title: str
    summary: str
    page: str  # Page below docs/
    figures: Mapping[str, Figure]  # Headline figures by name
    source: str = ""  # The publication; empty for a system of our own
    word: str = ""  # First word of its stages and sections of params.yaml, and its folders' name; empty without stages
    claim: Claim | None = None  # Claim of the publication; None for a system of our own
    metrics: tuple[str, ...] = ()  # Figures that DVC shows as metrics: few, as its tables have a column for each number
    # The model of each of its sections of params.yaml; the names in `Named` ones are the user's own.
    params: Mapping[str, Any] = field(default_factory=dict)
    pictures: tuple[str, ...] = ()  # Names of the charts that pages below docs show
    boards: Boards | None = None
    matches: Mapping[str, str] = field(default_factory=dict)  # Descriptions of committed matches by key, else the key


def declarations() -> list[str]:
    """Return the modules with declarations, in the order of their names; they are listed, not imported."""
    found = (path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob(f"{DECLARATION}.py"))
    return sorted(".".join(path.with_suffix("").parts) for path in found)


@cache
def systems() -> dict[str, System]:
    """Return all systems by name, published ones first."""
    found: list[System] = [importlib.import_module(module).SYSTEM for module in declarations()]
    return {system.name: system for system in sorted(found, key=lambda one: (one.claim is None, one.name))}


def by_word() -> dict[str, System]:
    """Return the systems with stages, by their `System.word`."""
    return {system.word: system for system in systems().values() if system.word}


def sections() -> dict[str, Any]:
    """Return the models of the sections of params.yaml that systems declare."""
    return {name: kind for system in systems().values() for name, kind in system.params.items()}


def module_of(system: System, name: str) -> str:
    """Return the module ``name``, such as charts or boards, of a system's folder; empty if it has none."""
    found = (PACKAGE / "systems" / system.name / name).with_suffix(".py").is_file()
    return f"{PACKAGE.name}.systems.{system.name}.{name}" if found else ""


def levels_figure(size: int, variant: str) -> Figure:
    """Return the figure of a ladder of opponents (`players.packaged`)."""
    return Figure(f"levels on {size}x{size} {variant}: Elo from the weakest to the strongest", "Elo")


def calibration_figures(
    word: str, net: str, data: str | Counted | Words, player: Words | None = None
) -> dict[str, Figure]:
    """Return the figures of a stage ``WORD_calibration`` by name; ``net`` and ``data`` are words for tables."""
    words = {
        "calibration_brier": ("value_brier", "squared error", "Brier score of its win rates (one half always: 0.25)"),
        "calibration_bias": ("value_bias", "fraction", "win rate predicted, less points scored"),
        "start_first": ("start_first", "win rate", "win rate of the first side at the start"),
        "start_second": ("start_second", "win rate", "win rate of the second side a ply later"),
    }
    file, stage = f"artifacts/reports/{word}/calibration.json", f"{word}_calibration"
    return {
        name: Figure(f"{net} against itself: {about}", unit, file, key, stage, data=data, player=player)
        for name, (key, unit, about) in words.items()
    }


class PlyShown(Params):
    """One position of a game."""

    ply: Whole
    """Number of moves played before the position."""

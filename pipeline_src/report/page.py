"""The report: every figure with the published one, charts and boards, as one page that opens offline."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.arena.score import student
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.games.amazons import FILES as AMAZONS_FILES
from pipeline_src.games.go import FILES as GO_FILES
from pipeline_src.games.gomoku import FILES as GOMOKU_FILES
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.project.plots_page import bundle
from pipeline_src.project.profile import LAPTOP
from pipeline_src.project.systems import Claim
from pipeline_src.report.board_picture import INK, BoardPicture, SquaresPicture, star_points
from pipeline_src.report.charts import LARGEST, charts, interactive, svg
from pipeline_src.report.examples import (
    LETTERS,
    POSITIONS,
    SIDES,
    Candidate,
    GameName,
    Panel,
    read_examples,
    square_names,
)
from pipeline_src.report.figures import (
    COMMITTED,
    OTHER_PARAMS,
    SYSTEMS,
    agreement,
    commit,
    figures,
    hardware,
    interval,
    number,
    of_the_graph,
    with_unit,
)


# Tables of the registry's figures, published and ours, as texts.
class Line(NamedTuple):
    """One line of a table; ``-`` is an empty cell."""

    words: str
    published: str
    ours: str
    interval: str
    ratio: str
    n: str
    unit: str
    profile: str  # The profile of the run, or `figures.MEASURED` for a measurement outside the graph
    command: str
    where: str  # Data, hardware and date, as far as they are known
    player: str  # The player that was measured, in words, where params decide it; else empty
    made: str  # `graph`, `measured`, or empty for a figure without a value
    below: bool  # Whether the line is a further measurement of the figure above it


def lines(rows: dict[str, dict[str, Any]]) -> list[Line]:
    """Return a line for each figure and further measurement, but not for committed values equal to the checkout's."""
    found = []
    for row in rows.values():
        found.append(line(row))
        for other in row["others"]:
            if other["label"] != f"{row['label']}{COMMITTED}" or other["ours"] != row["ours"]:
                found.append(line(other, below=True))
    return found


def most_common_origins(table: list[Line]) -> dict[str, str]:
    """Return the most common ``where`` of each way of measuring, which the lines of the table then omit."""
    origins = {made: Counter(one.where for one in table if one.made == made and one.where) for made in MADE}
    return {made: counts.most_common(1)[0][0] for made, counts in origins.items() if counts}


def line(row: dict[str, Any], below: bool = False) -> Line:
    """Return the line of a measurement, ``below`` that of the figure or not."""
    graph = row["from"] == "graph"
    known = [row["data"], *([] if graph else [row["hardware"], row["date"]])]
    return Line(
        words=row["words"],
        published=number(row["published"], row["unit"], row["ours"]),
        ours="not made yet" if row["ours"] is None else number(row["ours"], row["unit"]),
        interval=interval(row),
        ratio="-" if row["ratio"] is None else f"{row['ratio']:.3g}",
        n=number(row["n"]),
        unit=row["unit"],
        profile=row["label"] or "-",
        command=row["command"] or "-",
        where=", ".join(str(part) for part in known if part) if row["ours"] is not None else "",
        player=row["player"] or "",
        made=row["from"] or "",
        below=below,
    )


# The verdict on each published system: the published value, that of a run, and the best measurement.
#
# A verdict is what an interval excludes. With its whole interval beyond the bar a figure beats it (where a claim can be
# beaten); it is reproduced if the interval excludes all that is worse than the bar by more than `Claim.margin`, and not
# reached if it excludes all that is not. Anything else is not decided, and says how large a sample would decide, were
# the value the same. What the graph made with other params never decides; where the claim names a profile, no other
# does.


Row = dict[str, Any]
MADE = ("graph", "measured")
NOT_REACHED, NOT_MEASURED, NOT_DECIDED = "not reached", "not measured", "not decided"
SIGNS = {"beaten": "▲", "reproduced": "✓", NOT_REACHED: "✗", NOT_DECIDED: "≈", NOT_MEASURED: "?"}
MOST_NEEDED = 100_000  # Largest sample that is worth naming


class Verdict(NamedTuple):
    """One line: a system, and the figure of it that decides."""

    system: str  # Key of `SYSTEMS`
    published: str
    figure: str
    run: str  # Value of the run, with interval and player; `-` without one
    best: str  # The best committed measurement, with interval, player and profile; `-` without one
    outcome: str  # One of `Claim.outcomes`, `NOT_REACHED`, `NOT_DECIDED` or `NOT_MEASURED`
    reason: str
    bar: str  # The value that decides: the published one, or that of the figure which takes its place
    ours: str  # The value that is judged, with its interval and n; `-` without one
    judged: str  # The column that `ours` is from
    command: str  # What makes the deciding measurement again; empty without one


def verdicts(found: Mapping[str, Mapping[str, Row]], profile: str | None = None) -> list[Verdict]:
    """Return the verdict on each system; without a run of the graph the committed run of ``profile`` is shown."""
    told = []
    for name, claim in ((name, system.claim) for name, system in SYSTEMS.items() if system.claim):
        rows = found[name]
        row = rows[claim.figure]
        run = made = of_the_graph(row, profile)
        if run is None and claim.run:
            run = of_the_graph(rows[claim.run], profile)
        measured = [one for one in (row, *row["others"]) if one["from"] == "measured" and one is not run]
        measured = [one for one in measured if claim.profile in ("", one["label"])]
        larger = [one for one in measured if one["label"] not in (LAPTOP, LAPTOP + COMMITTED)]
        best = next(iter(larger or measured), None)
        own = made if made and made["label"] != OTHER_PARAMS and not claim.profile else None
        deciding = best or own
        outcome, needed = _outcome(claim, rows, deciding) if deciding else (NOT_MEASURED, "")
        missed = outcome in (NOT_REACHED, NOT_DECIDED) and claim.missed
        bar = _bar(claim, rows, deciding or row)
        told.append(
            Verdict(
                name,
                claim.words,
                with_unit(row["words"], row["unit"]),
                _cell(claim, rows, run, own=True) if run else "-",
                _cell(claim, rows, best) if best else "-",
                outcome,
                "; ".join(filter(None, [missed or claim.reason, needed])),
                number(bar["ours"], row["unit"]) if bar else "-",
                _judged(deciding) if deciding else "-",
                "best measurement" if best else "this run",
                (deciding or row)["command"] or row["command"] or "",
            )
        )
    return told


def _judged(row: Row) -> str:
    parts = [number(row["ours"], row["unit"]), interval(row), f"n {number(row['n'])}" if row["n"] else "-"]
    return ", ".join(part for part in parts if part != "-")


def summary(told: Sequence[Verdict], agreed: Sequence[str]) -> str:
    """Return the verdicts in a sentence: how many systems have each, and how this run agrees with the committed one."""
    counts = Counter(one.outcome for one in told)
    sentence = ", ".join(f"{counts[outcome]} {outcome}" for outcome in SIGNS if counts[outcome])
    return f"{sentence}. This run: {agreed[0]}." if agreed else f"{sentence}. This run has made no figure yet."


def _outcome(claim: Claim, rows: Mapping[str, Row], row: Row) -> tuple[str, str]:
    """Return the outcome, and how large a sample would decide if none has."""
    bar = _bar(claim, rows, row)
    if bar is None:
        return NOT_MEASURED, ""
    sign = -1 if claim.less else 1
    low, high = sorted(sign * end for end in _ends(row))
    least, most = sorted(sign * end for end in _ends(bar))
    edge = most - claim.margin
    if low > most:
        return claim.outcomes[0], ""
    if low >= edge:
        return claim.outcomes[1], ""
    if high < least - claim.margin:
        return NOT_REACHED, ""
    return NOT_DECIDED, _needed(claim, row, sign * edge)


def _needed(claim: Claim, row: Row, edge: float) -> str:
    """Return in words the sample whose interval would leave out ``edge``, were value and spread the same.

    The interval is Student's of a few runs, on logarithms if `Claim.logs`, else one that shrinks like a normal one.
    """
    value, n, (low, high) = row["ours"], row["n"], _ends(row)
    if not n or low == high or (claim.logs and min(value, edge, low) <= 0):
        return ""
    scale = math.log if claim.logs else float
    gap = abs(scale(value) - scale(edge))
    half = scale(value) - scale(low) if value > edge else scale(high) - scale(value)
    if gap <= 0:
        return ""
    if claim.logs and n > 1:
        spread = half * math.sqrt(n) / student(n - 1)
        sample = next((m for m in range(n, 1000) if student(m - 1) * spread / math.sqrt(m) < gap), MOST_NEEDED + 1)
    else:
        sample = math.ceil(n * (half / gap) ** 2)
    if sample > MOST_NEEDED:
        return f"more than {MOST_NEEDED:,} {claim.sample} would decide"
    digits = max(0, len(str(sample)) - 2)
    return f"about {math.ceil(sample / 10**digits) * 10**digits:,} {claim.sample} would decide"


def _bar(claim: Claim, rows: Mapping[str, Row], row: Row) -> Row | None:
    """Return the value that a measurement is compared with: the published one, or a figure of the same run."""
    if not isinstance(claim.bar, str):
        return {"ours": claim.bar, "low": None, "high": None}
    return _of_label(rows[claim.bar], row["label"])


def _of_label(row: Row, label: str) -> Row | None:
    return next((one for one in (row, *row["others"]) if one["label"] == label and one["from"]), None)


def _ends(row: Row) -> tuple[float, float]:
    return (row["ours"], row["ours"]) if row["low"] is None else (row["low"], row["high"])


def _cell(claim: Claim, rows: Mapping[str, Row], row: Row, own: bool = False) -> str:
    """Return a value with its interval, the values next to it, its player and profile."""
    text = number(row["ours"], row["unit"])
    text = text if row["low"] is None else f"{text} ({interval(row)})"
    bar = _bar(claim, rows, row) if isinstance(claim.bar, str) else None
    parts = [row["words"] if row["words"] != rows[claim.figure]["words"] else "", row["player"]]
    parts.append(f"{claim.bar_words} {number(bar['ours'], bar['unit'])}" if bar else "")
    for words, name, label in claim.beside if row["words"] == rows[claim.figure]["words"] else ():
        if not (own and label) and (other := _of_label(rows[name], label or row["label"])):
            parts.append(f"{words} {number(other['ours'], other['unit'])}")
    parts.append(row["label"] if not own or row["label"] == OTHER_PARAMS else "")
    return "; ".join(filter(None, [text, *parts]))


# Pictures of the boards that the stage report_positions chose: sample games and positions, for the report's page.


PIECES: dict[GameName, str] = {"amazons": "Qq", "gomoku": "xo", "go": "xo"}
"""Letters of the pieces of the first and the second side."""
FILES: dict[GameName, str] = {"amazons": AMAZONS_FILES, "gomoku": GOMOKU_FILES, "go": GO_FILES}
SHADED, WRITTEN = 0.01, 0.02  # Least shares for a square to be shaded, and for its percentage to be written on it
DARK = 0.9  # Least opacity of heat for white text on it


@dataclass(frozen=True)
class Picture:
    """One board as SVG that is inserted into a page unchanged. The other fields are plain text, not escaped."""

    svg: str
    label: str
    win_rate: str  # Text such as `win rate of White 53 %`, or empty
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class BoardExample:
    """An example of the file with its pictures. All fields but their ``svg`` are plain text, not escaped."""

    system: str
    name: str
    title: str
    caption: str
    pictures: tuple[Picture, ...]
    moves: str  # A whole game as text with numbered turns; else empty


def examples(folder: Path = Path()) -> list[BoardExample]:
    """Return the examples of a project's folder, in its order. Raises ZugwerkError: no file, or another form."""
    path, made = folder / POSITIONS, []
    for example in read_examples(path):
        try:
            pictures = tuple(picture(example.game, panel) for panel in example.panels)
        except ZugwerkError as error:
            raise ZugwerkError(f"{path}: {example.name}: {error}; `dvc repro -f report_positions`") from None
        about = (example.system, example.name, example.title, example.caption)
        made.append(BoardExample(*about, pictures, numbered(example.moves)))
    return made


def numbered(moves: tuple[str, ...]) -> str:
    """Return the text ``1. d1-d7/g7 a7-b6/c5 2. ...``, with one number for a turn of each side."""
    return " ".join(move if i % 2 else f"{i // 2 + 1}. {move}" for i, move in enumerate(moves))


def picture(game: GameName, panel: Panel) -> Picture:
    """Return the picture of one board. Raises ZugwerkError: it has an unknown letter, or lacks a named square."""
    win_rate = "" if panel.value is None else f"win rate of {panel.to_play or 'the mover'} {100 * panel.value:.0f} %"
    kind = SquaresPicture if game == "amazons" else BoardPicture
    drawn = kind(len(panel.board), FILES[game], star_points(len(panel.board)) if game == "go" else ())
    _draw(drawn, game, panel)
    label = f"{panel.label}; {win_rate}" if win_rate else panel.label
    return Picture(drawn.inline(label), panel.label, win_rate, panel.candidates)


class _Points(dict[str, int]):
    """Points of a picture, row * size + column from the top, by the names of squares."""

    def __init__(self, game: GameName, size: int) -> None:
        names = square_names(game, size)
        if game == "amazons":  # whose square 0 is at the bottom
            names = [name for row in range(size, 0, -1) for name in names[(row - 1) * size : row * size]]
        super().__init__((name, place) for place, name in enumerate(names))

    def __missing__(self, name: str) -> int:
        raise ZugwerkError(f"no square {name!r} on this board")


def _draw(drawn: BoardPicture, game: GameName, panel: Panel) -> None:
    """Draw heat, pieces, marks and texts, in this order."""
    point = _Points(game, drawn.size)
    power = 1.0 if panel.texts else 0.5  # of probabilities the root, so that a few percent are still seen
    shade = {point[name]: share**power for name, share in panel.heat.items() if share >= SHADED}
    for place, opacity in shade.items():
        drawn.heat(place, opacity)
    percent = {name: f"{100 * share:.0f}" for name, share in panel.heat.items() if share >= WRITTEN}
    texts = {point[name]: text for name, text in (panel.texts or percent).items()}
    inks = {place: "#fff" if opacity > DARK else INK for place, opacity in shade.items()}
    for place, letter in enumerate("".join(panel.board)):
        if letter in PIECES[game]:
            drawn.piece(place, PIECES[game].index(letter), texts.pop(place, ""), inks.get(place, ""))
        elif letter == "*" and isinstance(drawn, SquaresPicture):
            drawn.arrow(place)
        elif letter not in LETTERS[game]:
            raise ZugwerkError(f"no piece {letter!r} in {game}")
    for name, side in panel.owned.items():
        drawn.owned(point[name], SIDES[game].index(side))
    for name in panel.last:
        (drawn.outline if name in panel.texts else drawn.ring)(point[name])
    for name in panel.played:
        drawn.outline(point[name])
    for place, text in texts.items():
        drawn.text(place, text, inks.get(place, INK))


TEMPLATES = Path(__file__).parent / "templates"


def write_report(target: Path, folder: Path = Path()) -> None:
    """Write index.html to ``target``, from the checkout ``folder``. Raises ZugwerkError: a damaged file."""
    with written_aside(target / "index.html") as aside:
        aside.write_text(html(figures(folder), folder), encoding="utf-8")


def main() -> None:
    """Stage report_page: write the page of this checkout; it has the commit and times, which differ by run."""
    write_report(Path("artifacts/reports"))


def html(found: Mapping[str, dict[str, dict[str, Any]]], folder: Path) -> str:
    """Return the page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters["drawn"] = Markup  # pictures and scripts are made here, with every text in them escaped
    tables, told = {name: lines(found[name]) for name in SYSTEMS}, verdicts(found)
    boards = examples(folder) if (folder / POSITIONS).exists() else []
    params = read_tree(folder / PARAMS_FILE)
    made = {
        "profile": params.get("profile"),
        "seed": params.get("seed"),
        "commit": commit(folder),
        "hardware": hardware(),
    }
    return environment.get_template("index.html").render(
        made=made,
        systems=SYSTEMS,
        tables=tables,
        verdicts=told,
        summary=summary(told, agreement(folder)),
        signs=SIGNS,
        common={name: most_common_origins(lines) for name, lines in tables.items()},
        charts={name: charts(name, folder) for name, system in SYSTEMS.items()},
        boards={name: [one for one in boards if one.system == system.word] for name, system in SYSTEMS.items()},
        svg=svg,
        interactive=interactive,
        bundle=bundle,
        largest=LARGEST,
    )

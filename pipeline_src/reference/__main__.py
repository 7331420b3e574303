"""Write the reference pages, the generated blocks of README.md and of the pages below docs, and their charts.

The templates of `dvc plots` are brought up to date too. A page with blocks has the lines ``<!-- made: NAME WORDS -->``
and ``<!-- made: end -->``; the lines between them are written, with all numbers that this project measured. The names
are the keys of `BLOCKS`.

Example: ``python -m pipeline_src.reference --check``
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import read_json, read_table, written_aside
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.project.graph import GRAPH, read_graph
from pipeline_src.project.params import at, sentence
from pipeline_src.project.profile import LAPTOP, merged_text
from pipeline_src.reference.pages import code, hub_card, metrics_page, nets_page, table, value_code
from pipeline_src.reference.stage_code import SECTIONS, json_schema
from pipeline_src.report.charts import SPECS, charts, svg
from pipeline_src.report.figures import (
    MEASURED,
    REGISTRY,
    SYSTEMS,
    committed_run,
    figures,
    interval,
    number,
    system_measurements,
    with_unit,
)
from pipeline_src.report.page import Line, lines, verdicts
from pipeline_src.systems.amazons_net.declaration import PRINTED
from pipeline_src.systems.growing_boards.declaration import STRENGTHS

FOLDER, IMAGES = Path("docs/reference"), Path("docs/images")
CARDS = Path("pipeline_src/nets")
DVC_PLOTS = Path(".dvc/plots")
"""Where DVC looks for the templates of `dvc plots`: copies of the package's, since links do not survive everywhere."""
PAGES: dict[str, Callable[[], str]] = {
    "params.schema.json": lambda: json.dumps(json_schema(), indent=1) + "\n",
    "profile.schema.json": lambda: json.dumps(json_schema(whole=False), indent=1) + "\n",
    "metrics.md": metrics_page,
    "nets.md": nets_page,
}
LOCAL = {"metrics.md"}  # Not in git
MEASURED_RUN = Path("docs/measured") / LAPTOP / "amazons/evaluate"  # Tables of the committed run by phase of the game


Found = dict[str, dict[str, dict[str, Any]]]
SIZES = (LAPTOP, "overnight")  # Sizes of the graph whose departures from the printed configuration are listed
BEST = ("figure", "published", "ours", "95 % CI", "n", "profile")
BLOCK = re.compile(
    r"^(<!-- made: (\w+)([^\n]*?) -->\n)(?:(?!<!-- made: ).)*?^(<!-- made: end -->)$", re.MULTILINE | re.DOTALL
)
MARK = re.compile(r"^<!-- *made:", re.MULTILINE)


def filled_pages(folder: Path = Path()) -> dict[Path, str]:
    """Return the pages with blocks, and their up-to-date texts.

    Raises:
        ZugwerkError: a block's name is unknown, a block has no end, or a metrics file is damaged.
    """
    pages = [folder / "README.md", *sorted((folder / "docs").rglob("*.md"))]
    texts = {path: path.read_text(encoding="utf-8") for path in pages if path.exists()}
    texts = {path: text for path, text in texts.items() if MARK.search(text)}
    if not texts:
        return {}
    found = figures(folder, run=False)
    return {path: _filled(path, text, found, folder) for path, text in texts.items()}


def _filled(page: Path, text: str, found: Found, folder: Path) -> str:
    def block(match: re.Match[str]) -> str:
        begin, name, words, end = match.groups()
        if name not in BLOCKS:
            raise ZugwerkError(f"{page}: no block '{name}'; there are: {', '.join(BLOCKS)}")
        return "\n".join([begin, *BLOCKS[name](found, folder, words.split()), "", end])

    if len(MARK.findall(text)) != 2 * len(BLOCK.findall(text)):
        raise ZugwerkError(
            f"{page}: a block is '<!-- made: NAME WORDS -->' and '<!-- made: end -->', each on its own line"
        )
    return BLOCK.sub(block, text)


def _summary(found: Found) -> list[str]:
    """Return a line for each published system."""
    rows = []
    for one in verdicts(found, LAPTOP):
        system = SYSTEMS[one.system]
        told = f"**{one.outcome}**: {one.reason}" + (f"; {code(one.command)}" if one.command else "")
        rows.append([f"[{system.title}]({system.page})", one.published, one.figure, one.run, one.best, told])
    return table(["system", "published", "figure that decides", LAPTOP, "best measurement", "verdict"], rows)


def _verdicts(found: Found) -> list[str]:
    """Return the same in a sentence each, for README.md."""
    rows = []
    for one in verdicts(found, LAPTOP):
        system, figure = SYSTEMS[one.system], one.figure[:1].upper() + one.figure[1:]
        made = f"; {code(one.command)}" if one.command else ""
        rows.append(f"- [{system.title}](docs/{system.page}): **{one.outcome}**. {figure}: {one.best}{made}")
    return rows


def _figures(found: Found, words: list[str]) -> list[str]:
    """Return the first measurement of each named figure of a system."""
    system, *names = words
    if system not in found or not names or not set(names) <= found[system].keys():
        raise ZugwerkError(f"'made: figures {' '.join(words)}': a system, then figures of it; `zugwerk report --json`")
    return table(BEST, [_best(found[system][name]) for name in names])


def _best(row: dict[str, Any]) -> list[str]:
    """Return the cells of `BEST`."""
    unit = row["unit"]
    cells = [
        number(row["published"], unit, row["ours"]),
        f"**{number(row['ours'], unit)}**",
        interval(row),
        number(row["n"]),
    ]
    words = with_unit(row["words"], unit)
    return [f"{words} ({row['player']})" if row["player"] else words, *cells, row["label"] or "-"]


def _graph(folder: Path) -> list[str]:
    """Return a diagram of the stages and those that read their outputs, without the last one, which reads them all."""
    graph, edges = read_graph(folder / GRAPH), list[str]()
    graph.popitem()
    for name, stage in graph.items():
        after = [other for other in graph if other != name and any(graph[other].reads(out) for out in stage.outs)]
        edges += [f"{name} --> {' & '.join(after)}"] if after else []
    return ["```mermaid", "flowchart LR", *edges, "```"]


def _departures(folder: Path) -> list[str]:
    """Return a row for each key of `PRINTED` that has another value at one of `SIZES`."""
    trees = [yaml12.parse(merged_text(name, folder), name) for name in SIZES]
    rows = []
    for key, printed in PRINTED.items():
        section, _, name = key.partition(".")
        cells = ["" if at(tree, key) == printed else value_code(at(tree, key)) for tree in trees]
        if any(cells):
            meaning = sentence(SECTIONS[section].model_fields[name].description)
            rows.append([code(key), value_code(printed), *cells, meaning])
    return table(["key", "as printed", *SIZES, "meaning"], rows)


def _phases(folder: Path) -> list[str]:
    """Return the share of whole turns that the committed run's models find, by phase, and before the last one."""
    shown = {"cross_entropy": "Amazons-Net", "residual": "residual net", "one_ply": "one-ply player"}
    lines, heads = [], list[str]()
    for name, words in shown.items():
        rows = read_table(folder / MEASURED_RUN / f"{name}.phases.csv", ("turns", "turn_top1"))
        cells = [(int(row["turns"]), float(row["turn_top1"])) for row in rows]
        heads = [f"plies {row['phase'].removesuffix('-')}{' on' * row['phase'].endswith('-')}" for row in rows]
        early = sum(n * share for n, share in cells[:-1]) / sum(n for n, _ in cells[:-1])
        lines.append([words, *(number(share, "fraction") for _, share in cells), number(early, "fraction")])
    return table(["whole turns found", *heads, f"before {heads[-1].split()[1]}"], lines)


def _results(found: Found, folder: Path) -> list[str]:
    """Return all figures and measurements of all systems."""
    text: list[str] = []
    for name, system in SYSTEMS.items():
        source = f" Published: {system.source}." if system.source else ""
        more = "How it works" if system.page.startswith("how-it-works/") else "More"
        text += [f"## {system.title}", "", f"{system.summary}{source} [{more}]({system.page}).", ""]
        shown = {key: row for key, row in found[name].items() if row["ours"] is not None or not _timed(name, key)}
        text += [*_measurements(shown), ""]
        for title, rows in _tables(name, folder):
            text += [f"### {title}", "", *rows, ""] if rows else []
    return text[:-1]


def _measurements(rows: dict[str, dict[str, Any]]) -> list[str]:
    """Return a system's table, a row a figure and a column a profile, below the list of its sources."""
    shown: list[list[Line]] = []
    for one in lines(rows):
        shown = [*shown[:-1], [*shown[-1], one]] if one.below else [*shown, [one]]
    columns: dict[str, list[Line]] = {}
    for one in (one for group in shown for one in group if one.made):
        columns.setdefault(one.profile, []).append(one)
    columns = dict(sorted(columns.items(), key=lambda column: (column[0] != LAPTOP, column[0] == MEASURED)))
    once = {name: _once(column) for name, column in columns.items()}
    sources = {
        name: [where for where, _ in Counter(_source(one, once[name]) for one in column).most_common()]
        for name, column in columns.items()
    }
    players = {name: _player(column) for name, column in columns.items()}
    usual = {name: _usual(column) for name, column in columns.items()}
    cells = []
    for group in shown:
        measured = {name: [one for one in group if one.profile == name and one.made] for name in columns}
        texts = (
            "; ".join(
                _cell(one, sources[name].index(_source(one, once[name])), players[name], usual[name])
                for one in measured[name]
            )
            for name in columns
        )
        stages = dict.fromkeys(filter(None, map(_stage, group)))
        words = with_unit(group[0].words, group[0].unit)
        cells.append([words, group[0].published, *texts, ", ".join(map(code, stages))])
    heads = ["figure", "published", *map(_head, columns), "stage"]
    kept = [i for i in range(len(heads)) if any(row[i] not in ("", "-") for row in cells)]
    above = [
        f"- *{_head(name)}*: {_numbered(sources[name])}{once[name] and f', {code(once[name])}'}"
        f"{players[name] and f'; {players[name]}'}{usual[name] and f'; n {usual[name]} where an interval has none'}"
        f"{f', {code(_run(columns[name]))}' if ',' in name else ''}."
        for name in columns
    ]
    return [
        *above,
        *([""] if above else []),
        *table([heads[i] for i in kept], [[row[i] for i in kept] for row in cells]),
    ]


def _stage(one: Line) -> str:
    """Return the stage that makes a figure again; empty for another command."""
    begin = f"zugwerk profile {one.profile.partition(',')[0]} && dvc "
    return one.command.rpartition(" ")[2] if one.command.startswith(begin) else ""


def _run(column: list[Line]) -> str:
    """Return the command of a run, without the stage."""
    return next((one.command.rpartition(" ")[0] for one in column if _stage(one)), "")


def _head(label: str) -> str:
    """Return a run's label with the last parts of its own values' keys: ``as_printed, games=5000``."""
    profile, *changes = label.split(",")
    values = (change.partition("=") for change in changes)
    return ", ".join([profile, *(f"{key.rpartition('.')[2]}{sign}{value}" for key, sign, value in values)])


def _once(column: list[Line]) -> str:
    """Return the command of all figures of a column, if it is one that is no stage's."""
    commands = {one.command for one in column}
    return column[0].command if len(commands) == 1 and not _stage(column[0]) and column[0].command != "-" else ""


def _source(one: Line, once: str) -> str:
    return one.where if once or _stage(one) or one.command == "-" else f"{one.where}, {code(one.command)}"


def _numbered(sources: list[str]) -> str:
    """Return the sources, of which the first one has no number."""
    return "; ".join([sources[0], *(f"[{i}] {one}" for i, one in enumerate(sources[1:], 1))])


def _player(column: list[Line]) -> str:
    """Return the player of a column, if all others are parts of its words."""
    names = sorted({one.player for one in column}, key=len)
    return names[-1] if all(name in names[-1] for name in names) else ""


def _usual(column: list[Line]) -> str:
    """Return the n of at least half of a column's intervals, of which there are several and all have one."""
    known = [one.n for one in column if one.interval != "-"]
    (n, times), *_ = Counter(known).most_common(1) or [("", 0)]
    return n if "-" not in known and times > 2 and 2 * times >= len(known) else ""


def _cell(one: Line, source: int, player: str, usual: str) -> str:
    """Return a measurement, with its n, its player and its source's number where they are not the column's."""
    parts = [one.ours if one.interval == "-" else f"{one.ours} ({one.interval})"]
    parts += [f"n {one.n}"] if one.n != "-" and (one.interval == "-" or one.n != usual) else []
    parts += [one.player] if one.player and not player else []
    return ", ".join(parts) + (f" [{source}]" if source else "")


def _timed(system: str, name: str) -> bool:
    """Return whether a figure is a time of the graph's own run, which is not in git."""
    figure = REGISTRY[system][name]
    return bool(figure.timing or figure.times)


def _tables(system: str, folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Return further tables of a system's measurements, each with its title."""
    measured = system_measurements(folder, system)
    title = SYSTEMS[system].title
    if "matches" in measured:
        yield f"{title}: matches", match_table(system, folder)
    for key, (words, rows) in TABLES.items():
        if key in measured:
            yield f"{title}: {words}", rows(measured)


def _estimate(found: dict[str, Any], form: str = ".3f") -> str:
    if found.get("low") is None:
        return format(found["value"], form)
    return f"{found['value']:{form}} ({found['low']:{form}} to {found['high']:{form}})"


def _growth(measured: dict[str, Any]) -> list[str]:
    head = ["boards", "compute to the final strength of training from scratch", "score at the end, equal compute", "n"]
    rows = []
    for boards, run in measured.get("runs", {}).items():
        compute, score = run["time_to_scratch_strength"], run["score_grown_vs_scratch"]
        rows.append([boards.replace("-", ", "), _estimate(compute, ".2f"), _estimate(score), number(score["n"])])
    return table(head, rows)


def _lines(measured: dict[str, Any]) -> list[str]:
    counts = ["seeds a side", "games a generation", "processor"]
    head = ["boards", "opponent", "core seconds, grown", "from scratch", "share", "of multiply-adds", *counts]
    rows = [
        [
            boards.replace("-", ", "),
            STRENGTHS[name],
            *(_bounded(row[side]) if side in row else "-" for side in ("grown", "scratch")),
            *(_estimate(row[key], ".2f") if key in row else "-" for key in ("share", "share_of_multiply_adds")),
            number(row["scratch"]["n"]),
            number(row["games"]),
            row["hardware"].rpartition(" of ")[2],
        ]
        for boards, run in sorted(
            measured["lines"].items(), key=lambda item: [int(size) for size in item[0].split("-")]
        )
        for name, row in run.items()
    ]
    return table(head, rows)


def _bounded(found: dict[str, Any]) -> str:
    """Return seconds, and in how many runs they are a bound."""
    bounds = [f"{words} in {found[key]}" for key, words in (("early", "at most"), ("short", "more")) if found[key]]
    return "; ".join([_estimate(found, ".0f"), *bounds])


def _law(measured: dict[str, Any]) -> list[str]:
    head = ["opponent", "learnt", "core seconds, a line and a column more", "multiply-adds", "boards", "runs"]
    rows = [
        [
            STRENGTHS[name],
            "from scratch" if side == "scratch" else "grown over two boards",
            _estimate(one, ".2f"),
            _estimate(one["of_multiply_adds"], ".2f"),
            ", ".join(map(str, one["boards"])),
            number(one["n"]),
        ]
        for name, sides in measured["law"].items()
        for side, one in sides.items()
    ]
    return table(head, rows)


def _recommender(measured: dict[str, Any]) -> list[str]:
    words = {
        "hit_rate": "hit rate",
        "recommend_top1": "top-1 accuracy",
        "recommend_top3": "top-3 accuracy",
        "baseline_top1": "baseline: top-1 accuracy",
        "baseline_top3": "baseline: top-3 accuracy",
        "either_top3": "top-3 accuracy, the baseline where the pattern is unknown",
    }
    sets = [measured.get(name, {}) for name in ("pruned", "unpruned")]
    rows = [
        [text, *(_estimate(one[key]) for one in sets)] for key, text in words.items() if all(key in s for s in sets)
    ]
    return table(["", "moves of two games or more", "all moves"], rows) if rows else []


def _lookups(measured: dict[str, Any]) -> list[str]:
    found = measured.get("lookups", {})
    words = {
        "found": "recorded moves found, the exact key",
        "found_by_paper": "recorded moves found, the paper's method",
        "strangers_by_paper": "moves returned by the paper's method that were never played in the pattern",
    }
    rows = [[text, _estimate(found[key]), number(found[key]["n"])] for key, text in words.items() if key in found]
    return table(["figure", "ours (95 % CI)", "n"], rows) if rows else []


def _scaling(measured: dict[str, Any]) -> list[str]:
    head = ["games", "encodings", "patterns", "transitions", "seconds", "ms a game"]
    rows = [
        [*(number(row[key]) for key in head[:4]), f"{row['seconds']:.2g}", f"{row['ms_per_game']:.2f}"]
        for row in measured.get("scaling", [])
    ]
    return table(head, rows) if rows else []


def _reliability(measured: dict[str, Any]) -> list[str]:
    rows = []
    if "damaged_inputs" in measured:
        one, defects = measured["damaged_inputs"], measured["damaged_inputs_defects"]
        rows.append(["inputs of a stage missing, empty, cut or with one bit turned", number(one["n"]), one["command"]])
        rows.append(["of these: tracebacks or wrong results", number(defects["value"]), defects["command"]])
    memory = measured.get("memory", {})
    for key, words in (("self_play", "self-play"), ("matches", "matches")):
        if key in memory:
            growth = memory[key]["bytes_a_game"]
            text = f"bytes of memory a game more, over {growth['n']:,} games of {words}"
            rows.append([text, _estimate(growth, ".0f"), memory["command"]])
    return table(["measurement", "value", "measured by"], [[a, b, f"`{c}`"] for a, b, c in rows]) if rows else []


def match_table(system: str, folder: Path = Path()) -> list[str]:
    """Return a row for each match of docs/measured/<system>.json; empty if it has none.

    Raises:
        ZugwerkError: the file is damaged.
    """
    matches = system_measurements(folder, system).get("matches", {})
    words = SYSTEMS[system].matches
    names = [*(name for name in words if name in matches), *(name for name in matches if name not in words)]
    if not names:
        return []
    nodes = "nodes_a_game" in matches[names[0]]
    head = ["match", "games", "W/D/L", "score", "95 % CI", "Elo (95 % CI)"]
    if nodes:
        head = ["match", "games", "score", "95 % CI", "mean margin", "losses on time", "nodes a game, millions"]
        head.append("labelled positions")
    lines = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    for name in names:
        found = matches[name]
        score = found["score"]
        ends = f"{score['low']:.3f} to {score['high']:.3f}"
        cells = [words.get(name, name.replace("_", " ")), number(score["n"])]
        if nodes:
            million = " / ".join(f"{one / 1e6:.2f}" for one in found["nodes_a_game"])
            lost = " / ".join(map(str, found["time_outs"]))
            cells += [f"{score['value']:.3f}", ends, f"{found['margin']['value']:+.2f}", lost, million]
            cells.append(number(found["positions"]))
        else:
            counts = "/".join(str(found[key]) for key in ("wins", "draws", "losses"))
            cells += [counts, f"{score['value']:.3f}", ends, _elo(found)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _elo(match: dict[str, Any]) -> str:
    """Return the Elo difference with its interval, or one end of it if one side won all games."""
    low, high = match["elo_low"], match["elo_high"]
    if match["elo"] is not None:
        return f"{match['elo']:+.0f} ({low:+.0f} to {high:+.0f})"
    if low is not None:
        return f"above {low:+.0f}"
    return "-" if high is None else f"below {high:+.0f}"


def _curve(measured: dict[str, Any]) -> list[str]:
    nets = {"cnn": "published net", "ours": "our net"}
    points: dict[str, dict[str, Any]] = {}
    for name, point in measured["curve"].items():
        net, _, opponent = name.partition("_")
        points.setdefault(opponent, {})[net] = point
    rows = []
    for opponent, found in sorted(points.items(), key=lambda one: _spent(one[1])):
        kind, percent = (opponent[:5], opponent[5:])
        words = f"always {percent} plies" if kind == "depth" else f"table for {percent} % of the clock"
        cells, positions = [], "-"
        for net in nets:
            point = found[net]
            if "score" in point:
                used = " and ".join(f"{100 * share:.0f} %" for share in point["clock_used"])
                positions = number(point["positions"])
                cells += [
                    f"{_estimate(point['score'])}, n {number(point['score']['n'])}",
                    f"{point['margin']['value']:+.2f}",
                    used,
                ]
            else:
                cells += [code(point["command"]), "-", "-"]
        rows.append([words, *cells, positions])
    head = [
        f"{words}: {column}"
        for words in nets.values()
        for column in ("score", "margin", "clock spent, its and the opponent's")
    ]
    return table(["opponent", *head, "labelled positions"], rows)


def _spent(point: dict[str, Any]) -> float:
    """Return the share of its clock that an opponent of the curve spends; those not measured come last."""
    return max((one["clock_used"][1] for one in point.values() if "score" in one), default=1.0)


def _peers(folder: Path) -> list[str]:
    """Return a row for each match of docs/measured/peers.json."""
    rows = []
    for one in system_measurements(folder, "peers").values():
        standing = ", ".join(str(one[key]) for key in ("wins", "draws", "losses"))
        ours, theirs = (one["sides"][side]["mean_ms"] for side in ("a", "b"))
        rows.append(
            [code(one["a"]), one["board"], one["b"], standing, _estimate(one["score"]), f"{ours:.3g}, {theirs:.3g}"]
        )
    head = ["ours", "board", "theirs", "won, drawn, lost", "score (95 % CI)", "CPU ms a move: ours, theirs"]
    return table(head, rows)


def _speed(folder: Path) -> list[str]:
    """Return a sentence about self-play with the line net, from the file of `make bench`; none without it."""
    path = folder / "bench/results.json"
    rows = [one for one in (read_json(path) if path.exists() else []) if one["name"] == "gomoku_lines_sims_per_s"]
    return [
        f"On 15x15 a core makes {number(round(one['ours'], -3))} {one['unit']} of self-play, {one['ratio']:.0f} times "
        f"as many as with {one['reference_name']} (`make bench`)."
        for one in rows
    ]


TABLES: dict[str, tuple[str, Callable[[dict[str, Any]], list[str]]]] = {
    "time_to_scratch_strength": ("grown against from scratch, eight seeds", _growth),
    "lines": ("the line net, time to half the points", _lines),
    "law": ("the line net, time by the side of the board", _law),
    "curve": ("score by the share of its clock that the opponent spends", _curve),
    "pruned": ("the recommender on held-out games", _recommender),
    "lookups": ("look-ups of the real games' moves", _lookups),
    "scaling": ("time to build", _scaling),
    "damaged_inputs": ("damaged inputs and memory", _reliability),
}
"""Titles and rows by the key of a file of measurements that a table is made of."""
BLOCKS: dict[str, Callable[[Found, Path, list[str]], list[str]]] = {
    "summary": lambda found, _folder, _words: _summary(found),
    "verdicts": lambda found, _folder, _words: _verdicts(found),
    "figures": lambda found, _folder, words: _figures(found, words),
    "matches": lambda _found, folder, words: match_table(words[0], folder),
    "graph": lambda _found, folder, _words: _graph(folder),
    "phases": lambda _found, folder, _words: _phases(folder),
    "departures": lambda _found, folder, _words: _departures(folder),
    "peers": lambda _found, folder, _words: _peers(folder),
    "speed": lambda _found, folder, _words: _speed(folder),
    "results": lambda found, folder, _words: _results(found, folder),
    "tables": lambda _found, folder, words: [line for _, rows in _tables(words[0], folder) for line in rows],
}


def pictures(folder: Path = Path()) -> dict[Path, str]:
    """Return the charts of the pages on how the systems work by path, without those whose files are missing.

    Raises:
        ZugwerkError: a file with the data of a chart is damaged.
    """
    with committed_run(folder) as run:
        return {
            folder / IMAGES / f"{chart.name}.svg": svg(chart) + "\n"
            for name, system in SYSTEMS.items()
            for chart in charts(name, run)
            if chart.name in system.pictures
        }


def outdated(folder: Path = Path(), local: bool = False) -> dict[Path, str]:
    """Return the pages below ``folder`` that are out of date, with their new texts; on request the `LOCAL` ones too."""
    wanted = {folder / FOLDER / name: page() for name, page in PAGES.items() if local or name not in LOCAL}
    wanted |= filled_pages(folder) | pictures(folder)
    if (folder / CARDS).is_dir():  # a checkout of `zugwerk new` has none
        wanted |= {folder / CARDS / f"{net.card.name}.md": hub_card(net.card) for net in packaged_nets()}
    wanted |= {folder / DVC_PLOTS / path.name: path.read_text(encoding="utf-8") for path in SPECS.glob("*.json")}
    return {
        path: text for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m pipeline_src.reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a page in git is out of date")
    found = outdated() if parser.parse_args().check else {}
    if found:
        raise ZugwerkError(f"out of date: {', '.join(map(str, found))}; `make docs` writes them")
    for path, text in outdated(local=True).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(path) as aside:
            aside.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    run_main(main)

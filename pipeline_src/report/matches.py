"""Tables of the committed matches below docs/measured, as lines of Markdown."""

from pathlib import Path
from typing import Any

from pipeline_src.report.measurements import system_measurements
from pipeline_src.report.registry import SYSTEMS
from pipeline_src.report.table import number


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

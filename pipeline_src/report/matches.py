"""Tables of the committed matches below docs/measured, as lines of Markdown."""

from pathlib import Path
from typing import Any

from pipeline_src.report.measurements import system_measurements
from pipeline_src.report.table import number

WORDS = {
    "amazons_engine": {
        "openspiel_100ms": "alpha-beta against OpenSpiel's C++ MCTS (590 simulations a sub-move), 100 ms a move",
        "one_ply": "alpha-beta, 100,000 nodes a move, against the one-ply player",
        "fast": "alpha-beta against UCT, 10 ms a move",
        "uct_300ms": "UCT against alpha-beta, 300 ms a move",
        "doubling_100_50": "alpha-beta with 100 ms a move against 50 ms",
        "doubling_200_100": "alpha-beta with 200 ms a move against 100 ms",
        "doubling_400_200": "alpha-beta with 400 ms a move against 200 ms",
        "previous": "alpha-beta against itself at revision 5b54a18, 300 ms a move",
        "previous_8": "the same on 8x8",
        "learned": "alpha-beta with the learned evaluation against the weights by hand, 100 ms a move",
    },
    "amazons_net": {
        "puct_100": "PUCT with the packaged residual net, 100 ms a move, against alpha-beta with 100 ms",
        "puct_400": "the same with 400 ms against 100 ms",
        "puct_1600": "the same with 1.6 s against 100 ms",
    },
    "gomoku_engine": {
        "score_vs_previous_15": "`engine` against `alphabeta`, 300 ms a move, 15x15",
        "score_vs_previous_20": "`engine` against `alphabeta`, 300 ms a move, 20x20",
        "fifth_of_the_time": "`engine`, 60 ms a move, against `alphabeta`, 300 ms a move, 15x15",
        "score_solver_in_zero": "`zero` with the solver against `zero` without, 60 ms a move, 9x9",
    },
    "search_depth": {
        "ours_table": "our net against a fixed table of equal compute",
        "ours_deepening": "our net against iterative deepening on the same clock",
        "lean_depth4": "our net with a smaller share of its clock against always four plies",
        "cnn_table": "published net against a fixed table of equal compute",
        "cnn_deepening": "published net against iterative deepening on the same clock",
        "middle_small": "a table against one of half the compute",
        "large_middle": "the same, with twice the compute on both sides",
        "hand_ours_halves": "our net against a table by hand, 2000/1000/500/250 turns",
        "hand_ours_steps": "our net against a table by hand, 1200/900/600/300 turns",
        "hand_ours_thirds": "our net against a table by hand, 1500/500/170/60 turns",
        "hand_cnn_halves": "published net against a table by hand, 1000/500/250/125 turns",
        "hand_cnn_steps": "published net against a table by hand, 600/450/300/150 turns",
        "hand_cnn_thirds": "published net against a table by hand, 750/250/85/30 turns",
    },
}
"""Descriptions of matches by their keys in the files. A match without one is shown by its key."""


def match_table(system: str, folder: Path = Path()) -> list[str]:
    """Return a row for each match of docs/measured/<system>.json; empty if it has none.

    Raises:
        ZugwerkError: the file is damaged.
    """
    matches = system_measurements(folder, system).get("matches", {})
    words = WORDS.get(system, {})
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

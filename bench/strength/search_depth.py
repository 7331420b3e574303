"""Play the matches behind docs/measured/search_depth.json, or the rest of them.

Players, clock and models are those of params.yaml and of the last ``dvc repro``. Killed at any moment, the same command
continues with the missing games; the journal is under work/strength/search_depth/, in a folder named by a
digest of the models. Example: ``python -m bench.strength.search_depth --only cnn_table --games 200``
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from bench.measured import about, chosen, count, known, match_options
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.score import pair_score
from pipeline_src.errors import run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.report.figures import processor
from pipeline_src.search.amazons.evaluation import AmazonsEngine
from pipeline_src.systems.search_depth.match import DepthMatch, Meeting, TunedTable, play_meetings, tune_table
from pipeline_src.systems.search_depth.params import TABLE, DepthGame, DepthMatchParams, DepthSplitParams
from pipeline_src.systems.search_depth.positions import open_positions, split_by_game

OUT = Path("docs/measured/search_depth.json")
WORK = Path("work/strength/search_depth")
POSITIONS, MODELS = Path("artifacts/samples/depth"), Path("artifacts/models/depth")
COMMAND = "make measure-search_depth"
HEADLINE, PUBLISHED = "ours", "cnn"
"""Players of `depth_match.players` whose scores are the figures: the best net and the published net."""
PILOT_PAIRS = 50  # Pairs of games in which the computing of a candidate table is measured
TABLES = {"small": "312/133/67/40", "middle": "874/351/177/92", "large": "2082/803/430/218"}
"""Tables that are not fitted, each with about twice the computing of the one before."""
HAND_TABLES = {
    "cnn_halves": "1000/500/250/125",
    "cnn_steps": "600/450/300/150",
    "cnn_thirds": "750/250/85/30",
    "ours_halves": "2000/1000/500/250",
    "ours_steps": "1200/900/600/300",
    "ours_thirds": "1500/500/170/60",
}
"""Hand-written tables in round numbers that fall by halves, by equal steps or by thirds. They were written before any
game; those against `ours` start at about twice the turns, since `ours` spends twice the nodes."""
PLAYERS = {
    "lean": "depth=cnn,model={ours},shares=0.22",
    "copied": "depth=cnn,model={oversample}",
    "unbalanced": "depth=cnn,model={none}",
}
"""Players that are not in params.yaml: `ours` with a share of its clock equal to the computing of four plies, and the
published net from other training rows."""

MATCHES: dict[str, tuple[str, str, int]] = {
    "ours_table": ("ours", TABLE, 2000),
    "ours_deepening": ("ours", "deepening", 1000),
    "cnn_table": ("cnn", TABLE, 1000),
    "ours_thrifty": ("ours", "thrifty", 1000),
    "cnn_deepening": ("cnn", "deepening", 400),
    "cnn_depth3": ("cnn", "depth3", 200),
    "cnn_depth4": ("cnn", "depth4", 200),
    "depth4_deepening": ("depth4", "deepening", 200),
    "thrifty_deepening": ("thrifty", "deepening", 400),
    "middle_small": ("middle", "small", 400),
    "large_middle": ("large", "middle", 400),
    "lean_depth4": ("lean", "depth4", 1000),
    **{f"hand_{table}": (table.split("_")[0], table, 400) for table in HAND_TABLES},
    "cnn_copied": ("cnn", "copied", 400),
    "cnn_unbalanced": ("cnn", "unbalanced", 400),
}
"""Player A, whose score is reported, player B and games by name. The position in this table is part of the seed, so new
matches go to the end."""


def main() -> None:
    """Play and write; matches that are not played this time stay."""
    options = match_options(__doc__, workers=2).parse_args()
    setting = Setting(Parallel(workers=options.workers))
    found: dict[str, DepthMatch] = {}
    with setting.journal:
        for number, (name, (a, b, games)) in enumerate(MATCHES.items()):
            if name in chosen(options.only, MATCHES):
                pairs = -(-min(games, options.games or games) // 2)
                found[name] = setting.play(a, b, pairs, [1, number])
                print(f"{name}: {_line(found[name])}", flush=True)
                setting.note(name, pairs)
            elif (pairs := setting.noted(name)) > 0:
                found[name] = setting.play(a, b, pairs, [1, number])
    made, before = figures(found, setting), known(OUT)
    for tables in ("matches", "tables"):
        made[tables] = before.get(tables, {}) | made[tables]
    write_json(OUT, before | made)


class Setting:
    """Params, positions, models and the journal, which all matches share."""

    def __init__(self, parallel: Parallel) -> None:
        """Read params, positions and models.

        Raises:
            ZugwerkError: they are missing or damaged.
        """
        self.parallel, self.game = parallel, load(DepthGame, "depth_game")
        self.seed, split = load_value(int, "seed"), load(DepthSplitParams, "depth_split")
        positions = open_positions(POSITIONS)
        train = split_by_game(positions, split.shares, self.seed).train
        self.legal, self.nodes = positions.expandable[train], positions.nodes_by_depth[train]
        self.positions = len(positions)
        self.paths = {path.parent.name: path for path in sorted(MODELS.glob("*/model.pt"))}
        tables = {
            name: f"depth=table,lowest={self.game.lowest},table={table}"
            for name, table in (TABLES | HAND_TABLES).items()
        }
        self.texts = PLAYERS | tables | load(DepthMatchParams, "depth_match").players
        key = [
            self.game.model_dump(),
            load(AmazonsEngine, "amazons_engine").model_dump(),
            read_json(POSITIONS / "manifest.json")["sha256"],
            {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in self.paths.items()},
        ]
        self.folder = WORK / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
        self.journal = Journal(self.folder / "journal.jsonl", {})
        self.tables: dict[str, TunedTable] = {}

    def player(self, name: str) -> str:
        """Return the text of a player by its name."""
        return self.game.player(self.texts[name].format_map(self.paths))

    def note(self, name: str, pairs: int) -> None:
        """Keep the number of finished pairs of a match."""
        write_json(self.folder / "pairs" / f"{name}.json", max(pairs, self.noted(name)))

    def noted(self, name: str) -> int:
        """Return the number of finished pairs of a match; 0 if it has not been played."""
        path = self.folder / "pairs" / f"{name}.json"
        return int(read_json(path)) if path.exists() else 0

    def play(self, a: str, b: str, pairs: int, seed: list[int]) -> DepthMatch:
        """Play a match, or the rest of it; a table that is to be fitted is fitted to ``a`` first."""
        if b == TABLE and a not in self.tables:
            self.tables[a] = tune_table(
                self.player(a),
                self.legal,
                self.nodes,
                self.game,
                PILOT_PAIRS,
                [0],
                self.parallel,
                self.journal,
            )
        other = self.game.player(self.tables[a].options) if b == TABLE else self.player(b)
        (match,) = play_meetings([Meeting(self.player(a), other, pairs, seed)], self.game, self.parallel, self.journal)
        return match


def _line(match: DepthMatch) -> str:
    score, margin = match.score, match.margin
    return (
        f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f}) of {score.n} games, margin {margin.value:.2f}, "
        f"time-outs {match.forfeits(0)['time']} and {match.forfeits(1)['time']}, "
        f"nodes a game {match.nodes(0):,.0f} and {match.nodes(1):,.0f}"
    )


def figures(found: dict[str, DepthMatch], setting: Setting) -> dict[str, Any]:
    """Return the registry's figures, every match under ``matches`` and the fitted tables under ``tables``."""
    made: dict[str, Any] = {}
    table, deepening = found.get(f"{HEADLINE}_table"), found.get(f"{HEADLINE}_deepening")
    if table is not None:
        # No game is drawn, so every game that is not lost is won.
        made["unbeaten_vs_fixed"] = made["wins_vs_fixed"] = table.score.as_metrics()
        made["mean_margin"] = table.margin.as_metrics()
        made["time_outs"] = count(table.forfeits(0)["time"], table.score.n)
    if deepening is not None:
        made["score_vs_iterative_deepening"] = deepening.score.as_metrics()
    for figure, name in (("unbeaten_vs_fixed", TABLE), ("score_vs_iterative_deepening", "deepening")):
        if (match := found.get(f"{PUBLISHED}_{name}")) is not None:
            made[f"{PUBLISHED}_{figure}"] = match.score.as_metrics()
    for figure, player in (("unbeaten_vs_hand_table", HEADLINE), ("cnn_unbeaten_vs_hand_table", PUBLISHED)):
        if points := [
            pair for name, match in found.items() if name.startswith(f"hand_{player}_") for pair in match.points
        ]:
            made[figure] = pair_score(points).as_metrics()
    data = f"{setting.positions} positions of the engine's own games"
    origin = about(COMMAND, data, f"{processor()}; the clock is one of nodes, so no figure depends on it")
    return {name: row | origin for name, row in made.items()} | {
        "matches": {name: _as_json(match) for name, match in found.items()},
        "tables": {
            name: {"options": tuned.options, "wanted": tuned.wanted, "spent": tuned.spent}
            for name, tuned in setting.tables.items()
        },
    }


def _as_json(match: DepthMatch) -> dict[str, Any]:
    return {
        "a": match.a,
        "b": match.b,
        "score": match.score.as_metrics(),
        "margin": match.margin.as_metrics(),
        "time_outs": [match.forfeits(0)["time"], match.forfeits(1)["time"]],
        "nodes_a_game": [match.nodes(0), match.nodes(1)],
        "choosing": [match.choosing(0), match.choosing(1)],
        "mean_depth": [match.mean_depth(0), match.mean_depth(1)],
    }


if __name__ == "__main__":
    run_main(main)

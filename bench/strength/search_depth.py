"""Play the matches behind docs/measured/search_depth.json, or what is left of them; what is not played stays in it.

The players, the clock and the models are those of params.yaml and of the last ``dvc repro``. Killed at any moment, the
same command goes on with the groups of games that are missing; the journal lies under work/strength/search_depth/, in a
folder of these very models. Example: ``python -m bench.strength.search_depth --only cnn_table --games 200``
"""

import argparse
import datetime
import hashlib
import json
from pathlib import Path
from typing import Any

from pipeline_src.arena.journal import Journal
from pipeline_src.arena.score import pair_score
from pipeline_src.errors import run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.report.provenance import processor
from pipeline_src.search.amazons.params import AmazonsEngine
from pipeline_src.systems.search_depth.evaluation_params import TABLE, DepthMatchParams
from pipeline_src.systems.search_depth.match import DepthMatch, play_match
from pipeline_src.systems.search_depth.params import DepthGame, DepthSplitParams
from pipeline_src.systems.search_depth.positions import open_positions, split_by_game
from pipeline_src.systems.search_depth.tuning import TunedTable, tune_table

OUT = Path("docs/measured/search_depth.json")
WORK = Path("work/strength/search_depth")
POSITIONS, MODELS = Path("artifacts/samples/depth"), Path("artifacts/models/depth")
COMMAND = "make measure-search_depth"
HEADLINE, PUBLISHED = "ours", "cnn"
"""Players of `depth_match.players` whose scores are the figures: the best net, and the paper's."""
PILOT_PAIRS = 50
"""In which the computing of a table is measured each time one is tried."""
GROUP = 10

TABLES = {"small": "312/133/67/40", "middle": "874/351/177/92", "large": "2082/803/430/218"}
"""Tables besides those that are fitted, each of about twice the computing of the one before."""
HAND_TABLES = {
    "cnn_halves": "1000/500/250/125",
    "cnn_steps": "600/450/300/150",
    "cnn_thirds": "750/250/85/30",
    "ours_halves": "2000/1000/500/250",
    "ours_steps": "1200/900/600/300",
    "ours_thirds": "1500/500/170/60",
}
"""Tables as a hand would write them, in round numbers that fall by halves, by equal steps or by thirds. They were
written before any game; those against `ours` begin at about twice the turns, since it spends twice the nodes."""
PLAYERS = {"lean": "depth=cnn,model={ours},shares=0.22"}
"""Players besides those of params.yaml: `ours` with a share of its clock that comes to the computing of four plies."""

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
}
"""By name: whose score is told and its opponent, by their names in params.yaml or above; games. New ones come last."""


def main() -> None:
    """Play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="play only matches whose names begin so")
    parser.add_argument("--workers", type=int, default=2, help="games side by side; a core each")
    parser.add_argument("--games", type=int, help="at most so many of each match")
    options = parser.parse_args()
    setting = Setting(Parallel(workers=options.workers))
    found: dict[str, DepthMatch] = {}
    with setting.journal:
        for number, (name, (a, b, games)) in enumerate(MATCHES.items()):
            if name.startswith(options.only):
                pairs = -(-min(games, options.games or games) // 2)
                found[name] = setting.play(a, b, pairs, [1, number])
                print(f"{name}: {_line(found[name])}", flush=True)
                setting.note(name, pairs)
            elif (pairs := setting.noted(name)) > 0:
                found[name] = setting.play(a, b, pairs, [1, number])
    made, known = figures(found, setting), read_json(OUT) if OUT.exists() else {}
    for tables in ("matches", "tables"):
        made[tables] = known.get(tables, {}) | made[tables]
    write_json(OUT, known | made)


class Setting:
    """What all matches share."""

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
        """Text of a player by its name."""
        return self.game.player(self.texts[name].format_map(self.paths))

    def note(self, name: str, pairs: int) -> None:
        """Remember how many pairs of a match are there."""
        write_json(self.folder / "pairs" / f"{name}.json", max(pairs, self.noted(name)))

    def noted(self, name: str) -> int:
        """Pairs of a match that are there, whole; 0 where it has not been played."""
        path = self.folder / "pairs" / f"{name}.json"
        return int(read_json(path)) if path.exists() else 0

    def play(self, a: str, b: str, pairs: int, seed: list[int]) -> DepthMatch:
        """A match, or what is left of it; a table is fitted to ``a`` first."""
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
                GROUP,
            )
        other = self.game.player(self.tables[a].options) if b == TABLE else self.player(b)
        return play_match(self.player(a), other, pairs, self.game, seed, self.parallel, self.journal, GROUP)


def _line(match: DepthMatch) -> str:
    score, margin = match.score, match.margin
    return (
        f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f}) of {score.n} games, margin {margin.value:.2f}, "
        f"time-outs {match.forfeits(0)['time']} and {match.forfeits(1)['time']}, "
        f"nodes a game {match.nodes(0):,.0f} and {match.nodes(1):,.0f}"
    )


def figures(found: dict[str, DepthMatch], setting: Setting) -> dict[str, Any]:
    """The registry's figures, and every match under ``matches``."""
    made: dict[str, Any] = {}
    table, deepening = found.get(f"{HEADLINE}_table"), found.get(f"{HEADLINE}_deepening")
    if table is not None:
        # No game is drawn: who has not lost has won.
        made["unbeaten_vs_fixed"] = made["wins_vs_fixed"] = table.score.as_metrics()
        made["mean_margin"] = table.margin.as_metrics()
        made["time_outs"] = {"value": table.forfeits(0)["time"], "low": None, "high": None, "n": table.score.n}
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
    about = {
        "profile": "committed measurement",
        "data": f"{setting.positions} positions of the engine's own games",
        "hardware": f"{processor()}; the clock is one of nodes, so no figure depends on it",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": COMMAND,
    }
    return {name: row | about for name, row in made.items()} | {
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

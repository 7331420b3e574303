"""Play the matches behind docs/measured/search_depth.json, or the rest of them.

Players, clock and models are those of params.yaml and of the last ``dvc repro``. Killed at any moment, the same command
continues with the missing games; the journal is under work/strength/search_depth/, in a folder named by a
digest of the models. Example: ``python -m bench.strength.search_depth --only cnn_table --games 200``

The curve, ``--only curve_``, is the score by the share of its clock that the opponent spends: a match for each net of
`CURVE_NETS` and each opponent of `CURVE`, in the order of `MATCHES`, a point being written when it is played.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from bench.measured import about, chosen, count, known, match_options
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.score import pair_score
from pipeline_src.errors import run_main
from pipeline_src.files import read_json, write_json
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.report.figures import processor
from pipeline_src.search.amazons.evaluation import AmazonsEngine
from pipeline_src.systems.search_depth.match import (
    DepthMatch,
    Meeting,
    TunedTable,
    fit_costs,
    fit_table,
    play_meetings,
    table_options,
    tune_table,
)
from pipeline_src.systems.search_depth.params import TABLE, DepthGame, DepthMatchParams, DepthSplitParams
from pipeline_src.systems.search_depth.player import TableDepth
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
    "whole": "depth=cnn,model={smote},plus=1",
    "early": "stop=early,game_plies=30",
    "close": "stop=close,game_plies=36",
    **{f"depth{plies}": f"depth={plies}" for plies in (2, 3, 4, 5)},
}
"""Players that are not in params.yaml: `ours` with a share of its clock equal to the computing of four plies, the
published net from other training rows, and a ply deeper than it says, fixed depths, and deepening by stop rules, whose
plies are such that they spend what plain deepening spends."""
CURVE_LOWEST = 2  # Least depth of these tables: three plies everywhere spend a seventh of the clock
CURVE = (
    *("depth3", "depth4", "share40", "share20", "depth2", "depth5"),
    *("share90", "share10", "share15", "share30", "share60"),
)
"""Opponents of the curve, those that bracket the published score first: fixed depths, and tables meant to spend such a
percentage of their clock by the labelled positions. How much they do spend, the games say."""
CURVE_NETS = ("cnn", "ours")
POINT = "curve_"  # Begin of the names of the curve's matches

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
    **{f"{POINT}{net}_{opponent}": (net, opponent, 1000) for net in CURVE_NETS for opponent in CURVE},
    "whole_depth3": ("whole", "depth3", 400),
    "whole_depth4": ("whole", "depth4", 400),
    "whole_deepening": ("whole", "deepening", 400),
    "ours_early": ("ours", "early", 2000),
    "ours_close": ("ours", "close", 2000),
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
                _write(found, setting)
            elif (pairs := setting.noted(name)) > 0:
                found[name] = setting.play(a, b, pairs, [1, number])
    _write(found, setting)


def _write(found: dict[str, DepthMatch], setting: "Setting") -> None:
    made, before = figures(found, setting), known(OUT)
    for tables in ("matches", "tables"):
        made[tables] = before.get(tables, {}) | made[tables]
    missing = {
        name.removeprefix(POINT): {"command": f"{COMMAND} ONLY={name}"} for name in MATCHES if name.startswith(POINT)
    }
    kept = {name: row for name, row in before.get("curve", {}).items() if row.get("models") == setting.folder.name}
    made["curve"] = missing | kept | made["curve"]
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
        self.positions, self.train_games = len(positions), len(np.unique(positions.game[train]))
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

    def spending(self, share: float) -> str:
        """Return the options of a table that spends a share of its clock, playing one side of the labelled games."""
        costs, highest = fit_costs(self.legal, self.nodes, self.game.highest), self.game.highest
        nodes = costs.nodes(self.legal)

        def spend(table: TableDepth) -> float:
            depths = np.array([table.depth_of(int(legal)) for legal in self.legal])
            return float(nodes[np.arange(len(depths)), depths - 1].sum()) / (2 * self.train_games)

        wanted = share * self.game.clock_ms * self.game.nodes_per_ms
        first = wanted * 2 * self.train_games / len(self.legal)
        return table_options(fit_table(costs, CURVE_LOWEST, highest, wanted, first, spend, rounds=20)[0])

    def player(self, name: str) -> str:
        """Return the text of a player by its name."""
        if name.startswith("share"):
            return self.game.player(self.spending(int(name.removeprefix("share")) / 100))
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
    profile = load_value(str, "profile")
    command = COMMAND if profile == "laptop" else f"zugwerk profile {profile} && dvc repro depth_train && {COMMAND}"
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
    if (match := found.get(f"{POINT}{PUBLISHED}_depth3")) is not None:
        again = {"command": f"{command} ONLY={POINT}{PUBLISHED}_depth3"}
        made["cnn_unbeaten_vs_depth3"] = match.score.as_metrics() | again
        made["cnn_margin_vs_depth3"] = match.margin.as_metrics() | again
    data = f"{setting.positions} positions of the engine's own games"
    origin = about(command, data, f"{processor()}; the clock is one of nodes, so no figure depends on it")
    clock = setting.game.clock_ms * setting.game.nodes_per_ms
    played = {name: _as_json(match, clock) | {"positions": setting.positions} for name, match in found.items()}
    return {name: origin | row for name, row in made.items()} | {
        "matches": {name: row for name, row in played.items() if not name.startswith(POINT)},
        "curve": {
            name.removeprefix(POINT): row
            | {"spent": {"value": row["clock_used"][1]}, "models": setting.folder.name, "date": origin["date"]}
            for name, row in played.items()
            if name.startswith(POINT)
        },
        "tables": {
            name: {"options": tuned.options, "wanted": tuned.wanted, "spent": tuned.spent}
            for name, tuned in setting.tables.items()
        },
    }


def _as_json(match: DepthMatch, clock: float) -> dict[str, Any]:
    return {
        "a": match.a,
        "b": match.b,
        "score": match.score.as_metrics(),
        "margin": match.margin.as_metrics(),
        "time_outs": [match.forfeits(0)["time"], match.forfeits(1)["time"]],
        "nodes_a_game": [match.nodes(0), match.nodes(1)],
        "clock_used": [match.nodes(0) / clock, match.nodes(1) / clock],
        "choosing": [match.choosing(0), match.choosing(1)],
        "mean_depth": [match.mean_depth(0), match.mean_depth(1)],
    }


if __name__ == "__main__":
    run_main(main)

"""Stage depth_match: matches of players that choose the search depth against tables, fixed and iterative depth.

Reads the positions ``artifacts/samples/depth/``, which tables are fitted to, and the models
``artifacts/models/depth/<name>/model.pt`` that params name. Writes, under ``artifacts/reports/depth/``, the metrics
``match.json``, ``moves/<player>.csv`` (depth and clock by move number, for plots) and ``match.timings.json``. Killed
and run again, it plays only the missing games: finished ones are kept under ``work/``.
"""

import shutil
import time
from pathlib import Path
from typing import Any

from pipeline_src import streams
from pipeline_src.arena.journal import stage_journal
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json, write_table
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, load_value
from pipeline_src.search.amazons.evaluation import AmazonsEngine
from pipeline_src.systems.search_depth.match import (
    DepthMatch,
    Meeting,
    TunedTable,
    check_player,
    move_rows,
    play_meetings,
    tune_table,
)
from pipeline_src.systems.search_depth.params import TABLE, DepthGame, DepthMatchParams, DepthSplitParams
from pipeline_src.systems.search_depth.positions import open_positions, split_by_game

POSITIONS = Path("artifacts/samples/depth")
MODELS = Path("artifacts/models/depth")
REPORTS = Path("artifacts/reports/depth")
WORK = Path("work/depth_match")


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, no or damaged positions or models, or options that make no player.
    """
    began = time.perf_counter()
    params, game = load(DepthMatchParams, "depth_match"), load(DepthGame, "depth_game")
    split, engine = load(DepthSplitParams, "depth_split"), load(AmazonsEngine, "amazons_engine")
    seed, parallel = load_value(int, "seed"), load(Parallel, "parallel")
    models = _Models()
    players = {name: player_text(name, options, game, models) for name, options in params.players.items()}
    positions = open_positions(POSITIONS)
    check_positions(positions.manifest, game)
    train = split_by_game(positions, split.shares, seed).train
    tables: dict[str, TunedTable] = {}
    with stage_journal(WORK, "pipeline_src.stages.depth_match", {"amazons_engine": engine.model_dump()}) as journal:
        for name in dict.fromkeys(pairing.a for pairing in params.matches.values() if pairing.b == TABLE):
            tables[name] = tune_table(
                players[name],
                positions.expandable[train],
                positions.nodes_by_depth[train],
                game,
                params.pilot_pairs,
                [seed, streams.DEPTH_MATCH, 0],
                parallel,
                journal,
            )
        meetings = {
            name: Meeting(
                players[pairing.a],
                game.player(tables[pairing.a].options) if pairing.b == TABLE else players[pairing.b],
                pairing.pairs,
                [seed, streams.DEPTH_MATCH, 1, *name.encode()],
            )
            for name, pairing in params.matches.items()
        }
        matches = dict(zip(meetings, play_meetings(list(meetings.values()), game, parallel, journal), strict=True))
    write_json(REPORTS / "match.json", {name: summary(match) for name, match in matches.items()} | _tables(tables))
    named = [
        (matches[name], pairing.a, f"table_{pairing.a}" if pairing.b == TABLE else pairing.b)
        for name, pairing in params.matches.items()
    ]
    shutil.rmtree(REPORTS / "moves", ignore_errors=True)
    for name, rows in move_rows(named).items():
        write_table(REPORTS / "moves" / f"{name}.csv", rows)
    games = sum(len(match.games) for match in matches.values())
    write_json(REPORTS / "match.timings.json", {"seconds": time.perf_counter() - began, "games": games})
    shutil.rmtree(WORK)


class _Models(dict[str, Path]):
    """Files by the name of a model."""

    def __missing__(self, name: str) -> Path:
        path = MODELS / name / "model.pt"
        if not path.is_file():
            raise ZugwerkError(f"{path}: no such model; `dvc repro depth_train` makes those of depth_train.models")
        self[name] = path
        return path


def player_text(name: str, options: str, game: DepthGame, models: dict[str, Path]) -> str:
    """A player's whole text; its faults are reported here, before any game is played.

    Raises:
        ZugwerkError: names the player.
    """
    try:
        text = game.player(options.format_map(models))
        check_player(text)
    except ZugwerkError as error:
        raise ZugwerkError(f"depth_match.players.{name}: {error}") from None
    except (ValueError, IndexError, AttributeError):
        raise ZugwerkError(f"depth_match.players.{name}: cannot read {options!r}; a model is {{NAME}}") from None
    return text


def check_positions(manifest: dict[str, Any], game: DepthGame) -> None:
    """The positions must have been searched with the depths of this game.

    Raises:
        ZugwerkError: they were not.
    """
    if (manifest["lowest"], manifest["highest"]) != (game.lowest, game.highest):
        raise ZugwerkError(
            f"{POSITIONS}: labelled with depths {manifest['lowest']} to {manifest['highest']}, depth_game has "
            f"{game.lowest} to {game.highest}; `dvc repro depth_label` makes it anew"
        )


def summary(match: DepthMatch) -> dict[str, Any]:
    """Metrics of a match, seen from its first player. No game is drawn, so its win rate is its unbeaten rate."""
    return {
        "score": match.score.as_metrics(),
        "mean_margin": match.margin.as_metrics(),
        "time_outs": match.forfeits(0)["time"],
        "time_outs_opponent": match.forfeits(1)["time"],
        "nodes_a_game": match.nodes(0),
        "nodes_a_game_opponent": match.nodes(1),
        "choosing": match.choosing(0),
        "mean_depth": match.mean_depth(0),
        "mean_depth_opponent": match.mean_depth(1),
    }


def _tables(tables: dict[str, TunedTable]) -> dict[str, Any]:
    """Under ``tables``: thresholds by depth and how near the computing came, by the player that was met."""
    return {
        "tables": {
            name: {
                "below": {str(tuned.table.lowest + i + 1): below for i, below in enumerate(tuned.table.below)},
                "wanted": tuned.wanted,
                "spent": tuned.spent,
            }
            for name, tuned in tables.items()
        }
    }


if __name__ == "__main__":
    run_main(main)

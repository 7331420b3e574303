"""The gate: a newly trained player becomes the best one only if it scores more against it."""

from dataclasses import replace
from pathlib import Path

from pipeline_src import streams
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import play_match
from pipeline_src.arena.runner import Board
from pipeline_src.files import write_json
from pipeline_src.games import gomoku
from pipeline_src.parallel import Parallel
from pipeline_src.records.parquet import write_records
from pipeline_src.systems.gomoku_zero import player
from pipeline_src.systems.gomoku_zero.evaluator import prepare_model
from pipeline_src.systems.gomoku_zero.setting import Setting

CHUNK = 10
"""Rows of a forward pass: of twenty games ten wait for each player."""


def play_gate(folder: Path, new: Path, best: Path, number: int, setting: Setting, parallel: Parallel) -> None:
    """Play the games of generation ``number``; write ``gate.parquet`` and ``gate_result.json``.

    Args:
        folder: of the unfinished generation.
        new: the trained model.
        best: the best one before.
        number: of the generation.
        setting: its params.
        parallel: how games are played side by side.
    """
    params, rules = setting.gate, setting.game
    backend = setting.self_play.backend
    one, other = (
        f"{player.NAME}:{prepare_model(model, backend, folder / name)},simulations={params.simulations},"
        f"search={params.search},backend={backend},chunk={CHUNK}"
        for name, model in (("new", new), ("best", best))
    )
    seed = [setting.seed, streams.GATE, number]
    board = Board(gomoku.NAME, rules.size_of(number), rules.variant)
    with Journal(folder / "gate.journal.jsonl", {}) as journal:
        match = play_match(board, one, other, params.games // 2, params.opening_plies, seed, parallel, journal)
    named = [  # the texts name scratch files
        replace(board.record(game, i + 1), first_name=("new", "best")[i % 2], second_name=("best", "new")[i % 2])
        for i, game in enumerate(match.games)
    ]
    write_records(named, folder / "gate.parquet")
    standing = match.standing
    accepted = standing.wins > standing.losses or params.always
    write_json(
        folder / "gate_result.json",
        {**vars(standing), "score": match.score.as_metrics(), "accepted": int(accepted)},
    )

"""The gate: a newly trained player becomes the best one only if it scores more against it."""

from dataclasses import replace

from pipeline_src import streams
from pipeline_src.arena.journal import Journal
from pipeline_src.arena.match import play_match
from pipeline_src.arena.runner import Board
from pipeline_src.files import write_json
from pipeline_src.games import gomoku
from pipeline_src.records.parquet import write_records
from pipeline_src.systems.gomoku_zero import player
from pipeline_src.systems.gomoku_zero.evaluator import prepare_model
from pipeline_src.systems.gomoku_zero.work import Work

CHUNK = 10
"""Rows of a forward pass: of twenty games ten wait for each player."""


def play_gate(work: Work) -> None:
    """Play the games; write ``gate.parquet`` and ``gate_result.json``."""
    params, rules = work.setting.gate, work.setting.game
    backend = work.setting.self_play.backend
    new, best = (
        f"{player.NAME}:{prepare_model(model, backend, work.folder)},simulations={params.simulations},"
        f"search={params.search},backend={backend},chunk={CHUNK}"
        for model in (work.folder / "model.pt", work.best)
    )
    seed = [work.setting.seed, streams.GATE, work.files.number]
    board = Board(gomoku.NAME, rules.size_of(work.files.number), rules.variant)
    with Journal(work.folder / "gate.journal.jsonl", {}) as journal:
        match = play_match(board, new, best, params.games // 2, params.opening_plies, seed, work.parallel, journal)
    named = [  # the texts name scratch files
        replace(board.record(game, i + 1), first_name=("new", "best")[i % 2], second_name=("best", "new")[i % 2])
        for i, game in enumerate(match.games)
    ]
    write_records(named, work.folder / "gate.parquet")
    standing = match.standing
    write_json(
        work.folder / "gate_result.json",
        {
            **vars(standing),
            "score": match.score.as_metrics(),
            "accepted": int(standing.wins > standing.losses or params.always),
        },
    )

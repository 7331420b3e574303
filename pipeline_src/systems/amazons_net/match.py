"""Stage amazons_match: matches of the nets and the engine; stage amazons_calibration: the residual net against itself.

The first plays in colour-swapped pairs from random openings, with ``artifacts/models/amazons/<loss>/nets.pt`` and
``.../residual/nets.pt``; it writes the metrics ``artifacts/reports/amazons/match.json`` and the games
``artifacts/records/amazons/matches.parquet``. The second compares the residual net's win rates with the results of its
games; it writes the metrics ``artifacts/reports/amazons/calibration.json`` and the reliability curve
``calibration.csv``. Killed and run again, both play only the missing games: finished ones are kept under ``work/``.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pipeline_src.systems.amazons_net.players  # noqa: F401 - the search that calibration names
from pipeline_src import streams
from pipeline_src.arena import runner
from pipeline_src.arena.calibration import calibration_stage
from pipeline_src.arena.journal import Journal, stage_journal
from pipeline_src.arena.result import Match
from pipeline_src.arena.runner import Board, play_matches, swapped_pairs
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel
from pipeline_src.players.amazons import amazons_engine
from pipeline_src.project.params import load, load_value, read_value
from pipeline_src.records.record import write_records
from pipeline_src.systems.amazons_net.nets import load_nets
from pipeline_src.systems.amazons_net.params import AmazonsMatchParams

MODELS = Path("artifacts/models/amazons")
REPORT = Path("artifacts/reports/amazons/match.json")
GAMES = Path("artifacts/records/amazons/matches.parquet")
WORK = Path("work/amazons_match")


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, no or damaged nets, or a text that names no player.
    """
    params, engine = load(AmazonsMatchParams, "amazons_match"), amazons_engine()
    try:
        read_value(f"amazons_models.trained.{params.loss}")
    except ZugwerkError:
        raise ZugwerkError(
            f"params.yaml: amazons_match.loss: {params.loss} is not in amazons_models.trained; add it there"
        ) from None
    seed, parallel = load_value(int, "seed"), load(Parallel, "parallel")
    models = {"published": MODELS / params.loss / "nets.pt", "residual": MODELS / "residual" / "nets.pt"}
    board = Board(amazons.NAME, load_nets(models["published"]).config.size)
    texts = {
        name: (player_text(pairing.a, models), player_text(pairing.b, models))
        for name, pairing in params.matches.items()
    }
    pairs = {name: pairing.pairs for name, pairing in params.matches.items()}
    stream = [seed, streams.AMAZONS_MATCH]
    with stage_journal(WORK, __name__, {"amazons_engine": engine.model_dump()}) as journal:
        matches = play_pairings(board, texts, pairs, params.opening_plies, stream, parallel, journal, GAMES)
    write_json(REPORT, {name: summary(match) for name, match in matches.items()})
    shutil.rmtree(WORK)


def play_pairings(
    board: Board,
    texts: Mapping[str, tuple[str, str]],
    pairs: Mapping[str, int],
    opening_plies: int,
    stream: Sequence[int],
    parallel: Parallel,
    journal: Journal,
    path: Path,
    *,
    level: bool = False,
) -> dict[str, Match]:
    """Play the pairs of games of both players of each name, see `swapped_pairs`, and write all games to ``path``."""
    fixtures = [
        swapped_pairs(board, *texts[name], count, opening_plies, [*stream, *name.encode()], level=level)
        for name, count in pairs.items()
    ]
    played = play_matches(board, fixtures, parallel, journal)
    matches = {name: Match.of(*texts[name], games) for name, games in zip(pairs, played, strict=True)}
    games = [game for match in matches.values() for game in match.games]
    write_records((board.record(game, gid) for gid, game in enumerate(games, 1)), path)
    return matches


def player_text(text: str, models: dict[str, Path]) -> str:
    """The text with its models' paths filled in; its faults are reported here, before any game is played."""
    try:
        full = text.format_map(models)
    except (KeyError, ValueError, IndexError):
        raise ZugwerkError(f"player {text!r}: expected one of these in braces: {', '.join(models)}") from None
    runner.player(amazons.NAME, full)
    return full


def summary(match: Match) -> dict[str, object]:
    """Return the metrics of a match for player A. Infinite Elo differences are null."""
    score = match.score
    elo = dict(zip(("value", "low", "high"), score.elo(), strict=True))
    return {
        "score": score.as_metrics(),
        **vars(match.standing),
        "elo": elo | {"n": score.n},
        "illegal": match.forfeits(0).total(),
        "illegal_opponent": match.forfeits(1).total(),
    }


def calibrate() -> None:
    """Play the residual net against itself and write.

    Raises:
        ZugwerkError: bad params, or no or damaged nets.
    """
    model = MODELS / "residual" / "nets.pt"
    board, parallel = Board(amazons.NAME, load_nets(model).config.size), load(Parallel, "parallel")
    calibration_stage(board, model, REPORT.parent, __name__, parallel)

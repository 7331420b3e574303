"""Stage amazons_match: Amazons-Net plays other players, in colour-swapped pairs from random openings.

Reads ``artifacts/models/amazons/<loss>/nets.pt``; writes the metrics ``artifacts/reports/amazons/match.json`` and the
games ``artifacts/records/amazons/matches.parquet``.
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pipeline_src.arena.match import MatchResult, play_match
from pipeline_src.errors import run_main
from pipeline_src.files import write_json
from pipeline_src.nets.amazons_models import load_nets
from pipeline_src.parallel import Parallel
from pipeline_src.params.amazons_match import AmazonsMatchParams
from pipeline_src.params.load import load, load_value
from pipeline_src.players.registry import make_player
from pipeline_src.records.parquet import write_records
from pipeline_src.records.record import GameRecord

MODELS = Path("artifacts/models/amazons")
REPORT = Path("artifacts/reports/amazons/match.json")
GAMES = Path("artifacts/records/amazons/matches.parquet")
TAG = 4
"""Keeps this stage's random numbers apart from the others'."""


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, no or damaged nets, or an opponent's text that names no player.
    """
    params, seed, parallel = (
        load(AmazonsMatchParams, "amazons_match"),
        load_value(int, "seed"),
        load(Parallel, "parallel"),
    )
    path = MODELS / params.loss / "nets.pt"
    size = load_nets(path).config.size
    for opponent in params.opponents:
        make_player("amazons", opponent)  # a wrong text fails here, before any game is played
    matches = [
        play_match(
            "amazons", f"nets:{path}", opponent, params.pairs, params.opening_plies, [seed, TAG, i], parallel, size
        )
        for i, opponent in enumerate(params.opponents)
    ]
    first_gids = range(1, len(matches) * 2 * params.pairs, 2 * params.pairs)
    games = [records(match, size, gid) for match, gid in zip(matches, first_gids, strict=True)]
    write_records(chain.from_iterable(games), GAMES)
    write_json(REPORT, {match.b: summary(match) for match in matches})


def summary(match: MatchResult) -> dict[str, object]:
    """Metrics of a match, seen from its first player; Elo differences are null where they are infinite."""
    (wins, draws, losses), score, (illegal, illegal_opponent) = match.wins_draws_losses, match.score, match.illegal
    elo, elo_low, elo_high = score.elo()
    return {
        "score": score.as_metrics(),
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "elo": elo,
        "elo_low": elo_low,
        "elo_high": elo_high,
        "illegal": illegal,
        "illegal_opponent": illegal_opponent,
    }


def records(match: MatchResult, size: int, gid: int) -> Iterator[GameRecord]:
    """The games, numbered from ``gid``."""
    for i, played in enumerate(match.games):
        first, second = (match.a, match.b) if i % 2 == 0 else (match.b, match.a)
        yield GameRecord(
            game="amazons",
            gid=gid + i,
            source="engine",
            variant="standard",
            height=size,
            width=size,
            actions=played.actions,
            winner=played.winner,
            first_name=first,
            second_name=second,
        )


if __name__ == "__main__":
    run_main(main)

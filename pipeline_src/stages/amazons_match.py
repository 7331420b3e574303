"""Stage amazons_match: the nets and the engine play each other, in colour-swapped pairs from random openings.

Reads ``artifacts/models/amazons/<loss>/nets.pt`` and ``.../residual/nets.pt``; writes the metrics
``artifacts/reports/amazons/match.json`` and the games ``artifacts/records/amazons/matches.parquet``.
"""

from itertools import accumulate, chain
from pathlib import Path

from pipeline_src import streams
from pipeline_src.arena.match import MatchResult, play_match
from pipeline_src.errors import ZugwerkError, run_main
from pipeline_src.files import write_json
from pipeline_src.games import amazons
from pipeline_src.parallel import Parallel
from pipeline_src.players.registry import make_player
from pipeline_src.project.params import load, load_value
from pipeline_src.records.parquet import write_records
from pipeline_src.systems.amazons_net.models import load_nets
from pipeline_src.systems.amazons_net.params import AmazonsMatchParams

MODELS = Path("artifacts/models/amazons")
REPORT = Path("artifacts/reports/amazons/match.json")
GAMES = Path("artifacts/records/amazons/matches.parquet")


def main() -> None:
    """Play and write.

    Raises:
        ZugwerkError: bad params, no or damaged nets, or a text that names no player.
    """
    params, seed, parallel = (
        load(AmazonsMatchParams, "amazons_match"),
        load_value(int, "seed"),
        load(Parallel, "parallel"),
    )
    models = {"published": MODELS / params.loss / "nets.pt", "residual": MODELS / "residual" / "nets.pt"}
    size = load_nets(models["published"]).config.size
    texts = {
        name: (_player_text(pairing.a, models), _player_text(pairing.b, models))
        for name, pairing in params.matches.items()
    }
    matches = {
        name: play_match(
            amazons.NAME,
            *texts[name],
            pairing.pairs,
            params.opening_plies,
            [seed, streams.AMAZONS_MATCH, *name.encode()],
            parallel,
            size,
        )
        for name, pairing in params.matches.items()
    }
    first_gids = accumulate((len(match.games) for match in matches.values()), initial=1)
    games = [
        match.records(amazons.NAME, size, "standard", gid)
        for match, gid in zip(matches.values(), first_gids, strict=False)
    ]
    write_records(chain.from_iterable(games), GAMES)
    write_json(REPORT, {name: summary(match) for name, match in matches.items()})


def _player_text(text: str, models: dict[str, Path]) -> str:
    """The text with its models' paths in it; what is wrong with it shows here, before any game is played."""
    try:
        full = text.format_map(models)
    except (KeyError, ValueError, IndexError):
        raise ZugwerkError(f"player {text!r}: in braces may stand {', '.join(models)}") from None
    make_player(amazons.NAME, full)
    return full


def summary(match: MatchResult) -> dict[str, object]:
    """Metrics of a match, seen from its first player; Elo differences are null where they are infinite."""
    (wins, draws, losses), score, (illegal, illegal_opponent) = match.wins_draws_losses, match.score, match.illegal
    elo = dict(zip(("value", "low", "high"), score.elo(), strict=True))
    return {
        "score": score.as_metrics(),
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "elo": elo | {"n": score.n},
        "illegal": illegal,
        "illegal_opponent": illegal_opponent,
    }


if __name__ == "__main__":
    run_main(main)

"""Every headline figure of every system: where it is found, what was published, how to rerun it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure. Its value is a number in a metrics file, or a ``{value, low, high, n}`` there.

    In ``path``, ``{section.key}`` stands for that value of params.yaml.
    """

    unit: str
    path: str = ""
    """Metrics file of the graph; empty where only a committed measurement tells the figure."""
    key: str = ""
    """Dotted path of the value in the file."""
    stage: str = ""
    """DVC stage that makes it."""
    published: float | None = None
    sources: str = ""
    """Metrics file whose ``sources`` counts the games by where they came from."""


REPORTS = "artifacts/reports/amazons"
SAMPLES = f"{REPORTS}/samples.json"


def _amazons(unit: str, file: str, key: str, stage: str, published: float | None = None) -> Figure:
    return Figure(unit, f"{REPORTS}/{file}", key, f"amazons_{stage}", published, SAMPLES)


def _nets(name: str, unit: str = "fraction", published: float | None = None) -> Figure:
    return _amazons(unit, "evaluate/{amazons_match.loss}.json", f"nets.{name}", "evaluate", published)


def _residual(name: str, unit: str = "fraction") -> Figure:
    return _amazons(unit, "evaluate/residual.json", f"nets.{name}", "evaluate")


def _score(match: str) -> Figure:
    return _amazons("score", "match.json", f"{match}.score", "match")


REGISTRY: dict[str, dict[str, Figure]] = {
    "amazons_net": {
        "games": _amazons("games", "samples.json", "games", "samples", 25_000),
        "samples": _amazons("samples", "samples.json", "samples", "samples", 1_879_931),
        "from_to_top1": _nets("from_to_top1"),
        "from_to_top5": _nets("from_to_top5"),
        "arrow_top1": _nets("arrow_top1"),
        "turn_top1": _nets("turn_top1"),
        "value_accuracy": _nets("value_accuracy"),
        "value_brier": _nets("value_brier", "squared error"),
        "legal_rate": _nets("legal_rate", published=1.0),
        "baseline_turn_top1": _amazons("fraction", "evaluate/baselines.json", "one_ply.turn_top1", "baselines"),
        "score_vs_random": _score("random"),
        "score_vs_one_ply": _score("one_ply"),
        "score_vs_alphabeta": _score("alphabeta"),
        "residual_from_to_top1": _residual("from_to_top1"),
        "residual_arrow_top1": _residual("arrow_top1"),
        "residual_turn_top1": _residual("turn_top1"),
        "residual_value_accuracy": _residual("value_accuracy"),
        "residual_score_vs_nets": _score("residual_nets"),
        "residual_score_vs_one_ply": _score("residual_one_ply"),
    },
    "amazons_engine": {
        "score_vs_openspiel_mcts": Figure("score"),
        "score_vs_one_ply": Figure("score"),
        "score_uct_vs_alphabeta": Figure("score"),
        "score_nets_puct_vs_alphabeta": Figure("score"),
        "elo_per_doubling": Figure("Elo"),
        "illegal_moves": Figure("games"),
        "time_losses": Figure("games"),
    },
}

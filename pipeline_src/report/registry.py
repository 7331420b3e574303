"""Every headline figure of every system: where it is found, what was published, how to rerun it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure. Its value is a number in a metrics file, or a ``{value, low, high, n}`` there."""

    path: str
    """Metrics file, ``{loss}`` standing for the default reading of the loss."""
    key: str
    """Dotted path of the value in the file."""
    unit: str
    stage: str
    """DVC stage that makes it."""
    published: float | None = None

    @property
    def command(self) -> str:
        """What makes it again."""
        return f"dvc repro {self.stage}"


REPORTS = "artifacts/reports/amazons"
EVALUATE = f"{REPORTS}/evaluate/{{loss}}.json"

REGISTRY: dict[str, dict[str, Figure]] = {
    "amazons_net": {
        "games": Figure(f"{REPORTS}/samples.json", "games", "games", "amazons_samples", 25_000),
        "samples": Figure(f"{REPORTS}/samples.json", "samples", "samples", "amazons_samples", 1_879_931),
        "from_to_top1": Figure(EVALUATE, "nets.from_to_top1", "fraction", "amazons_evaluate"),
        "from_to_top5": Figure(EVALUATE, "nets.from_to_top5", "fraction", "amazons_evaluate"),
        "arrow_top1": Figure(EVALUATE, "nets.arrow_top1", "fraction", "amazons_evaluate"),
        "turn_top1": Figure(EVALUATE, "nets.turn_top1", "fraction", "amazons_evaluate"),
        "value_accuracy": Figure(EVALUATE, "nets.value_accuracy", "fraction", "amazons_evaluate"),
        "value_brier": Figure(EVALUATE, "nets.value_brier", "squared error", "amazons_evaluate"),
        "legal_rate": Figure(EVALUATE, "nets.legal_rate", "fraction", "amazons_evaluate", 1.0),
        "baseline_turn_top1": Figure(
            f"{REPORTS}/evaluate/baselines.json", "one_ply.turn_top1", "fraction", "amazons_baselines"
        ),
        "score_vs_random": Figure(f"{REPORTS}/match.json", "random.score", "score", "amazons_match"),
        "score_vs_one_ply": Figure(f"{REPORTS}/match.json", "one_ply.score", "score", "amazons_match"),
    }
}

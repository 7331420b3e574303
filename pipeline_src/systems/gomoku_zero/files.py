"""Paths of the files of a generation, and of the files of a growing board."""

from dataclasses import dataclass
from pathlib import Path

ARTIFACTS = Path("artifacts")
WORK = Path("work/gomoku")
"""Folder of unfinished generations: not in git, no outs of DVC, removed when a generation is complete."""


@dataclass(frozen=True)
class GenerationFiles:
    """The files of one generation; the first is number 1."""

    number: int
    artifacts: Path = ARTIFACTS

    @property
    def name(self) -> str:
        """Two digits."""
        return f"{self.number:02d}"

    @property
    def games(self) -> Path:
        """Records of the self-play games."""
        return self.artifacts / "records/gomoku/self_play" / f"{self.name}.parquet"

    @property
    def gate_games(self) -> Path:
        """Records of the games against the best player."""
        return self.artifacts / "records/gomoku/gate" / f"{self.name}.parquet"

    @property
    def window(self) -> Path:
        """Folder of the replay window: the games that this generation trained on."""
        return self.artifacts / "samples/gomoku" / self.name

    @property
    def models(self) -> Path:
        """Folder of the models."""
        return self.artifacts / "models/gomoku" / self.name

    @property
    def model(self) -> Path:
        """The net that this generation trained, whether or not it became the best."""
        return self.models / "model.pt"

    @property
    def best(self) -> Path:
        """The best player after this generation's gate."""
        return self.models / "best.pt"

    @property
    def learner(self) -> Path:
        """State of the optimiser, with which the next generation goes on."""
        return self.models / "learner.pt"

    @property
    def report(self) -> Path:
        """Metrics."""
        return self.artifacts / "reports/gomoku/generations" / f"{self.name}.json"

    @property
    def curves(self) -> Path:
        """Losses by step."""
        return self.report.with_suffix(".csv")

    @property
    def timings(self) -> Path:
        """Written last: seconds, hardware, and the key of what the generation was made from; no output of the graph."""
        return self.report.with_suffix(".timings.json")


CURVE = (
    "generation",
    "games",
    "positions",
    "mean_plies",
    "loss",
    "policy_loss",
    "value_loss",
    "gate_score",
    "evaluations",
    "multiply_adds",
    "multiply_adds_in_all",
)
"""Columns of a board's table of generations."""


@dataclass(frozen=True)
class BoardFiles:
    """The files of one board."""

    size: int
    artifacts: Path = ARTIFACTS

    @property
    def models(self) -> Path:
        """Folder of what each generation trained, and of the best player, `best`."""
        return self.artifacts / "models/growing" / str(self.size)

    def model(self, generation: int) -> Path:
        """Return the path of a generation's net; 0 is the net at the start of the first generation."""
        return self.models / f"{generation:02d}.pt"

    @property
    def best(self) -> Path:
        """The best player in the end."""
        return self.models / "best.pt"

    @property
    def games(self) -> Path:
        """Folder of the records of all self-play games, a file a generation."""
        return self.artifacts / "records/growing" / str(self.size)

    @property
    def report(self) -> Path:
        """Metrics."""
        return self.artifacts / "reports/growing/boards" / f"{self.size}.json"

    @property
    def curve(self) -> Path:
        """A row a generation, `CURVE`: losses, gate, computing."""
        return self.report.with_suffix(".csv")

    @property
    def timings(self) -> Path:
        """Seconds of each generation's phases."""
        return self.report.with_suffix(".timings.json")

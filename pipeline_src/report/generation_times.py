"""Times of Gomoku's generations. They are not among the metrics, since they differ from run to run."""

from pathlib import Path
from typing import NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project.params import PARAMS_FILE, read_tree
from pipeline_src.systems.gomoku_zero.params import SECTION, read_numbers

REPORTS = Path("artifacts/reports/gomoku/generations")


class GenerationTime(NamedTuple):
    """Times of one generation."""

    number: int
    seconds: dict[str, float]
    """Seconds by phase: self_play, train, gate."""
    games: int
    """Number of games of its self-play."""


def read_times(folder: Path = Path()) -> list[GenerationTime]:
    """Return the times of the generations in params.yaml; empty if one has no timings yet.

    Raises:
        ZugwerkError: a file is damaged.
    """
    if SECTION not in read_tree(folder / PARAMS_FILE):
        return []
    found = []
    for number in read_numbers(folder / PARAMS_FILE):
        report = folder / REPORTS / f"{number:02d}.json"
        timings = report.with_suffix(".timings.json")
        if not (report.exists() and timings.exists()):
            return []
        try:
            seconds = {str(phase): float(value) for phase, value in read_json(timings)["seconds"].items()}
            found.append(GenerationTime(number, seconds, int(read_json(report)["self_play"]["games"])))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ZugwerkError(f"{timings}: damaged ({error!r}); make the generation again") from None
    return found


def figures(folder: Path = Path()) -> dict[str, float]:
    """Return ``train_hours`` of all phases of all generations, and ``self_play_games_per_hour`` of self-play."""
    times = read_times(folder)
    if not times:
        return {}
    seconds = sum(sum(one.seconds.values()) for one in times)
    self_play = sum(one.seconds["self_play"] for one in times)
    games = sum(one.games for one in times)
    return {"train_hours": seconds / 3600, "self_play_games_per_hour": 3600 * games / max(self_play, 1e-9)}

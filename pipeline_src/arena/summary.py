"""What a match has come to: scores, forfeits and times from its pairs."""

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pipeline_src.arena.journal import Pair
from pipeline_src.arena.match import POINTS
from pipeline_src.arena.score import Score, pair_score
from pipeline_src.arena.spec import MatchSpec
from pipeline_src.arena.sprt import Sprt, Verdict
from pipeline_src.arena.timed import TimedGame
from pipeline_src.games.game import get_game

Status = Literal["finished", "decided", "interrupted", "incomplete"]
"""All pairs played; the sequential test came to an end before; Ctrl-C; pairs left out whose workers died."""


@dataclass(frozen=True)
class SideFigures:
    """About one player's moves."""

    mean_ms: float
    """A move; NaN where there was none."""
    max_ms: float
    moves_per_game: float
    forfeits: dict[str, int]
    """Games lost off the board, by why: illegal, time, crash."""


@dataclass(frozen=True)
class SprtFigures:
    """Where the sequential test stands, over the pairs in their order."""

    llr: float
    low: float
    high: float
    verdict: Verdict
    pairs: int
    """Looked at: up to the one that decided."""


@dataclass(frozen=True)
class Summary:
    """A match as far as it was played; scores are those of ``a``."""

    a: str
    b: str
    status: Status
    wins: int
    draws: int
    losses: int
    score: Score
    pentanomial: tuple[int, ...]
    """Pairs that brought ``a`` 0, 0.5, 1, 1.5 and 2 points."""
    first_side_score: float
    """Share of the points that went to who moved first."""
    plies_per_game: float
    sides: tuple[SideFigures, SideFigures]
    """Of ``a`` and of ``b``."""
    sprt: SprtFigures | None = None

    @property
    def games(self) -> int:
        """Played so far."""
        return self.wins + self.draws + self.losses

    def as_json(self) -> dict[str, Any]:
        """All of it; infinite Elo differences and means of nothing are null."""
        found = dataclasses.asdict(self)
        found["score"] = self.score.as_metrics()
        found["elo"], found["elo_low"], found["elo_high"] = self.score.elo()
        found["sides"] = {"a": found["sides"][0], "b": found["sides"][1]}
        found["games"] = self.games
        return {key: _finite(value) for key, value in found.items()}


def summarise(spec: MatchSpec, pairs: Mapping[int, Pair], status: Status, sprt: Sprt | None = None) -> Summary:
    """The summary of finished pairs, by number."""
    ordered = [pairs[number] for number in sorted(pairs)]
    points = [pair_points(pair) for pair in ordered]
    games = [game for pair in ordered for game in pair]
    all_points = [point for pair in points for point in pair]
    counts = Counter(round(2 * sum(pair)) for pair in points)
    first = [POINTS[game.winner][0] for game in games]
    return Summary(
        a=spec.a,
        b=spec.b,
        status=status,
        wins=all_points.count(1.0),
        draws=all_points.count(0.5),
        losses=all_points.count(0.0),
        score=pair_score(points),
        pentanomial=tuple(counts[k] for k in range(5)),
        first_side_score=sum(first) / len(first) if first else math.nan,
        plies_per_game=sum(len(game.actions) for game in games) / len(games) if games else math.nan,
        sides=(_side(spec, ordered, 0), _side(spec, ordered, 1)),
        sprt=None if sprt is None else standing(sprt, pairs),
    )


def pair_points(pair: Pair) -> tuple[float, float]:
    """Points of ``a`` in the two games."""
    return POINTS[pair[0].winner][0], POINTS[pair[1].winner][1]


def standing(sprt: Sprt, pairs: Mapping[int, Pair]) -> SprtFigures:
    """The test over the pairs from the first to the first that is missing.

    Taken in their order and not in that in which they finish, it neither favours short games nor depends on workers.
    """
    row = list[float]()
    while len(row) in pairs:
        row.append(sum(pair_points(pairs[len(row)])))
    verdict, llr, number = sprt.run(row)
    return SprtFigures(llr, *sprt.bounds, verdict, number)


def _side(spec: MatchSpec, pairs: list[Pair], player: int) -> SideFigures:
    times, forfeits = list[float](), Counter[str]()
    games = 0
    for pair in pairs:
        for swapped, game in enumerate(pair):
            side = player ^ swapped
            times += game.times_of(side, _first_to_move(spec, game))
            games += 1
            if game.forfeit is not None and game.winner == ("second", "first")[side]:
                forfeits[game.forfeit] += 1
    return SideFigures(
        mean_ms=sum(times) / len(times) if times else math.nan,
        max_ms=max(times, default=math.nan),
        moves_per_game=len(times) / games if games else math.nan,
        forfeits=dict(sorted(forfeits.items())),
    )


def _first_to_move(spec: MatchSpec, game: TimedGame) -> int:
    """Side that moves after the opening; sides alternate."""
    rules = get_game(spec.game)
    side = rules.to_play(rules.from_fen(game.start)) if game.start else 0
    return (side + game.opening) % 2


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value

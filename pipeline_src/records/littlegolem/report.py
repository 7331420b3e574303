"""Counts of the games and rejects of a crawl. They add up to the number of crawled rows."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pipeline_src.records.littlegolem.games import Kept
from pipeline_src.records.littlegolem.result import EVIDENCE
from pipeline_src.records.record import SOURCES, Source
from pipeline_src.records.rejects import REASONS, Reject


def count_games(results: Sequence[tuple[Source, Kept | Reject]]) -> dict[str, Any]:
    """Count by source, reason and evidence. Every known word is a key, so that two reports can be compared key by key.

    Returns:
        ``rows`` = ``games`` + ``rejects``; the same three by source; ``rejects_by_reason``; ``winner_by``, the evidence
        for the winners; ``mean_plies``, the mean number of turns (null without games); ``first_side_score``, a
        fraction.
    """
    kept = [result for _, result in results if isinstance(result, Kept)]
    games = Counter(source for source, result in results if isinstance(result, Kept))
    rejects = Counter(source for source, result in results if isinstance(result, Reject))
    reasons = Counter(result.reason for _, result in results if isinstance(result, Reject))
    evidence = Counter(result.evidence for result in kept)
    variants = Counter(result.record.variant for result in kept)
    return {
        "rows": len(results),
        "games": len(kept),
        "rejects": len(results) - len(kept),
        "rejects_by_reason": {reason: reasons[reason] for reason in REASONS},
        "by_source": {
            source: {"rows": games[source] + rejects[source], "games": games[source], "rejects": rejects[source]}
            for source in SOURCES
        },
        "by_variant": dict(sorted(variants.items())),
        "winner_by": {name: evidence[name] for name in EVIDENCE},
        "mean_plies": _mean([len(result.record.actions) for result in kept]),
        "first_side_score": _mean([result.record.winner == "first" for result in kept]),
    }


def _mean(values: Sequence[int | bool]) -> float | None:
    return sum(values) / len(values) if values else None

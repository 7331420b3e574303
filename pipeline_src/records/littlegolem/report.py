"""Counts of the games and rejects of a crawl. They add up to the number of crawled rows."""

from collections import Counter
from typing import Any

from pipeline_src.records.littlegolem.games import Kept
from pipeline_src.records.littlegolem.result import EVIDENCE, Evidence
from pipeline_src.records.record import SOURCES, Source
from pipeline_src.records.rejects import REASONS, Reason, Reject


class GameCounts:
    """Counts by source, reason and evidence."""

    def __init__(self) -> None:
        self._games, self._rejects, self._reasons = Counter[Source](), Counter[Source](), Counter[Reason]()
        self._evidence, self._variants = Counter[Evidence](), Counter[str]()
        self._plies = self._first_won = 0

    def add(self, source: Source, result: Kept | Reject) -> None:
        """Count one crawled row."""
        if isinstance(result, Reject):
            self._rejects[source] += 1
            self._reasons[result.reason] += 1
            return
        self._games[source] += 1
        self._evidence[result.evidence] += 1
        self._variants[result.record.variant] += 1
        self._plies += len(result.record.actions)
        self._first_won += result.record.winner == "first"

    def report(self) -> dict[str, Any]:
        """Every known word is a key, so that two reports can be compared key by key.

        Returns:
            ``rows`` = ``games`` + ``rejects``; the same three by source; ``rejects_by_reason``; ``winner_by``, the
            evidence for the winners; ``mean_plies``, the mean number of turns (null without games);
            ``first_side_score``, a fraction.
        """
        games, rejects = self._games.total(), self._rejects.total()
        return {
            "rows": games + rejects,
            "games": games,
            "rejects": rejects,
            "rejects_by_reason": {reason: self._reasons[reason] for reason in REASONS},
            "by_source": {
                source: {
                    "rows": self._games[source] + self._rejects[source],
                    "games": self._games[source],
                    "rejects": self._rejects[source],
                }
                for source in SOURCES
            },
            "by_variant": dict(sorted(self._variants.items())),
            "winner_by": {name: self._evidence[name] for name in EVIDENCE},
            "mean_plies": self._plies / games if games else None,
            "first_side_score": self._first_won / games if games else None,
        }

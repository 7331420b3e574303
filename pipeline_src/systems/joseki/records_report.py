"""Counts of the games and rejects of a source of Go games. They add up to the games found."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pipeline_src.records.go_moves import SgfGame
from pipeline_src.records.record import SOURCES
from pipeline_src.records.rejects import REASONS, Reject
from pipeline_src.systems.joseki.made import EVENT


def count_games(results: Sequence[SgfGame | Reject]) -> dict[str, Any]:
    """Counts by reason, source and result; every known word is there, so that two reports compare key by key.

    Returns:
        ``rows``, what was found, = ``games`` + ``rejects``; ``made``, games that nobody played; ``handicap``, games
        with handicap stones; ``variations``, lines beside the main ones; ``passes_added`` and ``cut``, as in
        `GoMoves`, in plies; ``no_result``, games without a winner; ``mean_plies`` and ``first_side_score``, null
        without games; the latter is Black's score of the games with a result.
    """
    kept = [result for result in results if isinstance(result, SgfGame)]
    records = [result.record for result in kept]
    reasons = Counter(result.reason for result in results if isinstance(result, Reject))
    sources = Counter(record.source for record in records)
    winners = Counter(record.winner for record in records)
    decided = winners["first"] + winners["second"] + winners["draw"]
    return {
        "rows": len(results),
        "games": len(kept),
        "rejects": len(results) - len(kept),
        "rejects_by_reason": {reason: reasons[reason] for reason in REASONS},
        "sources": {source: sources[source] for source in SOURCES},
        "made": sum(record.source == "engine" and record.event == EVENT for record in records),
        "handicap": sum("handicap" in record.variant for record in records),
        "variations": sum(result.variations for result in kept),
        "passes_added": sum(result.passes_added for result in kept),
        "cut": sum(result.cut for result in kept),
        "no_result": winners[None],
        "mean_plies": sum(len(record.actions) for record in records) / len(records) if records else None,
        "first_side_score": (winners["first"] + winners["draw"] / 2) / decided if decided else None,
    }

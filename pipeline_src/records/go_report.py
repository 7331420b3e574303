"""Counts of what reading Go games gave; they add up to the games that were found."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pipeline_src.records.joseki_made import EVENT
from pipeline_src.records.record import SOURCES
from pipeline_src.records.rejects import REASONS, Reject
from pipeline_src.records.sgf import SgfGame


def count_games(results: Sequence[SgfGame | Reject]) -> dict[str, Any]:
    """Counts by reason, source and result; every known word is there, so that two reports compare key by key.

    Returns:
        ``found`` = ``games`` + ``rejects``; ``made``, games that nobody played; ``handicap``, games with handicap
        stones; ``variations``, lines beside the main ones; ``passes_added`` and ``cut``, as in `GoMoves`, in plies;
        ``no_result``, games without a winner; ``plies_mean`` and ``first_won``, null without games; ``first_won`` is
        Black's share of the decided games.
    """
    kept = [result for result in results if isinstance(result, SgfGame)]
    records = [result.record for result in kept]
    reasons = Counter(result.reason for result in results if isinstance(result, Reject))
    sources = Counter(record.source for record in records)
    winners = Counter(record.winner for record in records)
    decided = winners["first"] + winners["second"]
    return {
        "found": len(results),
        "games": len(kept),
        "rejects": len(results) - len(kept),
        "rejects_by_reason": {reason: reasons[reason] for reason in REASONS},
        "by_source": {source: sources[source] for source in SOURCES},
        "made": sum(record.source == "engine" and record.event == EVENT for record in records),
        "handicap": sum("handicap" in record.variant for record in records),
        "variations": sum(result.variations for result in kept),
        "passes_added": sum(result.passes_added for result in kept),
        "cut": sum(result.cut for result in kept),
        "no_result": winners[None],
        "plies_mean": sum(len(record.actions) for record in records) / len(records) if records else None,
        "first_won": winners["first"] / decided if decided else None,
    }

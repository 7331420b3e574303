"""The patent's configuration of Amazons-Net as params, and the words for nets that were trained so."""

from collections.abc import Mapping
from typing import Any

from pipeline_src.project.params import at

PRINTED: Mapping[str, Any] = {
    "amazons_archive.games": 25_000,
    "amazons_match.loss": "soft_argmax",
    "amazons_train.width": 1.0,
    "amazons_train.fewest_filters": 16,
    "amazons_train.dropout": 0.3,
    "amazons_train.mover_relative": False,
    "amazons_train.moved_first": False,
    "amazons_train.starting_weights": "he",
    "amazons_train.batch_norm": False,
    "amazons_train.shortcuts": False,
    "amazons_train.spatial_heads": False,
    "amazons_train.teachers_only": False,
    "amazons_train.augment": False,
    "amazons_train.value_weight": 1.0,
}
"""Values that the patent prints, by the keys of params.yaml, and the usual ones where it prints nothing but a method
needs one: He's starting weights, samples as they were recorded, and of the squared distance, which has no gradient as
printed, the reading with the expected coordinates."""
MOST_CHANGES = 2
"""Number of departures up to which nets are still called as printed, with these exceptions."""


def departures(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of `PRINTED` with other values in the tree of params.yaml, and these values."""
    return {key: at(params, key) for key, value in PRINTED.items() if at(params, key) != value}


def printed_words(params: Mapping[str, Any]) -> str:
    """Return ``as printed``, or ``as printed but for starting_weights mirrored``; empty for any other training."""
    changed = departures(params)
    if not changed:
        return "as printed"
    words = " and ".join(f"{key.rpartition('.')[2]} {value}" for key, value in changed.items())
    return f"as printed but for {words}" if len(changed) <= MOST_CHANGES else ""

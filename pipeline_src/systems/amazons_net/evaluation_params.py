"""Params of the measurements of Amazons-Net: baselines, evaluation on the test split, matches.

They are separate from `params`, so that a changed match does not train any net again.
"""

from typing import Annotated

from pydantic import Field

from pipeline_src.project.params import (
    Count,
    Named,
    Params,
)


class AmazonsBaselinesParams(Params):
    """Training-free baselines on the test split. The win rate of the one-ply evaluation has one fitted number."""

    fit_turns: Count
    """Number of turns, spread evenly over the validation split, to fit the scale of the win rate."""


class AmazonsEvaluateParams(Params):
    """Evaluation of trained nets on the test split. These params change only the last bits of results."""

    batch: Count
    """Number of positions in a forward pass."""


class Pairing(Params):
    """One match."""

    a: str
    """Text of player A; scores are reported for A. ``{published}`` and ``{residual}`` stand for the models' files."""
    b: str
    """Text of player B, the opponent, in the same form."""
    pairs: Count
    """Number of openings, each played twice with the sides swapped."""


class AmazonsMatchParams(Params):
    """Matches of the nets, limited by nodes or depth and never by time."""

    loss: str
    """Reading of the loss for the nets ``{published}`` and the headline figures: soft_argmax (the nearest to what is
    published), expected_distance or cross_entropy."""
    opening_plies: Annotated[int, Field(ge=1, le=20)]
    """Number of random plies before the players take over. Without them, deterministic players would repeat one
    game."""
    matches: Annotated[Named[Pairing], Field(min_length=1)]
    """Matches by name."""

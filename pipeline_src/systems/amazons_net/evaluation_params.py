"""Params of what Amazons-Net is measured by: baselines, evaluation on the test split, matches.

Apart from `params`, so that another match trains nothing anew.
"""

from typing import Annotated

from pydantic import Field

from pipeline_src.project.params import (
    Count,
    Named,
    Params,
)


class AmazonsBaselinesParams(Params):
    """Systems without training on the test split; the one-ply evaluation's win rate has one number to fit."""

    fit_turns: Count
    """Turns of the validation split, spread evenly over it, that the scale of the win rate is fitted on."""


class AmazonsEvaluateParams(Params):
    """Trained nets on the test split; nothing here changes their answers but in the last bits."""

    batch: Count
    """Positions of a forward pass."""


class Pairing(Params):
    """One match."""

    a: str
    """Text of the player whose score is told; ``{published}`` and ``{residual}`` stand for the models' files."""
    b: str
    """Text of its opponent, likewise."""
    pairs: Count
    """Openings, each played twice with the sides swapped."""


class AmazonsMatchParams(Params):
    """Matches of the nets, limited by nodes or depth, never by the clock."""

    loss: str
    """Reading of the loss whose nets are ``{published}``, and whose figures are the headline: soft_argmax,
    expected_distance or cross_entropy."""
    opening_plies: Annotated[int, Field(ge=1, le=20)]
    """Random plies before the players take over; from the bare start position, players that draw no lots would play the
    same game again and again."""
    matches: Annotated[Named[Pairing], Field(min_length=1)]
    """Matches by name."""

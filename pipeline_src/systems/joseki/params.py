"""Params of the joseki library: the crawl of Go games, the games it is made from, what it keeps, and its test."""

from typing import Annotated

from pydantic import Field

from pipeline_src.project.params import Count, Fraction, Params, Text, Whole
from pipeline_src.records.crawl_params import WantedGames


class JosekiCrawlParams(WantedGames):
    """The Go games to fetch from LittleGolem, by hand: ``python -m pipeline_src.stages.joseki_crawl``."""


class MadeGames(Params):
    """The archive that is made when nothing else is at hand: textbook joseki, played in all corners."""

    games: Count
    """Number of games; nobody played them."""
    plies: Annotated[int, Field(ge=2, le=300)]
    """Length of the longest game; the shortest has half of it."""
    tenuki: Fraction
    """Share of plies at which a side that could go on in a corner plays in another one."""
    transposed: Fraction
    """Share of joseki in which two moves of one side change places."""
    mistakes: Fraction
    """Share of corner moves that miss by a line or two; nobody follows the joseki after one."""


class JosekiRecordsParams(Params):
    """The games of the joseki library: source and filters."""

    source: Text
    """``made``, ``littlegolem`` (what joseki_crawl fetched), or a folder or tar of SGF files of your own."""
    min_plies: Whole
    """Shortest game to keep."""
    made: MadeGames
    """Games of the source ``made``."""


class JosekiBuildParams(Params):
    """The library: what a corner sequence is, and what is too rare to be kept."""

    moves: Annotated[int, Field(ge=1, le=100)]
    """Local moves of a corner sequence at most; published: 20."""
    fewest_games: Count
    """Moves of fewer games are dropped in the end; the paper has such a threshold without naming it."""


class JosekiEvaluateParams(Params):
    """The test of the library on games that it does not hold."""

    held_out: Annotated[float, Field(gt=0, lt=1)]
    """Share of the games that the tested library does not see, as a fraction."""
    positions: Count
    """Positions on which both look-ups are compared and timed."""
    shown_ply: Count
    """The picture shows a held-out game after so many plies."""

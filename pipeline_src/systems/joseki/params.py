"""Params of the joseki library: the crawl of Go games, the source games, the library and its test."""

from typing import Annotated

from pydantic import Field

from pipeline_src.project.params import Count, Fraction, Params, Text, Whole
from pipeline_src.records.crawl_params import WantedGames


class JosekiCrawlParams(WantedGames):
    """The Go games to fetch from LittleGolem, by hand: ``python -m pipeline_src.stage systems.joseki.crawl``."""


class MadeGames(Params):
    """Synthetic games as a default source: textbook joseki, played in all corners."""

    games: Count
    """Number of synthetic games."""
    plies: Annotated[int, Field(ge=2, le=300)]
    """Length of the longest game in plies. The shortest has half of it."""
    tenuki: Fraction
    """Share of plies at which a side that could continue in a corner plays in another one."""
    transposed: Fraction
    """Share of joseki in which two moves of one side are exchanged."""
    mistakes: Fraction
    """Share of corner moves that are a line or two off. The joseki ends after one."""


class JosekiRecordsParams(Params):
    """The games of the joseki library: source and filters."""

    source: Text
    """Source of games: ``made``, ``littlegolem`` (fetched by joseki_crawl), or your own folder or tar of SGF files."""
    min_plies: Whole
    """Shortest game to keep."""
    made: MadeGames
    """Games of the source ``made``."""


class JosekiBuildParams(Params):
    """The library: length of a corner sequence, and the threshold for rare moves."""

    moves: Annotated[int, Field(ge=1, le=100)]
    """Largest number of local moves in a corner sequence; published: 20."""
    fewest_games: Count
    """Moves of fewer games are dropped at the end. The paper has a threshold without stating its value."""


class JosekiEvaluateParams(Params):
    """The test of the library on held-out games."""

    held_out: Annotated[float, Field(gt=0, lt=1)]
    """Fraction of the games that are held out from the tested library."""
    positions: Count
    """Number of positions on which both look-ups are compared and timed."""
    shown_ply: Count
    """Number of plies of the held-out game that the picture shows."""

"""A match between two players: each opening is played twice, with the sides swapped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline_src.arena.games import PlayedGame, play_seated, random_openings
from pipeline_src.arena.score import Score, pair_score
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.players.registry import make_player
from pipeline_src.records.record import GameRecord

GROUP = 16
"""Pairs a task plays in lock step. Fixed, so that the number of workers changes nothing."""

POINTS = {"first": (1.0, 0.0), "draw": (0.5, 0.5), "second": (0.0, 1.0)}
"""Of who moved first and of who moved second, by winner."""


@dataclass(frozen=True)
class MatchResult:
    """All games of a match; games 2k and 2k + 1 share an opening, and ``a`` moves first in the even ones."""

    a: str
    b: str
    games: list[PlayedGame]

    @property
    def points(self) -> list[float]:
        """Points of ``a``, game by game."""
        return [POINTS[game.winner][i % 2] for i, game in enumerate(self.games)]

    @property
    def score(self) -> Score:
        """Score of ``a``."""
        points = self.points
        return pair_score(list(zip(points[::2], points[1::2], strict=True)))

    @property
    def wins_draws_losses(self) -> tuple[int, int, int]:
        """W/D/L of ``a`` over the games."""
        points = self.points
        return points.count(1.0), points.count(0.5), points.count(0.0)

    @property
    def illegal(self) -> tuple[int, int]:
        """Games that ``a`` and that ``b`` lost by an illegal action."""
        lost = [point for point, game in zip(self.points, self.games, strict=True) if game.illegal]
        return lost.count(0.0), lost.count(1.0)

    def records(self, game: str, size: int, variant: str, gid: int = 1) -> Iterator[GameRecord]:
        """The games of ``game`` as records, numbered from ``gid``."""
        for i, played in enumerate(self.games):
            first, second = (self.b, self.a) if i % 2 else (self.a, self.b)
            yield GameRecord(
                game=game,
                gid=gid + i,
                source="engine",
                variant=variant,
                height=size,
                width=size,
                actions=played.actions,
                winner=played.winner,
                first_name=first,
                second_name=second,
            )


def play_match(
    game: str,
    a: str,
    b: str,
    pairs: int,
    opening_plies: int,
    seed: Sequence[int],
    parallel: Parallel,
    size: int,
    variant: str | None = None,
    openings: Sequence[tuple[int, ...]] | None = None,
) -> MatchResult:
    """Play ``pairs`` colour-swapped pairs, by default from as many random openings.

    Args:
        game: its name.
        a: text of one player (`pipeline_src.players.registry`).
        b: text of the other.
        pairs: number of openings; twice as many games are played.
        opening_plies: random plies of an opening.
        seed: the match depends on nothing else.
        parallel: how the groups of pairs run.
        size: board size.
        variant: rules or start position; None is the game's standard.
        openings: what to play from instead, one a pair, e.g. from `balance.balanced_openings`.

    Raises:
        ZugwerkError: a player's text cannot be read, the game has no such size or variant, or ``openings`` are fewer
            than the pairs.
    """
    start = start_state(game, size, variant)
    for text in (a, b):
        make_player(game, text)  # a wrong text fails here, before any game is played
    if openings is None:
        openings = random_openings(get_game(game), start, pairs, opening_plies, [*seed, 0])
    elif len(openings) < pairs:
        raise ZugwerkError(f"{len(openings)} openings for {pairs} pairs; play fewer games or give more openings")
    tasks = [
        (game, a, b, size, variant, list(openings[at : min(at + GROUP, pairs)]), [*seed, 1, at // GROUP])
        for at in range(0, pairs, GROUP)
    ]
    groups = run_tasks(_play_group, tasks, parallel, f"{a} against {b}")
    return MatchResult(a, b, [played for group in groups for played in group])


def start_state(game: str, size: int, variant: str | None = None) -> Any:
    """The position that a game begins with; None is the game's standard variant."""
    rules = get_game(game)
    return rules.initial_state(size) if variant is None else rules.initial_state(size, variant)


def _play_group(
    game: str, a: str, b: str, size: int, variant: str | None, openings: list[tuple[int, ...]], seed: list[int]
) -> list[PlayedGame]:
    """All games of a group in lock step, so that a player sees as many positions at once as there can be."""
    one, other = make_player(game, a), make_player(game, b)
    games = [(i, swapped) for i in range(len(openings)) for swapped in (0, 1)]
    return play_seated(
        get_game(game),
        [(other, one) if swapped else (one, other) for _, swapped in games],
        [openings[i] for i, _ in games],
        [np.random.default_rng([*seed, i, swapped]) for i, swapped in games],
        start_state(game, size, variant),
    )

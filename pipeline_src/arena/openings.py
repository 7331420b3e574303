"""Openings, played before the players come in: random plies, none, or the lines of a file."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game
from pipeline_src.players.engines.uci_text import read_move


@dataclass(frozen=True)
class Opening:
    """Moves from a start position."""

    start: str = ""
    """Position text; empty for the standard start."""
    actions: tuple[int, ...] = ()


ATTEMPTS = 1_000
"""Draws of one opening before the game counts as having no more of them."""


def random_openings(game: Game, start: Any, count: int, plies: int, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """``count`` openings of uniformly random legal plies, no two the same and none of them ending the game.

    The i-th opening depends on ``seed`` and i alone, but for repeats, which are drawn again. With no plies at all,
    every opening is the start position.

    Raises:
        ZugwerkError: the game does not have that many openings of this length.
    """
    found = draw_openings(game, start, count, plies, seed, lambda opening, _: opening)
    if len(found) < count:
        raise ZugwerkError(f"{ATTEMPTS} draws gave no opening of {plies} plies beside the {len(found)} already drawn")
    return found


def draw_openings(
    game: Game,
    start: Any,
    count: int,
    plies: int,
    seed: Sequence[int],
    form: Callable[[tuple[int, ...], Any], Hashable],
    among: Collection[int] | None = None,
) -> list[tuple[int, ...]]:
    """Random openings, no two of the same ``form``; fewer where `ATTEMPTS` draws did not give another.

    Args:
        game: the rules.
        start: the position before the openings.
        count: how many.
        plies: of an opening.
        seed: see `random_openings`.
        form: of an opening and the position after it; None refuses it.
        among: the actions that are drawn from, where they are legal; None is all.
    """
    if plies == 0:
        return [()] * count
    openings: dict[Hashable, tuple[int, ...]] = {None: ()}
    for number in range(count):
        for attempt in range(ATTEMPTS):
            drawn = _draw(game, start, plies, np.random.default_rng([*seed, number, attempt]), among)
            if drawn is not None and (found := form(*drawn)) not in openings:
                openings[found] = drawn[0]
                break
        else:
            break
    return [*openings.values()][1:]


def _draw(
    game: Game, start: Any, plies: int, rng: np.random.Generator, among: Collection[int] | None
) -> tuple[tuple[int, ...], Any] | None:
    """An opening and the position after it; None where it ends the game."""
    state, opening = start, list[int]()
    for _ in range(plies):
        legal = game.legal_actions(state)
        if among is not None:
            legal = legal[np.isin(legal, list(among))]
        if not len(legal):
            return None
        opening.append(int(rng.choice(legal)))
        state = game.play(state, opening[-1])
        if game.winner(state) is not None:
            return None
    return tuple(opening), state


def read_openings(game: Game, text: str, start: Any, pairs: int, seed: Sequence[int]) -> list[Opening]:
    """One opening a pair, by ``random:PLIES``, ``none`` or the path of a file.

    A file has an opening a line: moves from the position ``start`` with spaces between them, or a position text; empty
    lines and those that begin with # are passed over. The i-th pair gets the i-th opening.

    Raises:
        ZugwerkError: no such file, fewer openings than pairs, or a line that cannot be read or ends the game.
    """
    if text == "none":
        return [Opening()] * pairs
    if text.startswith("random:"):
        plies = text.removeprefix("random:")
        if not (plies.isascii() and plies.isdigit()) or int(plies[:4]) > 1000:
            raise ZugwerkError(f"openings {text!r}: expected random:PLIES, a number of plies")
        drawn = random_openings(game, start, pairs, int(plies), seed)
        return [Opening("", actions) for actions in drawn]
    try:
        lines = Path(text).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise ZugwerkError(f"openings {text!r}: {reason}; expected random:PLIES, none, or a file") from None
    found = [
        _read_line(game, line, start, f"{text}:{number}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(found) < pairs:
        raise ZugwerkError(f"{text}: {len(found)} openings for {pairs} pairs; play fewer games or give more openings")
    return found[:pairs]


def _read_line(game: Game, line: str, start: Any, where: str) -> Opening:
    words = line.split()
    fen = ""
    try:
        state = start
        if len(words) > 1 and words[1] in ("w", "b"):
            state, words = game.from_fen(line), []
            fen = game.to_fen(state)
        actions = []
        for text in words:
            actions.append(read_move(game, state, text))
            if not game.is_legal(state, actions[-1]):
                raise ZugwerkError(f"{text} is not legal there")
            state = game.play(state, actions[-1])
        if game.winner(state) is not None:
            raise ZugwerkError("the game is over after it")
    except ZugwerkError as error:
        raise ZugwerkError(f"{where}: {error}") from None
    return Opening(fen, tuple(actions))

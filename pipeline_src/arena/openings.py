"""Openings, played before the players take over: random plies, none, or the lines of a file."""

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game, get_game
from pipeline_src.learning.symmetry import board_maps
from pipeline_src.players.player import Bounds, Player, Position
from pipeline_src.players.registry import make_player


@dataclass(frozen=True)
class Opening:
    """Moves from a start position."""

    start: str = ""  # Position text; empty for the standard start position
    actions: tuple[int, ...] = ()


ATTEMPTS = 1_000  # Number of draws of one opening after which the game counts as having no more openings


def random_openings(game: Game, start: Any, count: int, plies: int, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """Return ``count`` different openings of uniformly random legal plies, none of which ends the game.

    Opening i depends on ``seed`` and i alone, except that repeated ones are drawn again. With 0 plies, every opening is
    the start position.

    Raises:
        ZugwerkError: the game has too few openings of this length.
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
    on_found: Callable[[tuple[int, ...]], None] | None = None,
) -> list[tuple[int, ...]]:
    """Return openings as `random_openings` does, or fewer if `ATTEMPTS` draws give no further one.

    No two have the same ``form``, the key of an opening and the position after it; None rejects the opening. Actions
    are drawn from those legal ones that are ``among`` some; None is all. ``on_found``
    receives each opening, in place of a progress bar.
    """
    if plies == 0:
        return [()] * count
    openings: dict[Hashable, tuple[int, ...]] = {None: ()}
    for number in tqdm(range(count), "openings", delay=2, leave=False, disable=None if on_found is None else True):
        for attempt in range(ATTEMPTS):
            drawn = _draw(game, start, plies, np.random.default_rng([*seed, number, attempt]), among)
            if drawn is not None and (found := form(*drawn)) not in openings:
                openings[found] = drawn[0]
                if on_found is not None:
                    on_found(drawn[0])
                break
        else:
            break
    return [*openings.values()][1:]


def _draw(
    game: Game, start: Any, plies: int, rng: np.random.Generator, among: Collection[int] | None
) -> tuple[tuple[int, ...], Any] | None:
    """Draw an opening and return it with the position after it; None if it ends the game."""
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


def read_plies(text: str) -> int:
    """Return the number of plies of openings such as ``random:4``.

    Raises:
        ZugwerkError: it is no number, or more than a game has.
    """
    kind, _, plies = text.partition(":")
    if not (plies.isascii() and plies.isdigit()) or int(plies[:4]) > 1000:
        raise ZugwerkError(f"openings {text!r}: expected {kind}:PLIES, a number of plies")
    return int(plies)


# Balanced openings. In games such as Gomoku the first player wins most games. An opening compares two players only if
# both sides still have a chance, and if it is played with both colours.


LEVEL_AREA, LEVEL_JUDGE, LEVEL_BOUND = 9, "alphabeta:depth=2", 40.0
"""For `level_openings`: side of the square that has the stones, judge and bound, as in the graph."""


def balanced_openings(
    game: str,
    start: Any,
    count: int,
    plies: int,
    seed: Sequence[int],
    judge: str,
    bound: float,
    among: Collection[int] | None = None,
    played: Sequence[int] = (),
    on_found: Callable[[tuple[int, ...]], None] | None = None,
) -> list[tuple[int, ...]]:
    """Return ``count`` openings of random plies in which the judge sees no decisive advantage for either side.

    As for `random_openings`, but an opening is also drawn again if an earlier one is equal under the eight symmetries,
    or if the value to the ``judge``, a player that searches, is above ``bound``. With ``played``, nodes per move of
    games that the judge plays against itself from the opening, each side has to win one of them: a value near 0 often
    hides a win just beyond the search depth. The board is square; for ``among`` see `draw_openings`,
    and for ``on_found``.

    Raises:
        ZugwerkError: the judge does not search, or too few openings pass.
    """
    if plies == 0:
        return [()] * count
    rules, expert = get_game(game), make_player(game, judge)
    if not expert.searches:
        raise ZugwerkError(f"{judge!r} cannot judge openings: it does not search; try alphabeta:depth=2")

    def form(opening: tuple[int, ...], state: Any) -> bytes | None:
        if abs(_value(expert, state, start, opening)) > bound:
            return None
        if played and not _both_win(rules, expert, state, played):
            return None
        return canonical_form(state.board, rules.to_play(state))

    openings = draw_openings(rules, start, count, plies, seed, form, among, on_found)
    if len(openings) < count:
        raise ZugwerkError(
            f"{ATTEMPTS} draws gave no opening of {plies} plies that {judge} calls balanced (within {bound:g}) "
            f"beside the {len(openings)} already found; ask for fewer openings, more plies or a wider bound"
        )
    return openings


def level_openings(rules: Game, start: Any, count: int, plies: int, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """Return ``count`` openings of Gomoku near the middle of a square board that two plies of search call level.

    Raises:
        ZugwerkError: another game, or too few openings pass.
    """
    if rules.NAME != "gomoku":
        raise ZugwerkError(f"openings level:{plies} are for gomoku, not {rules.NAME}; expected random:PLIES")
    side = start.board.shape[0]
    cells = central_cells(side, min(side, LEVEL_AREA))
    return balanced_openings(rules.NAME, start, count, plies, seed, LEVEL_JUDGE, LEVEL_BOUND, cells)


def central_cells(size: int, side: int) -> list[int]:
    """Return the cells (row * size + column) of the central square with side ``side``; 0 is the whole board."""
    if not 0 <= side <= size:
        raise ZugwerkError(f"no square of {side} cells a side in the middle of a board of {size}")
    begin = (size - (side or size)) // 2
    rows = range(begin, begin + (side or size))
    return [row * size + column for row in rows for column in rows]


def canonical_form(board: npt.NDArray[np.int8], side: int) -> bytes:
    """Return bytes that are equal for a board [H, H] and its eight symmetric forms; ``side`` is the side to move."""
    forms: npt.NDArray[np.int8] = board.ravel()[board_maps(board.shape[0])]
    smallest: bytes = min(form.tobytes() for form in forms)
    return smallest + bytes([side])


def quick_games(count: int) -> list[int]:
    """Return ``count`` different numbers of nodes per move: 1,500, and half as many more each time."""
    return [round(1500 * 1.5**i) for i in range(count)]


def _both_win(rules: Game, expert: Player, start: Any, played: Sequence[int]) -> bool:
    """Whether each side wins one of the judge's games against itself, at ``played`` nodes per move."""
    winners = set()
    for nodes in played:
        expert.new_game()
        state, rng = start, np.random.default_rng(0)
        while (winner := rules.winner(state)) is None:
            found = expert.think(Position(state, rng, start, ()), Bounds(nodes=nodes))
            state = rules.play(state, found.action)
        winners.add(winner)
        if {"first", "second"} <= winners:
            return True
    return False


def _value(expert: Player, state: Any, start: Any, opening: tuple[int, ...]) -> float:
    """Return the judge's value of a position to the side to move."""
    found = expert.think(Position(state, np.random.default_rng(0), start, opening)).found
    return 0.0 if found is None else found.value

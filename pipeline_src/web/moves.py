"""Moves as texts: they are played from a position, and the turns of the Amazons make a tree to choose from."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pipeline_src.errors import ZugwerkError

if TYPE_CHECKING:
    from pipeline_src.games.game import Game


def step(rules: "Game", state: Any, text: str, number: int) -> tuple[int, Any]:
    """Play one move.

    Args:
        rules: rules of the game.
        state: position before the move.
        text: text of the move.
        number: number of the move in its game, from 1, for messages.

    Returns:
        The action, and the position after it.

    Raises:
        ZugwerkError: the text is malformed, or the move is illegal.
    """
    action = rules.parse_move(text, *state.board.shape)
    if not rules.is_legal(state, action):
        why = "comes after the end of the game" if rules.winner(state) is not None else "is not legal here"
        raise ZugwerkError(f"move {number}, {text[:16]}, {why}")
    return action, rules.play(state, action)


def played(rules: "Game", state: Any, texts: Iterable[str]) -> tuple[tuple[int, ...], Any]:
    """Return the actions of moves from a position on, and the position after them.

    Raises:
        ZugwerkError: a move is malformed or illegal; the message names the first one.
    """
    actions = []
    for number, text in enumerate(texts, 1):
        action, state = step(rules, state, text, number)
        actions.append(action)
    return tuple(actions), state


def turn_tree(turns: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return turns such as ``d1-d7/g7`` as arrow squares by ``d1``, then ``d7``."""
    tree: dict[str, dict[str, list[str]]] = {}
    for turn in turns:
        move, _, arrow = turn.partition("/")
        start, _, to = move.partition("-")
        tree.setdefault(start, {}).setdefault(to, []).append(arrow)
    return {start: {to: tuple(arrows) for to, arrows in below.items()} for start, below in tree.items()}

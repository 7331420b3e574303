"""Moves as texts: played from a position, and the turns of the Amazons as a tree to choose from."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pipeline_src.errors import ZugwerkError

if TYPE_CHECKING:
    from pipeline_src.games.game import Game


def step(rules: "Game", state: Any, text: str, number: int) -> tuple[int, Any]:
    """Play one move.

    Args:
        rules: of the game.
        state: the position.
        text: the move.
        number: of the move in its game, from 1, for the message.

    Returns:
        Its action, and the position after it.

    Raises:
        ZugwerkError: no move, or not a legal one.
    """
    action = rules.parse_move(text, *state.board.shape)
    if not rules.is_legal(state, action):
        why = "comes after the end of the game" if rules.winner(state) is not None else "is not legal here"
        raise ZugwerkError(f"move {number}, {text[:16]}, {why}")
    return action, rules.play(state, action)


def played(rules: "Game", state: Any, texts: Iterable[str]) -> tuple[tuple[int, ...], Any]:
    """The actions of moves from a position on, and the position after them.

    Raises:
        ZugwerkError: names the first that is none, or not legal.
    """
    actions = []
    for number, text in enumerate(texts, 1):
        action, state = step(rules, state, text, number)
        actions.append(action)
    return tuple(actions), state


def turn_tree(turns: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """``d1-d7/g7`` and the like by ``d1``, then ``d7``: the arrows' squares."""
    tree: dict[str, dict[str, list[str]]] = {}
    for turn in turns:
        move, _, arrow = turn.partition("/")
        start, _, to = move.partition("-")
        tree.setdefault(start, {}).setdefault(to, []).append(arrow)
    return {start: {to: tuple(arrows) for to, arrows in below.items()} for start, below in tree.items()}

"""Forced wins as puzzles: the collection of the package, and the answers of a process to the moves of a person."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import PLY, format_variant
from pipeline_src.records.forced_wins import PACKAGED, read_forced_wins
from pipeline_src.search.gomoku.solver import Found, Solver
from pipeline_src.search.limits import Limit
from pipeline_src.web.engine.child import placed
from pipeline_src.web.engine.pool import Place
from pipeline_src.web.messages.analyse import ForcedAnswer, ForcedLine, ForcedWin, ForcedWins

PROOF = Limit(nodes=50_000)  # Limit of a proof; those of the collection take less


def collection() -> ForcedWins:
    """Return the collection that comes with the package."""
    found = []
    for number, (state, plies) in enumerate(read_forced_wins(PACKAGED), 1):
        height, width = state.board.shape
        actions = state.moves[: int(state.turn[PLY])].tolist()
        moves = tuple(gomoku.format_move(action, height, width) for action in actions)
        place = Place(game="gomoku", size=width, variant=format_variant(state), moves=moves)
        found.append(ForcedWin(number=number, place=place, plies=plies))
    return ForcedWins(wins=tuple(found))


def solved(place: dict[str, Any]) -> Iterator[Any]:
    """Yield the line of a forced win of the side to move (`ForcedLine`)."""
    state = _state(place)
    yield ForcedLine(moves=_texts(state, _solve(Solver(), state).line)).model_dump()


def answered(place: dict[str, Any]) -> Iterator[Any]:
    """Yield the best answer to the last move of a place (`ForcedAnswer`): one that spoils the win, or the longest."""
    state, solver = _state(place), Solver()
    if gomoku.winner(state) is not None:
        yield ForcedAnswer(state="won" if gomoku.winner(state) != "draw" else "spoilt").model_dump()
        return
    best: tuple[int, ...] = ()
    for answer in _near_first(state, gomoku.legal_actions(state)):
        after = gomoku.play(state, answer)
        found = None if gomoku.winner(after) is not None else _solve(solver, after)
        if found is None or not found.win:
            yield ForcedAnswer(state="spoilt", answer=_texts(state, (answer,))[0]).model_dump()
            return
        if len(found.line) >= len(best):
            best = (answer, *found.line)
    yield ForcedAnswer(state="holds", answer=_texts(state, best[:1])[0], plies=len(best) - 1).model_dump()


def _solve(solver: Solver, state: Any) -> Found:
    return solver.solve(state, PROOF)


def _state(place: dict[str, Any]) -> Any:
    wanted = Place.model_validate(place)
    if wanted.game != "gomoku" or (not wanted.moves and not wanted.fen):
        raise ZugwerkError("forced wins are proven in positions of Gomoku with stones on the board")
    return placed(wanted, np.random.default_rng(0))[1].state


def _near_first(state: Any, actions: Any) -> list[int]:
    """Return actions, those near the last stone first: most refutations are there."""
    width, last = state.board.shape[1], int(state.moves[int(state.turn[PLY]) - 1])
    away = np.maximum(abs(actions // width - last // width), abs(actions % width - last % width))
    return [int(action) for action in actions[np.argsort(away, kind="stable")]]


def _texts(state: Any, actions: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(gomoku.format_move(action, *state.board.shape) for action in actions)

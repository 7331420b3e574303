"""What is played before the players come in: random plies, nothing, or the lines of a file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline_src.arena.games import random_openings
from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import Game
from pipeline_src.players.engines.uci_text import read_move


@dataclass(frozen=True)
class Opening:
    """Moves from a start position."""

    start: str = ""
    """Position text; empty for the standard start."""
    actions: tuple[int, ...] = ()


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

"""Games between any players, in groups that are played in lock step and kept as they are finished.

A game's moves depend on its `Fixture` alone, so neither the size of the groups nor what else is in a group, nor the
number of workers, changes one of them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src.arena.games import PlayedGame, play_seated
from pipeline_src.arena.match import start_state
from pipeline_src.files import read_json, write_json
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel, run_tasks
from pipeline_src.players.player import Player, PlayerText
from pipeline_src.players.registry import make_player


@dataclass(frozen=True)
class Fixture:
    """A game that is to be played."""

    first: str
    """Text of the player that moves first."""
    second: str
    opening: tuple[int, ...]
    """Played before the players come in."""
    seed: tuple[int, ...]
    """Of the game; both players draw from it."""


@dataclass(frozen=True)
class Board:
    """On what the games are played."""

    game: str
    size: int
    variant: str | None = None
    """None is the game's standard."""


def swapped_pair(a: str, b: str, opening: tuple[int, ...], seed: Sequence[int]) -> tuple[Fixture, Fixture]:
    """The two games of an opening; ``a`` moves first in the first."""
    return Fixture(a, b, opening, (*seed, 0)), Fixture(b, a, opening, (*seed, 1))


def play_fixtures(
    board: Board, fixtures: Sequence[Fixture], parallel: Parallel, group: int, keep: Path | None = None
) -> list[PlayedGame]:
    """Play the games, in their order.

    Args:
        board: on what.
        fixtures: the games; neighbours that share a player make its batches large.
        parallel: how the groups run.
        group: games of a task.
        keep: folder where finished groups are kept, under names that tell their games, the bytes of their models
            and nothing of the code, so that a call after a kill plays the missing ones only; the caller removes it.

    Raises:
        ZugwerkError: a player's text cannot be read, or the game has no such size or variant.
    """
    start_state(board.game, board.size, board.variant)
    texts = dict.fromkeys(text for fixture in fixtures for text in (fixture.first, fixture.second))
    models = {text: _model_digest(text) for text in texts}
    for text in texts:
        _seated(board.game, text, models[text])  # a wrong text fails here, before any game is played
    tasks = []
    for at in range(0, len(fixtures), group):
        some = list(fixtures[at : at + group])
        tasks.append(
            (board, some, {text: models[text] for fixture in some for text in (fixture.first, fixture.second)})
        )
    groups = run_tasks(_play_group, [(*task, keep) for task in tasks], parallel, f"{len(fixtures)} games")
    return [played for some in groups for played in some]


def _play_group(
    board: Board, fixtures: list[Fixture], models: Mapping[str, str], keep: Path | None
) -> list[PlayedGame]:
    path = None
    if keep is not None:
        identity = json.dumps([asdict(board), [asdict(fixture) for fixture in fixtures], models], sort_keys=True)
        path = keep / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.json"
        if path.exists():
            return [PlayedGame(tuple(actions), winner, illegal) for actions, winner, illegal in read_json(path)]
    players = {text: _seated(board.game, text, model) for text, model in models.items()}
    played = play_seated(
        get_game(board.game),
        [(players[one.first], players[one.second]) for one in fixtures],
        [one.opening for one in fixtures],
        [np.random.default_rng(one.seed) for one in fixtures],
        start_state(board.game, board.size, board.variant),
    )
    if path is not None:
        write_json(path, [[list(game.actions), game.winner, game.illegal] for game in played])
    return played


SEATS = 16
"""Players that a process keeps, so that it loads a model once and not for every group."""
_SEATED: dict[tuple[str, str, str], Player] = {}


def _seated(game: str, text: str, model: str) -> Player:
    """The player, kept for the next group; a model file that has changed since is read anew."""
    key = (game, text, model)
    if key not in _SEATED:
        while len(_SEATED) >= SEATS:
            _SEATED.pop(next(iter(_SEATED)))
        _SEATED[key] = make_player(game, text)
    return _SEATED[key]


def _model_digest(text: str) -> str:
    """Of the file that a player's text names, empty where it names none."""
    path: Any = PlayerText.parse(text).value
    return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path and Path(path).is_file() else ""

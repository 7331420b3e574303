"""Players of Gomoku that take no time: ``random``, ``zero:FILE`` as good as the number in the file, and a judge."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from pipeline_src.arena import runner
from pipeline_src.games import gomoku
from pipeline_src.players import GOMOKU as PLAYERS
from pipeline_src.players.player import Options, Player
from pipeline_src.players.searching import SearchPlayer
from pipeline_src.search.limits import Limit, SearchResult
from pipeline_src.systems import gomoku_zero

STUBS = {
    "random": "tests.arena.gomoku_stubs:random_player",
    "judge": "tests.arena.gomoku_stubs:judge_player",
}
CALLS = []
"""Number of positions of each call of a player."""


@pytest.fixture
def stubs(monkeypatch):
    """The stubs in the registry; in this process alone, so with one worker."""
    for name, maker in STUBS.items():
        monkeypatch.setitem(PLAYERS, name, maker)
    monkeypatch.setitem(gomoku_zero.PLAYERS, "gomoku", {"zero": "tests.arena.gomoku_stubs:zero_player"})
    CALLS.clear()
    runner.dismiss()
    yield
    runner.dismiss()


class Careful(Player):
    """Plays a winning move with a chance that is its skill, else any."""

    def __init__(self, skill):
        self.skill = skill

    def choose(self, positions):
        CALLS.append(len(positions))
        return [self._choose(position) for position in positions]

    def _choose(self, position):
        actions = gomoku.legal_actions(position.state)
        if position.rng.random() < self.skill:
            for action in actions:
                if gomoku.winner(gomoku.play(position.state, int(action))) in ("first", "second"):
                    return int(action)
        return int(position.rng.choice(actions))


class RandomOptions(Options):
    strength: float = 0.0


def random_player(options: RandomOptions):
    return Careful(options.strength)


class ZeroOptions(Options):
    VALUE = "model"

    model: str
    simulations: int = 1
    search: Literal["puct", "gumbel"]
    leaves: int = 1
    chunk: int = 1


def zero_player(options: ZeroOptions):
    return Careful(float(Path(options.model).read_text()))


class _Judge:
    """The difference of the stones' rows, first side's minus second's, to the side to move."""

    def needs(self, state):
        return []

    def search(self, state, limit, seed=0, on_info=None):
        rows = np.arange(state.board.shape[0])
        value = float(((state.board == 1).sum(1) * rows).sum() - ((state.board == 2).sum(1) * rows).sum())
        value = value if gomoku.to_play(state) == 0 else -value
        return SearchResult(int(gomoku.legal_actions(state)[0]), value, 1, 1, (), 0.0)

    def stop(self):
        pass


def judge_player(options: Options):
    return SearchPlayer(_Judge(), Limit(nodes=1))

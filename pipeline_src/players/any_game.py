"""Players of a game in one file: nothing but its kernels, and a net that was learnt for it."""

import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.games import kernels
from pipeline_src.jit import Need, njit
from pipeline_src.players.player import Bounds, Position, Thought
from pipeline_src.players.searching import Nodes, SearchPlayer
from pipeline_src.project.params import NonNegative
from pipeline_src.search.grid_net import GridEvaluator, read_grid_net
from pipeline_src.search.limits import Limit, OnInfo, SearchResult
from pipeline_src.search.mcts.playouts import C, PlainUct, playout
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct

PLAYERS = {
    "random": "pipeline_src.players.searching:RandomPlayer",
    "mcts": "pipeline_src.players.any_game:mcts",
    "net": "pipeline_src.players.any_game:NetPlayer",
}
LONGEST = 4096  # Plies of a playout; a longer one is a draw
FORMULA = PuctOptions(c=1.5, caution=1.0, solve=True)
TREE = 1 << 16  # Nodes of a tree without a limit of them


@njit(cache=True, allocates=True)
def _playout(state: Any, actions: npt.NDArray[np.int32], random: npt.NDArray[np.uint64]) -> float:
    """See `search.mcts.playouts.playout`: plays in the state itself, and takes all back."""
    played, plies, side = np.empty(LONGEST, np.int32), 0, kernels.to_play(state)
    over, result = kernels.outcome(state)
    while not over and plies < LONGEST:
        played[plies] = actions[kernels.below(random, kernels.write_actions(state, actions))]
        kernels.play(state, played[plies])
        plies += 1
        over, result = kernels.outcome(state)
    if kernels.to_play(state) != side:
        result = -result
    while plies:
        plies -= 1
        kernels.take_back(state, played[plies])
    return result


class AnyUct(PlainUct):
    """Plain UCT of any game."""

    def needs(self, state: Any) -> list[Need]:
        """See `Searcher`."""
        _register(state)
        return super().needs(state)

    def search(self, state: Any, limit: Limit, seed: int = 0, on_info: OnInfo | None = None) -> SearchResult:
        """See `Searcher`."""
        _register(state)
        return super().search(state, limit, seed, on_info)


def _register(state: Any) -> None:
    if type(state) not in playout.registry:
        kernels.implement(playout, type(state), _playout)


class MctsOptions(Nodes):
    """Monte Carlo tree search with random playouts; 1,000 of them a move if no limit is given."""

    EXAMPLE = "mcts:playouts=500,c=0.8"
    ALIASES: ClassVar = {"playouts": "nodes"}
    DEFAULT = Limit(nodes=1000)

    c: NonNegative = C
    """Weight of exploration, for win rates in 0..1."""


def mcts(options: MctsOptions) -> SearchPlayer:
    """The player ``mcts``."""
    return SearchPlayer(AnyUct(options.c), options.limit)


class NetOptions(Nodes):
    """Tree search with a net that `zugwerk learn` made; 200 simulations a move if no limit is given."""

    EXAMPLE = "net:my_game/net,simulations=400"
    VALUE = "model"
    ALIASES: ClassVar = {"simulations": "nodes"}
    DEFAULT = Limit(nodes=200)

    model: str
    """The net's file."""


class NetPlayer(SearchPlayer):
    """See `NetOptions`. The net is read when the first position tells the game."""

    searcher: Puct

    def __init__(self, options: NetOptions) -> None:
        """Nothing is read yet.

        Raises:
            ZugwerkError: no file there.
        """
        self.path, self.limit = Path(options.model), options.limit
        if not self.path.is_file():
            raise ZugwerkError(f"{self.path}: no such net; `zugwerk learn GAME` makes one")
        self._kind: type | None = None
        self._net: GridEvaluator

    def check(self, state: Any) -> None:
        """See `Player.check`.

        Raises:
            ZugwerkError: a damaged net, one of another game, of other rules or of another board.
        """
        self._open(state).inside(state)

    def needs(self, start: Any) -> list[Need]:
        """See `Player.needs`."""
        net = self._open(start)
        if start.board.shape != (net.shape.height, net.shape.width):
            return []
        return super().needs(start)

    def _search(self, position: Position, bounds: Bounds, on_info: OnInfo | None = None) -> Thought:
        self._open(position.state)
        return super()._search(position, bounds, on_info)

    def _open(self, state: Any) -> GridEvaluator:
        if self._kind is not type(state):
            game: Any = sys.modules[type(state).__module__]
            net, _ = read_grid_net(self.path, game.NAME, getattr(game, "DIGEST", ""))
            tree = TREE if self.limit.nodes is None else self.limit.nodes + 2
            self.searcher, self._net, self._kind = Puct(net, FORMULA, tree), net, type(state)
        return self._net

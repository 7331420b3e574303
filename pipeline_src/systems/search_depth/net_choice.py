"""A net that says how deep to search: `NetDepth`."""

from pathlib import Path

from pipeline_src.games.amazons.board import EMPTY, AmazonsState
from pipeline_src.jit.needs import Need
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.systems.search_depth.choices import Choice, Chooser
from pipeline_src.systems.search_depth.chooser import load_depth_model
from pipeline_src.systems.search_depth.square_layers import SquareSearch


class NetDepth(Chooser):
    """Asks a net, which reads how deep a small tree search got through each square, and the clock."""

    def __init__(
        self,
        path: Path | str,
        simulations: int,
        plies: int,
        forward_nodes: int,
        confidence: float | None = None,
        shares: float = 1.0,
    ) -> None:
        """Load the model.

        Args:
            path: of the model.
            simulations: of the search that fills its input; as in the positions that it learnt from.
            plies: likewise, see `SquareSearch`.
            forward_nodes: what a forward pass is charged.
            confidence: see `load_depth_model`.
            shares: likewise.

        Raises:
            ZugwerkError: no such model, or a damaged one.
        """
        self.model = load_depth_model(path, confidence=confidence, shares=shares)
        self.squares = SquareSearch(make_evaluator("amazons"), simulations, plies)
        self.forward_nodes = forward_nodes

    def choose(self, state: AmazonsState, legal: int, used: float, seed: int) -> Choice:
        """See `Chooser`."""
        layers, nodes = self.squares.search(state, seed)
        return Choice(self.model.choose(layers, used, state, legal), nodes + self.forward_nodes)

    def needs(self, state: AmazonsState) -> list[Need]:
        """See `Chooser`."""
        return self.squares.needs(state)

    def most_nodes(self, state: AmazonsState) -> int:
        """See `Chooser`: each turn fills a square, so no simulation has more of them than there are empty ones."""
        return self.squares.simulations * (2 * int((state.board == EMPTY).sum()) + 1) + self.forward_nodes

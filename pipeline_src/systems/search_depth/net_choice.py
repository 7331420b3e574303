"""`NetDepth`: a net as the chooser of the search depth."""

from pathlib import Path

from pipeline_src.games.amazons.board import EMPTY, AmazonsState
from pipeline_src.jit.needs import Need
from pipeline_src.players.amazons.evaluator import make_evaluator
from pipeline_src.systems.search_depth.choices import Choice, Chooser
from pipeline_src.systems.search_depth.chooser import load_depth_model
from pipeline_src.systems.search_depth.square_layers import SquareSearch


class NetDepth(Chooser):
    """Chooses the depth by a net, from a small tree search through each square and the clock."""

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
            path: file of the model.
            simulations: simulations of the search that fills its input, the same as in its training positions.
            plies: random plies of these simulations, see `SquareSearch`.
            forward_nodes: nodes charged for a forward pass.
            confidence: see `load_depth_model`.
            shares: see `load_depth_model`.

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

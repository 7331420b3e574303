"""``zero`` with a search for forced wins at each leaf of its tree; a limit of simulations is for the net alone.

A module of its own, so that self-play and the matches of its models do not depend on these searches.
"""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from pipeline_src.games.gomoku import GomokuState, format_variant, parse_variant
from pipeline_src.players.player import OneBoard, Player
from pipeline_src.project.params import NonNegative
from pipeline_src.search.gomoku.lines import LINES
from pipeline_src.search.gomoku.proving import ProvingEvaluator, TreeThreats
from pipeline_src.search.gomoku.solver import NetSolver
from pipeline_src.search.mcts.puct_trees import EvaluateBatch
from pipeline_src.systems.gomoku_zero import ModelInfo
from pipeline_src.systems.gomoku_zero.player import ZeroOptions, open_player

Number = Annotated[int, Field(ge=0, lt=1 << 30)]


class ProvingOptions(ZeroOptions):
    """Monte Carlo tree search guided by a self-play net, on the board and by the rules of the net.

    At each leaf of the tree, a search for wins by fours replaces the net's value by a certain one, and where the other
    side threatens to win, only moves that meet the threat are tried. With ``threats``, much visited nodes of the tree
    get a search by threats. With a limit of ``simulations`` the net plays alone, unless ``fours``, ``solver`` or
    ``threats`` is given. The default limit is 300 simulations per move.
    """

    EXAMPLE = "zero:artifacts/models/gomoku/10/best.pt,movetime=300"
    VARIANTS = ("zero:simulations=300", "zero:search=gumbel", "zero:solver=200")

    caution: NonNegative = 1.0
    """The move played is the one with the greatest Q - caution / sqrt(visits); 0 is the most visited one."""
    fours: Number = 40
    """Number of positions of each search by fours; 0 is no search, as on boards with lines of more than five."""
    solver: Number = 0
    """Number of positions of each search by fours and threes, which takes nearly all of the time; 0 is no search."""
    threats: NonNegative = 0.0
    """Number of positions of searches by threats for each visit of a move that the tree tries; deeper nodes have a
    tenth. What they prove is certain in the tree, and kept from move to move on time. 0 is no search."""

    @model_validator(mode="after")
    def _threats_have_a_proving_tree(self) -> Self:
        if self.threats and (self.search != "puct" or self.temperature or not (self.fours or self.solver)):
            raise ValueError("threats needs search=puct, no temperature, and fours or solver above 0")
        return self


def zero_player(options: ProvingOptions) -> Player:
    """The player ``zero``.

    Raises:
        ZugwerkError: no model there, or a backend that cannot run it.
    """
    if options.fours == 0 and options.solver == 0:
        return open_player(options)
    given = not options.model_fields_set.isdisjoint({"fours", "solver"})

    def around(evaluate: EvaluateBatch, info: ModelInfo) -> tuple[EvaluateBatch, TreeThreats | None]:
        if not given and parse_variant(info.variant)[0] not in LINES:
            return evaluate, None
        proving = ProvingEvaluator(evaluate, max(options.fours, options.solver), options.solver)
        return proving, TreeThreats(options.threats) if options.threats else None

    return open_player(options, around)


def packaged_solver(threads: int = 1) -> NetSolver:
    """Return a solver of forced wins with the package's nets, for boards and rules that have one."""
    player: Any = zero_player(ProvingOptions(movetime=1.0))

    def evaluator_for(state: GomokuState) -> EvaluateBatch | None:
        height, width = state.board.shape
        if OneBoard(height, width, format_variant(state)) not in player.boards:
            return None
        player.ready(state)
        evaluate: EvaluateBatch = player.player_for(state).puct.evaluate_batch
        return evaluate

    return NetSolver(evaluator_for, threads)

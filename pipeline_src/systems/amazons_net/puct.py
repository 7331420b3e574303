"""PUCT guided by the Amazons nets as a player."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import AmazonsState, initial_state
from pipeline_src.players.packaged import model_path
from pipeline_src.players.player import Player, PlayerText, Position
from pipeline_src.players.searching import read_limit, with_nodes
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import Puct
from pipeline_src.search.mcts.puct_forest import PuctOptions
from pipeline_src.systems.amazons_net.evaluator import AmazonsNetEvaluator, Floats, Ints
from pipeline_src.systems.amazons_net.forward import NetsForward
from pipeline_src.systems.amazons_net.player import BATCH, PACKAGED, NetsPlayer

DEFAULT = Limit(nodes=200)
TREE = 1 << 14
"""Nodes of a tree where only time limits the search."""


class PuctPlayer(Player):
    """Searches all positions in lock step, so that the net sees them as one batch; on time, one after the other."""

    limit: Limit

    def __init__(self, searcher: Puct, limit: Limit, nets: NetsForward) -> None:
        """``nets`` are those that the searcher asks."""
        self.searcher, self.limit, self.nets = searcher, limit, nets

    def check(self, state: Any) -> None:
        """See `Player.check`."""
        self.nets.check_board(*state.board.shape)

    def choose(self, positions: Sequence[Position]) -> list[int]:
        """See `Player.choose`; nothing here is random."""
        states = [position.state for position in positions]
        if self.limit.movetime_ms is None:
            return [found.action for found in self.searcher.search_many(states, self.limit)]
        return [self.searcher.search(state, self.limit).action for state in states]


def amazons_puct(text: PlayerText) -> PuctPlayer:
    """``puct[:MODEL][,simulations=N,movetime=MS,batch=N,leaves=N,share=...,c=...,c_base=...,fpu=...]``.

    ``simulations`` (or ``nodes``) and ``movetime`` limit a turn; ``batch`` is the size that the net's batches are
    padded to; ``leaves`` of one tree go into a batch; ``share`` of the limit is spent before the amazon's move is
    settled, the rest on the arrow; the others are those of `PuctOptions`. Without a MODEL it is the net that comes with
    the package.

    Raises:
        ZugwerkError: no such file, an unknown option, or one out of its range.
    """
    text = with_nodes(text, "simulations")
    nan, formula = math.nan, PuctOptions()
    numbers = text.numbers(
        depth=nan,
        nodes=nan,
        movetime=nan,
        batch=BATCH,
        leaves=1,
        share=0.5,
        c=formula.c,
        c_base=formula.c_base,
        fpu=formula.fpu,
    )
    limit = read_limit(text, numbers, DEFAULT)
    if limit.depth is not None:
        raise ZugwerkError(f"player '{text.name}' cannot be limited by depth; give simulations or movetime")
    for name in ("batch", "leaves"):
        if not (numbers[name] >= 1 and numbers[name] == int(numbers[name])):
            raise ZugwerkError(f"player '{text.name}': {name} must be whole and at least 1, not {numbers[name]}")
    options = PuctOptions(c=numbers["c"], c_base=numbers["c_base"], fpu=numbers["fpu"])
    nets = NetsPlayer.load(model_path(text, PACKAGED), int(numbers["batch"])).nets
    tree = TREE if limit.nodes is None else limit.nodes + 2
    Puct(_even, options, nodes=8).search(initial_state(6), Limit(nodes=2))  # compiled before any clock runs
    evaluator = AmazonsNetEvaluator(nets)
    return PuctPlayer(Puct(evaluator, options, tree, int(numbers["leaves"]), numbers["share"]), limit, nets)


def _even(_: AmazonsState, steps: Ints, counts: Ints) -> tuple[Floats, Floats]:
    """In place of a net, where no answer is looked at."""
    return np.full(steps.shape, 1 / steps.shape[1], np.float32), np.zeros(len(counts), np.float32)

"""Amazons-Net as a player: two forward passes a turn (patent CN 111330255 B, 'move generation')."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import COLOUR, AmazonsState, to_fen, to_play
from pipeline_src.games.amazons.turns import has_turn, move
from pipeline_src.nets.amazons_net import AmazonsNets, load_nets
from pipeline_src.nets.heads import gather_rows, masked_log_softmax
from pipeline_src.players.player import PlayerText
from pipeline_src.samples.encode import Encoded, encode


class NetsTurn(NamedTuple):
    """A turn and what the nets expect of it."""

    action: int
    win_rate: float
    """The mover's chance to win as Arrow-Net sees it, knowing the amazon's move."""
    win_rate_move_net: float
    """The same before the move, by Move-Net."""


class NetsPlayer:
    """Best legal (from, to) of Move-Net, then best legal arrow of Arrow-Net on the position after that move."""

    def __init__(self, nets: AmazonsNets, batch: int = 64) -> None:
        """``batch`` is the size every forward pass is padded to: a position's answer may not depend on its company."""
        self.nets = nets.eval()
        self.batch = batch

    @classmethod
    def load(cls, path: str, batch: int = 64) -> "NetsPlayer":
        """The player of a model file.

        Raises:
            ZugwerkError: no path, or no model there.
        """
        if not path:
            raise ZugwerkError("player 'nets' needs a model: nets:artifacts/models/amazons/cross_entropy/nets.pt")
        return cls(load_nets(Path(path)), batch)

    def choose(self, states: Sequence[AmazonsState], rngs: Sequence[np.random.Generator]) -> list[int]:
        """See `Player.choose`; nothing here is random."""
        return [turn.action for turn in self.turns(states)]

    def turns(self, states: Sequence[AmazonsState]) -> list[NetsTurn]:
        """The nets' turn in each position.

        Raises:
            ZugwerkError: a finished game, or a board or number of amazons that the nets were not made for.
        """
        found: list[NetsTurn] = []
        for at in range(0, len(states), self.batch):
            found += self._turns(states[at : at + self.batch])
        return found

    def _turns(self, states: Sequence[AmazonsState]) -> list[NetsTurn]:
        for state in states:
            if not has_turn(state):
                raise ZugwerkError(f"the game is over: {to_fen(state)} has no turn for the side to move")
        squares = states[0].board.size
        before = self._encode(states, [-1] * len(states))
        value, logits = self._forward(before, "move")
        best = logits.reshape(len(states), -1).argmax(axis=1)
        starts = before.amazons[np.arange(len(states)), best // squares]
        targets = best % squares
        moved = [move(s, int(a), int(b)) for s, a, b in zip(states, starts, targets, strict=True)]
        value_after, arrows = self._forward(self._encode(moved, targets.tolist()), "arrow")
        arrow = arrows.argmax(axis=1)
        actions = (starts.astype(np.int64) * squares + targets) * squares + arrow
        rows = zip(actions, value_after, value, strict=True)
        return [NetsTurn(int(a), float(w), float(m)) for a, w, m in rows]

    def _encode(self, states: Sequence[AmazonsState], moved: list[int]) -> Encoded:
        boards = np.stack([state.board[::-1] for state in states])  # the nets' row 0 is the top rank
        movers = np.array([COLOUR[to_play(state)] for state in states], dtype=np.int8)
        config = self.nets.config
        return encode(
            boards,
            movers,
            np.array(moved, dtype=np.int16),
            mover_relative=config.mover_relative,
            moved_first=config.moved_first,
        )

    @torch.inference_mode()
    def _forward(self, encoded: Encoded, which: str) -> tuple[np.ndarray, np.ndarray]:
        """(win rate [B], masked log-probabilities [B, 4, N] or [B, N]) of the rows that were encoded."""
        n = len(encoded.features)
        features = np.zeros((self.batch, *encoded.features.shape[1:]), np.float32)
        features[:n] = encoded.features
        legal, amazons = torch.from_numpy(encoded.legal), torch.from_numpy(encoded.amazons)
        value, logits = getattr(self.nets, which)(torch.from_numpy(features))
        value, logits = value[:n].sigmoid().float().numpy(), logits[:n].float()
        if which == "move":
            return value, masked_log_softmax(gather_rows(logits, amazons), legal).numpy()
        return value, masked_log_softmax(logits, legal[:, 0]).numpy()


def nets_player(text: PlayerText) -> NetsPlayer:
    """``nets:MODEL``.

    Raises:
        ZugwerkError: no path, no model there, or an option.
    """
    text.numbers()
    return NetsPlayer.load(text.value)

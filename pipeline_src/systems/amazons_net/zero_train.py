"""Batches of the Amazons' self-play for training: kinds of squares, and who owns them in the end, under symmetries."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from pipeline_src.games import amazons, kernels
from pipeline_src.games.amazons import ARROW, COLOUR, AmazonsState
from pipeline_src.games.amazons import EMPTY as FREE
from pipeline_src.games.kernels import row, stack
from pipeline_src.jit import njit
from pipeline_src.learning.symmetry import square_maps
from pipeline_src.search.amazons.endgame import write_owners
from pipeline_src.search.amazons.ray_keys import EMPTY, OTHER, OWN, SHOOTS
from pipeline_src.selfplay import train
from pipeline_src.selfplay.window import SelfPlayGames, replay
from pipeline_src.systems.amazons_net.encode import SHOT_AT
from pipeline_src.systems.amazons_net.params import AmazonsZeroTrain

ILLEGAL = -1e9  # Logit of what is no step


@njit(cache=True)
def _cut(
    states: AmazonsState,
    rows: npt.NDArray[np.int64],
    which: npt.NDArray[np.int64],
    maps: npt.NDArray[np.int16],
    of_first: npt.NDArray[np.int8],
    room: npt.NDArray[np.int32],
    kinds: npt.NDArray[np.float32],
    places: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    owners: npt.NDArray[np.float32],
) -> None:
    """Fill ``kinds`` [B, 1, H, W], row 0 = the top rank, ``places`` [B, S], ``counts`` [B] and ``owners`` [B, N].

    See `Batch`; ``of_first`` [B, N] has what `_owners` says of each position's game.
    """
    height, width = kinds.shape[2:]
    squares = height * width
    for b in range(len(rows)):
        state, moved_to = row(states, rows[b]), maps[which[b]]
        cells, own = state.board.flat, COLOUR[state.turn[0]]
        for s in range(squares):
            code, to = cells[s], int(moved_to[s])
            kind = OTHER
            if code == FREE:
                kind = EMPTY
            elif code == ARROW:
                kind = SHOT_AT
            elif s == state.turn[1]:
                kind = SHOOTS
            elif code == own:
                kind = OWN
            kinds[b, 0, height - 1 - to // width, to % width] = kind
            owners[b, to] = -of_first[b, s] if state.turn[0] else of_first[b, s]
        counts[b] = kernels.write_steps(state, room)
        for i in range(counts[b]):
            start, to = room[i] // squares, int(moved_to[room[i] % squares])
            if state.turn[1] < 0:
                before = 0
                for other in state.amazons[state.turn[0]]:
                    before += int(other >= 0 and moved_to[other] < moved_to[start])
                to += before * squares
            places[b, i] = to


@njit(cache=True)
def _owners(
    start: AmazonsState,
    state: AmazonsState,
    steps: npt.NDArray[np.int16],
    offsets: npt.NDArray[np.int64],
    owners: npt.NDArray[np.int8],
) -> None:
    """Fill ``owners`` [G, N]: whose squares are at the end of a game (`write_owners`), 1 first side, -1 second."""
    for g in range(len(owners)):
        kernels.copy_into(start, state)
        for step in steps[offsets[g] : offsets[g + 1]]:
            kernels.play_step(state, int(step))
        write_owners(state, owners[g])
        sign = 1 - 2 * kernels.to_play(state)
        for s in range(owners.shape[1]):
            owners[g, s] *= sign


class Batch(NamedTuple):
    """B positions, of which the first M are before a move and the others before an arrow."""

    kinds: Tensor  # float32 [B, 1, H, W], as `encode_kinds` makes them
    moves: int  # M
    places: Tensor  # int64 [B, S]: where the net's policy has the legal steps, of a move by amazon and square
    legal: Tensor  # bool [B, S]
    policy: Tensor  # float32 [B, S]: the search's
    value: Tensor  # float32 [B]
    owners: Tensor  # float32 [B, N]: at the end of the game, 1 the side to move's, -1 the other's, 0 nobody's


class Batches(train.Batches):
    """See `selfplay.train.Batches`."""

    value: Tensor
    """float32 [R]."""

    def __init__(self, games: SelfPlayGames, params: AmazonsZeroTrain, *, seed: int, count: int) -> None:
        """See `selfplay.train.Batches`.

        Raises:
            ZugwerkError: there are no positions, or a step is not legal.
        """
        found = replay(games, amazons)
        super().__init__(found.generation, params, seed=seed, count=count)
        self._states, self._policy, self._value = found.states, found.policy, found.value
        self._maps, self._weight = square_maps(games.size), params.owners
        start, owners = amazons.initial_state(games.size, games.variant), np.empty((len(games), games.size**2), np.int8)
        _owners(start, row(stack(start, 1), 0), games.actions, games.offsets, owners)
        self._owners = np.repeat(owners, games.searched, 0)
        self.register_buffer("value", torch.from_numpy(found.value), persistent=False)

    def cut(self, rows: npt.NDArray[np.int64], which: npt.NDArray[np.int64]) -> Batch:
        """See `selfplay.train.Batches`."""
        shoots = self._states.turn[rows, 1] >= 0
        order = np.argsort(shoots, kind="stable")
        rows, which, size = rows[order], which[order], self._states.board.shape[1]
        kinds, counts = np.empty((len(rows), 1, size, size), np.float32), np.empty(len(rows), np.int64)
        most = self._policy.shape[1]
        places, owners = np.zeros((len(rows), most), np.int64), np.empty((len(rows), size**2), np.float32)
        room, of_first = np.empty(most, np.int32), self._owners[rows]
        _cut(self._states, rows, which, self._maps, of_first, room, kinds, places, counts, owners)
        most = int(counts.max(initial=1))
        legal = np.arange(most) < counts[:, None]
        arrays = places[:, :most], legal, self._policy[rows, :most], self._value[rows], owners
        tensors = (torch.from_numpy(np.ascontiguousarray(array)).to(self.value.device) for array in arrays)
        return Batch(torch.from_numpy(kinds).to(self.value.device), int((~shoots).sum()), *tensors)

    def answer(self, net: Any, batch: Batch) -> train.Answer:
        """See `selfplay.train.Batches`."""
        kinds = batch.kinds[: batch.moves], batch.kinds[batch.moves :]
        (move_value, moves), (arrow_value, arrows), owners = net.with_owners(*kinds)
        found = (
            logits.flatten(1).gather(1, places)
            for logits, places in ((moves, batch.places[: batch.moves]), (arrows, batch.places[batch.moves :]))
        )
        log_p = log_softmax(torch.cat(list(found)).masked_fill(~batch.legal, ILLEGAL), dim=1)
        value = torch.cat([move_value, arrow_value]).mul(0.5).tanh()
        further = self._weight * (batch.owners - owners).square().mean(1) if self._weight else None
        return train.Answer(log_p, batch.policy, value, batch.value, further)

    def arrays(self) -> Iterable[npt.NDArray[Any]]:
        """See `selfplay.train.Batches`; boards and policies identify the games."""
        return self._states.board, self._policy, self._value, self._owners, self.generation

"""Replay of records into samples: our kernel, canonical hashes included, beside a plain-Python replay without them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bench.measure import medians, row, seconds
from pipeline_src.games.amazons.board import COLOUR, EMPTY, AmazonsState, initial_state
from pipeline_src.games.amazons.moves import move_amazon, reach, shoot, write_moves
from pipeline_src.jit import njit
from pipeline_src.systems.amazons_net import schema
from pipeline_src.systems.amazons_net.archive import Games
from pipeline_src.systems.amazons_net.replay import Replayer

GAMES = 100


@njit(cache=True, allocates=True)
def _play(start: AmazonsState, numbers: npt.NDArray[np.uint32], actions: npt.NDArray[np.int32]) -> int:
    """Play one game by ``numbers``, two a turn, into ``actions``; return its plies."""
    state = AmazonsState(
        start.board.copy(), start.lines.copy(), start.amazons.copy(), start.turn.copy(), start.hash.copy()
    )
    squares, width, plies = state.board.size, state.board.shape[1], 0
    options = np.empty(state.amazons.shape[1] * 36, np.int32)
    while True:
        count = write_moves(state, options)
        if count == 0:
            return plies
        move = options[numbers[2 * plies] % count]
        move_amazon(state, move // squares, move % squares)
        count = reach(state.lines, width, move % squares, options, 0, 0)
        arrow = options[numbers[2 * plies + 1] % count]
        shoot(state, arrow)
        actions[plies] = move * squares + arrow
        plies += 1


def random_games(count: int, seed: int = 0, size: int = 10) -> Games:
    """``count`` games of uniformly random amazon moves and arrows from the standard start, the same for a seed."""
    start, rng = initial_state(size), np.random.default_rng(seed)
    actions = np.empty(size * size, np.int32)
    played = []
    for _ in range(count):
        plies = _play(start, rng.integers(0, 2**32, 2 * size * size, np.uint32), actions)
        played.append(actions[:plies].copy())
    lengths = np.array([len(game) for game in played])
    return Games(
        gid=np.arange(count, dtype=np.int64),
        start=np.zeros(count, np.int8),
        first_won=lengths % 2 == 1,  # who made the last turn has won
        teachers=np.ones((count, 2), np.bool_),
        offsets=np.concatenate(([0], np.cumsum(lengths))),
        actions=np.concatenate(played),
    )


def plain_samples(gid: int, actions: list[int], first_won: bool, size: int = 10) -> list[dict[str, Any]]:
    """The samples of one game, by lists and dicts."""
    board = initial_state(size).board[::-1].tolist()
    samples = []
    for ply, action in enumerate(actions):
        rest, arrow = divmod(action, size * size)
        x, y = zip(*((s % size, size - 1 - s // size) for s in (*divmod(rest, size * size), arrow)), strict=True)
        mover = COLOUR[ply % 2]
        of_game = {"mover": mover, "result": int(first_won == (ply % 2 == 0)), "gid": gid, "ply": ply, "teacher": 1}
        no = [-1, -1]
        labels = {"from_": [x[0], y[0]], "to": [x[1], y[1]], "arrow": no, "moved": no}
        samples.append({"board": [line[:] for line in board], "type": schema.AMAZON, **labels, **of_game})
        board[y[0]][x[0]], board[y[1]][x[1]] = EMPTY, mover
        labels = {"from_": no, "to": no, "arrow": [x[2], y[2]], "moved": [x[1], y[1]]}
        samples.append({"board": [line[:] for line in board], "type": schema.ARROW, **labels, **of_game})
        board[y[2]][x[2]] = 0
    return samples


def measure() -> list[dict[str, Any]]:
    """``amazons_samples_per_s`` on the same hundred random games, one core."""
    games = random_games(GAMES)
    replayer, which = Replayer(games, 10, ["standard"]), np.arange(GAMES)
    lists = [games.actions[games.offsets[g] : games.offsets[g + 1]].tolist() for g in which]

    def plain() -> list[dict[str, Any]]:
        won = games.first_won.tolist()
        return [sample for g, actions in enumerate(lists) for sample in plain_samples(g, actions, won[g])]

    samples, slow = replayer.replay(which)[0], plain()
    arrays: dict[str, npt.NDArray[Any]] = samples._asdict()
    for name, values in arrays.items():
        assert values.tolist() == [sample[name] for sample in slow], name
    rates = medians(lambda: len(slow) / seconds(lambda: replayer.replay(which)), lambda: len(slow) / seconds(plain), 15)
    return [row("amazons_samples_per_s", *rates, "plain-Python replay", "samples/s")]

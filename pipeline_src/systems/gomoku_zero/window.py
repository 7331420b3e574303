"""Self-play games with the search's policy at each ply: the replay window on disk, and its training positions.

A window is a folder of plain .npy arrays, one for each of `ARRAYS`, with a manifest that has their hashes. It holds
whole games, the oldest first; a new one is the last one with new games behind and the oldest dropped.
"""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.games import gomoku, kernels
from pipeline_src.games.gomoku import GomokuState, legal
from pipeline_src.jit import njit
from pipeline_src.learning.arrays import ArrayStream
from pipeline_src.systems.gomoku_zero.backends import plane_count, zero_planes

MANIFEST = "manifest.json"
FORMAT, VERSION = "zugwerk self-play window", 1
ARRAYS: dict[str, type[np.generic]] = {
    "actions": np.int16,
    "offsets": np.int64,
    "winner": np.int8,
    "searched_from": np.int16,
    "generation": np.int16,
    "policy": np.float16,
}


@dataclass(frozen=True)
class SelfPlayGames:
    """G games of one board size and variant, the oldest first, P plies long (each its own P), N = size * size cells.

    Game g's actions are ``actions[offsets[g]:offsets[g + 1]]``. R is the number of plies with a target, all those from
    ``searched_from`` on, by game and then by ply.
    """

    size: int  # Side of the board
    variant: str  # As `gomoku.initial_state` takes it
    actions: npt.NDArray[np.int16]  # [sum of P], cells
    offsets: npt.NDArray[np.int64]  # [G + 1]
    winner: npt.NDArray[np.int8]  # [G]: 1 the first player, -1 the second, 0 a draw
    searched_from: npt.NDArray[np.int16]  # [G]: the plies before this one are opening stones, which no search chose
    generation: npt.NDArray[np.int16]
    """[G]: which generation played the game; of generations with several rounds, which round, counted through all."""
    policy: npt.NDArray[np.float16]  # [R, N]: the search's distribution over the cells

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def searched(self) -> npt.NDArray[np.int64]:
        """Plies of each game that have a target, [G]."""
        return np.asarray(np.maximum(np.diff(self.offsets) - self.searched_from, 0), np.int64)

    def last(self, count: int) -> "SelfPlayGames":
        """The newest ``count`` games."""
        first = len(self) - count
        rows = len(self.policy) - int(self.searched[first:].sum())
        return SelfPlayGames(
            self.size,
            self.variant,
            self.actions[self.offsets[first] :],
            self.offsets[first:] - self.offsets[first],
            self.winner[first:],
            self.searched_from[first:],
            self.generation[first:],
            self.policy[rows:],
        )


def make_games(
    size: int,
    variant: str,
    actions: Sequence[Sequence[int] | npt.NDArray[np.integer]],
    winners: Sequence[int],
    policies: Sequence[npt.NDArray[np.floating]],
    *,
    generation: int,
    searched_from: Sequence[int] | int = 0,
) -> SelfPlayGames:
    """Games of one generation from one list a game.

    Args:
        size: side of the board.
        variant: as `gomoku.initial_state` takes it.
        actions: of each game, its cells in order.
        winners: of each game, 1 the first player, -1 the second, 0 a draw.
        policies: for each game, float [P - searched_from, N]: the search's policy at each ply from ``searched_from``
            on; kept as float16.
        generation: that played them.
        searched_from: of each game or of all, how many opening stones it has.

    Raises:
        ZugwerkError: the lists do not fit each other.
    """
    count = len(actions)
    openings = np.broadcast_to(np.asarray(searched_from, np.int16), (count,)).copy()
    lengths = np.array([len(game) for game in actions], np.int64)
    rows = [np.asarray(policy, np.float16).reshape(-1, size * size) for policy in policies]
    games = SelfPlayGames(
        size,
        variant,
        _joined([np.asarray(game, np.int16) for game in actions], np.empty(0, np.int16)),
        np.concatenate(([0], np.cumsum(lengths))),
        np.asarray(winners, np.int8),
        openings,
        np.full(count, generation, np.int16),
        _joined(rows, np.empty((0, size * size), np.float16)),
    )
    wrong = _misfit(games)
    if wrong or [len(row) for row in rows] != games.searched.tolist():
        raise ZugwerkError(
            f"self-play of generation {generation}: {wrong or 'a game does not have one policy for each ply'}"
        )
    return games


def extend_window(previous: SelfPlayGames | None, new: SelfPlayGames, keep_positions: int) -> SelfPlayGames:
    """New games behind those of ``previous``; of all these the newest whole games with ``keep_positions`` targets.

    At least the newest game stays, however long it is.

    Raises:
        ZugwerkError: the two are of different boards or variants.
    """
    if previous is None:
        games = new
    elif (previous.size, previous.variant) != (new.size, new.variant):
        boards = [f"{g.variant} on {g.size}x{g.size}" for g in (previous, new)]
        raise ZugwerkError(f"games of {boards[1]} cannot follow a window of {boards[0]}; start with a new first one")
    else:
        both = {name: np.concatenate((getattr(previous, name), getattr(new, name))) for name in ARRAYS}
        both["offsets"] = np.concatenate((previous.offsets, new.offsets[1:] + previous.offsets[-1]))
        games = SelfPlayGames(new.size, new.variant, **both)
    if not len(games):
        return games
    fit = int((np.cumsum(games.searched[::-1]) <= keep_positions).sum())
    return games.last(max(fit, 1))


def write_window(path: Path | str, games: SelfPlayGames) -> None:
    """Write a window folder aside and rename it."""
    with written_aside(path) as aside:
        aside.mkdir()
        hashes = {}
        for name, dtype in ARRAYS.items():
            array = getattr(games, name)
            with open(aside / f"{name}.npy", "wb", buffering=0) as file:
                stream = ArrayStream(file, aside / f"{name}.npy", dtype, array.shape)
                stream.append(array)
            hashes[f"{name}.npy"] = stream.sha256
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "game": gomoku.NAME,
            "rules": gomoku.VERSION,
            "size": games.size,
            "variant": games.variant,
            "games": len(games),
            "plies": len(games.actions),
            "positions": len(games.policy),
            "generations": sorted(set(games.generation.tolist())),
            "params": {},
            "sha256": hashes,
        }
        write_json(aside / MANIFEST, manifest)


def open_window(path: Path | str) -> SelfPlayGames:
    """Read a window that `write_window` wrote, all of it, and check it.

    Raises:
        ZugwerkError: no window there, or one that is damaged or of other rules; says which file and what to do.
    """
    path = Path(path)
    if not path.is_dir():
        raise ZugwerkError(f"{path}: no such replay window; the generation of that number writes it")
    manifest = read_json(path / MANIFEST)
    expected = {"format": FORMAT, "version": VERSION, "game": gomoku.NAME, "rules": gomoku.VERSION}
    needed = {"size": int, "variant": str, "sha256": dict}
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(k), kind) for k, kind in needed.items()):
        raise ZugwerkError(_damaged(path / MANIFEST, "it is not a manifest of a replay window"))
    for key, value in expected.items():
        if manifest.get(key) != value:
            raise ZugwerkError(_damaged(path / MANIFEST, f"its {key} is {manifest.get(key)!r}, not {value!r}"))
    arrays = {name: _read_array(path / f"{name}.npy", manifest["sha256"]) for name in ARRAYS}
    games = SelfPlayGames(manifest["size"], manifest["variant"], **arrays)
    wrong = _misfit(games)
    if wrong:
        raise ZugwerkError(_damaged(path, wrong))
    return games


def _read_array(path: Path, hashes: dict[str, Any]) -> Any:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ZugwerkError(_damaged(path, "no such file")) from None
    if hashlib.sha256(content).hexdigest() != hashes.get(path.name):
        raise ZugwerkError(_damaged(path, "its sha256 is not the manifest's"))
    return np.load(io.BytesIO(content), allow_pickle=False)


def _misfit(games: SelfPlayGames) -> str:
    """Return an error text about the arrays, empty if they are consistent. Legality is checked by the replay."""
    count = len(games.winner)
    shapes = {
        "actions": (int(games.offsets[-1]) if len(games.offsets) else 0,),
        "offsets": (count + 1,),
        "winner": (count,),
        "searched_from": (count,),
        "generation": (count,),
    }
    for name, dtype in ARRAYS.items():
        array = getattr(games, name)
        if array.dtype != dtype or array.shape != shapes.get(name, array.shape):
            return f"{name} is {array.dtype} {array.shape}, which does not fit {count} games"
    if games.offsets[0] != 0 or (np.diff(games.offsets) < 0).any() or (games.searched_from < 0).any():
        return "offsets or searched_from are out of order"
    if not np.isin(games.winner, (-1, 0, 1)).all():
        return "a winner is none of 1, -1 and 0"
    if games.policy.shape != (games.searched.sum(), games.size * games.size):
        return f"policy is {games.policy.shape}, for {games.searched.sum()} searched plies of {games.size}x{games.size}"
    return ""


def _joined(parts: list[npt.NDArray[Any]], empty: npt.NDArray[Any]) -> Any:
    return np.concatenate([empty, *parts])


def _damaged(path: Path, reason: str) -> str:
    return f"{path}: {reason}; remove the window and run its generation again"


class Positions(NamedTuple):
    """R positions before a searched ply, by game and then by ply; C = 2 * positions + 1 planes."""

    planes: npt.NDArray[np.uint8]  # [R, C, H, W], 0 or 1, as `zero_planes` says
    policy: npt.NDArray[np.float32]  # [R, N], the search's policy; each row sums to 1
    value: npt.NDArray[np.float32]  # [R], how the game ended for the side to move: 1 won, -1 lost, 0 drawn
    generation: npt.NDArray[np.int16]  # [R], which generation played it


def positions(games: SelfPlayGames, history: int) -> Positions:
    """All positions of a window that have a target.

    Args:
        games: the window.
        history: how many positions back the planes go, the one to move in included (the paper's: 5).

    Raises:
        ZugwerkError: an action is not legal; names the game and the ply.
    """
    rows, start = len(games.policy), gomoku.initial_state(games.size, games.variant)
    states = GomokuState(*(np.empty((rows, *array.shape), array.dtype) for array in start))
    value = np.empty(rows, np.float32)
    wrong, ply = _replay(start, games.actions, games.offsets, games.winner, games.searched_from, states, value)
    if wrong >= 0:
        generation = games.generation[wrong]
        raise ZugwerkError(
            f"self-play window: game {wrong} (of generation {generation}), ply {ply}: cell "
            f"{games.actions[games.offsets[wrong] + ply]} is not legal; run that generation again"
        )
    policy = games.policy.astype(np.float32)
    sums = policy.sum(axis=1, keepdims=True)
    if not (np.isfinite(sums) & (sums > 0.5) & (games.policy.min(axis=1, initial=0, keepdims=True) >= 0)).all():
        raise ZugwerkError("self-play window: a policy is no distribution; run its generation again")
    planes = np.empty((rows, plane_count(history), games.size, games.size), np.uint8)
    zero_planes(states, history, planes)
    return Positions(planes, policy / sums, value, np.repeat(games.generation, games.searched))


@njit(cache=True, allocates=True)
def _replay(
    start: GomokuState,
    actions: npt.NDArray[np.int16],
    offsets: npt.NDArray[np.int64],
    winner: npt.NDArray[np.int8],
    searched_from: npt.NDArray[np.int16],
    out: GomokuState,
    value: npt.NDArray[np.float32],
) -> tuple[int, int]:
    """Fill ``out``, stacked, and ``value``; return (-1, -1), or game and ply of the first action that is not legal."""
    state = GomokuState(start.board.copy(), start.moves.copy(), start.turn.copy(), start.hash.copy())
    row = 0
    for g in range(len(winner)):
        kernels.copy_into(start, state)
        for ply in range(offsets[g + 1] - offsets[g]):
            action = int(actions[offsets[g] + ply])
            if not legal(state, action):
                return g, ply
            if ply >= searched_from[g]:
                out.board[row], out.moves[row] = state.board, state.moves
                out.turn[row], out.hash[row] = state.turn, state.hash
                value[row] = winner[g] if kernels.to_play(state) == 0 else -winner[g]
                row += 1
            kernels.play(state, action)
    return -1, -1

"""The replay window: self-play games with the search's policy at each step, on disk and as training positions.

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
from pipeline_src.files import write_json, written_aside
from pipeline_src.games import kernels
from pipeline_src.games.kernels import row, stack
from pipeline_src.jit import njit
from pipeline_src.learning.arrays import MANIFEST, ArrayFolder, ArrayStream
from pipeline_src.search.mcts.puct import is_step


class _WindowFolder(ArrayFolder):
    def damaged(self, path: Path, reason: str) -> ZugwerkError:
        """A window may be that of an unfinished generation, which no stage of the graph is for."""
        return ZugwerkError(f"{path}: {reason}; remove the window and run its generation again")

    def read_array(self, path: Path, hashes: dict[str, str]) -> Any:
        """Read a whole array whose SHA-256 is in the manifest."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise self.damaged(path, "no such file") from None
        if hashlib.sha256(content).hexdigest() != hashes.get(path.name):
            raise self.damaged(path, "its sha256 is not the manifest's")
        return np.load(io.BytesIO(content), allow_pickle=False)


def _folder(game: Any) -> _WindowFolder:
    return _WindowFolder("self-play window", 1, ("game", "rules", "size", "variant"), f"{game.NAME}_generation")


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
    """G games of one board size and variant, the oldest first, P steps long (each its own P).

    Game g's steps are ``actions[offsets[g]:offsets[g + 1]]``; S is the most that a position has, by
    `kernels.max_steps`. R is the number of steps with a target, all those from ``searched_from`` on, by game and then
    in order.
    """

    size: int  # Side of the board
    variant: str  # As the game's `initial_state` takes it
    actions: npt.NDArray[np.int16]  # [sum of P], steps
    offsets: npt.NDArray[np.int64]  # [G + 1]
    winner: npt.NDArray[np.int8]  # [G]: 1 the first player, -1 the second, 0 a draw
    searched_from: npt.NDArray[np.int16]  # [G]: the steps before this one are the opening, which no search chose
    generation: npt.NDArray[np.int16]
    """[G]: which generation played the game; of generations with several rounds, which round, counted through all."""
    policy: npt.NDArray[np.float16]  # [R, S]: the search's distribution, each step at its `Subject.places`

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def searched(self) -> npt.NDArray[np.int64]:
        """Steps of each game that have a target, [G]."""
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
    start: Any,
    variant: str,
    actions: Sequence[Sequence[int] | npt.NDArray[np.integer]],
    winners: Sequence[int],
    policies: Sequence[npt.NDArray[np.floating]],
    *,
    generation: int,
    searched_from: Sequence[int] | int = 0,
    size: int | None = None,
) -> SelfPlayGames:
    """Games of one generation from one list a game.

    Args:
        start: an initial position of their board.
        variant: as the game's `initial_state` takes it.
        actions: of each game, its steps in order.
        winners: of each game, 1 the first player, -1 the second, 0 a draw.
        policies: for each game, float [P - searched_from, S]: the search's policy at each step from ``searched_from``
            on; kept as float16.
        generation: that played them.
        searched_from: of each game or of all, how many steps its opening has.
        size: of the board, as the game's `initial_state` takes it; None is its side.

    Raises:
        ZugwerkError: the lists do not fit each other.
    """
    count, width = len(actions), int(kernels.max_steps(start))
    openings = np.broadcast_to(np.asarray(searched_from, np.int16), (count,)).copy()
    lengths = np.array([len(game) for game in actions], np.int64)
    rows = [np.asarray(policy, np.float16).reshape(-1, width) for policy in policies]
    games = SelfPlayGames(
        size or start.board.shape[0],
        variant,
        np.concatenate([np.empty(0, np.int16), *(np.asarray(game, np.int16) for game in actions)]),
        np.concatenate(([0], np.cumsum(lengths))),
        np.asarray(winners, np.int8),
        openings,
        np.full(count, generation, np.int16),
        np.concatenate([np.empty((0, width), np.float16), *rows]),
    )
    wrong = _misfit(games, width)
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


def write_window(path: Path | str, games: SelfPlayGames, game: Any) -> None:
    """Write a window folder of a game (`games.game.Game`) aside and rename it."""
    kind = _folder(game)
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
            "format": kind.name,
            "version": kind.version,
            "game": game.NAME,
            "rules": game.VERSION,
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


def open_window(path: Path | str, game: Any) -> SelfPlayGames:
    """Read a window of a game that `write_window` wrote, all of it, and check it.

    Raises:
        ZugwerkError: no window there, or one that is damaged or of other rules; says which file and what to do.
    """
    path, kind = Path(path), _folder(game)
    manifest = kind.read_manifest(path)
    if not all(isinstance(manifest[k], of) for k, of in (("size", int), ("variant", str), ("sha256", dict))):
        raise kind.damaged(path / MANIFEST, "it is not a manifest of a replay window")
    if (manifest["game"], manifest["rules"]) != (game.NAME, game.VERSION):
        found = f"{manifest['game']!r}, rules {manifest['rules']!r}, not {game.NAME}, rules {game.VERSION}"
        raise kind.damaged(path / MANIFEST, f"it is of {found}")
    games = SelfPlayGames(
        manifest["size"],
        manifest["variant"],
        **{name: kind.read_array(path / f"{name}.npy", manifest["sha256"]) for name in ARRAYS},
    )
    try:
        state = game.initial_state(games.size, games.variant)
    except ZugwerkError as error:
        raise kind.damaged(path / MANIFEST, str(error)) from None
    if wrong := _misfit(games, int(kernels.max_steps(state))):
        raise kind.damaged(path, wrong)
    return games


def _misfit(games: SelfPlayGames, width: int) -> str:
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
    if games.policy.shape != (games.searched.sum(), width):
        return f"policy is {games.policy.shape}, for {games.searched.sum()} searched steps of {games.size}x{games.size}"
    return ""


class Replayed(NamedTuple):
    """R positions before a searched step, by game and then in order."""

    states: Any  # Stacked states [R]
    policy: npt.NDArray[np.float32]  # [R, S], the search's policy; each row sums to 1
    value: npt.NDArray[np.float32]  # [R], how the game ended for the side to move: 1 won, -1 lost, 0 drawn
    generation: npt.NDArray[np.int16]  # [R], which generation played it


def replay(games: SelfPlayGames, game: Any) -> Replayed:
    """All positions of a window of a game that have a target.

    Raises:
        ZugwerkError: a step is not legal; names the game and the step.
    """
    rows, start = len(games.policy), game.initial_state(games.size, games.variant)
    states = type(start)(*(np.zeros((rows, *array.shape), array.dtype) for array in start))  # `copy_into` reads them
    value, room = np.empty(rows, np.float32), np.empty(int(kernels.max_steps(start)), np.int32)
    under_way = stack(start, 1)
    given = games.actions, games.offsets, games.winner, games.searched_from
    wrong, ply = _replay(start, row(under_way, 0), *given, room, states, value)
    if wrong >= 0:
        generation = games.generation[wrong]
        raise ZugwerkError(
            f"self-play window: game {wrong} (of generation {generation}), ply {ply}: step "
            f"{games.actions[games.offsets[wrong] + ply]} is not legal; run that generation again"
        )
    policy = games.policy.astype(np.float32)
    sums = policy.sum(axis=1, keepdims=True)
    if not (np.isfinite(sums) & (sums > 0.5) & (games.policy.min(axis=1, initial=0, keepdims=True) >= 0)).all():
        raise ZugwerkError("self-play window: a policy is no distribution; run its generation again")
    return Replayed(states, policy / sums, value, np.repeat(games.generation, games.searched))


@njit(cache=True)
def _replay(
    start: Any,
    state: Any,
    steps: npt.NDArray[np.int16],
    offsets: npt.NDArray[np.int64],
    winner: npt.NDArray[np.int8],
    searched_from: npt.NDArray[np.int16],
    room: npt.NDArray[np.int32],
    out: Any,
    value: npt.NDArray[np.float32],
) -> tuple[int, int]:
    """Fill ``out``, stacked, and ``value``; return (-1, -1), or game and ply of the first step that is not legal."""
    at = 0
    for g in range(len(winner)):
        kernels.copy_into(start, state)
        for ply in range(offsets[g + 1] - offsets[g]):
            step = int(steps[offsets[g] + ply])
            if not is_step(state, step, room):
                return g, ply
            if ply >= searched_from[g]:
                kernels.copy_into(state, row(out, at))
                value[at] = winner[g] if kernels.to_play(state) == 0 else -winner[g]
                at += 1
            kernels.play_step(state, step)
    return -1, -1

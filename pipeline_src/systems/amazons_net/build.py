"""Stage amazons_samples: convert games to a data set, split by game, with no position in two splits.

Reads ``artifacts/records/amazons/games.parquet``; writes ``artifacts/samples/amazons/`` and the counts
``artifacts/reports/amazons/samples.json``. Memory grows by less than a KiB a game; the rest is on disk.

An archive is read as flat arrays, and its games are replayed twice. The first pass keeps only the hashes of positions,
which decide the splits; the second pass writes the samples, split by split, one .npy file a field. Replaying costs less
than storing them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, written_aside
from pipeline_src.games.amazons import (
    ARROW,
    BLACK,
    WHITE,
    AmazonsState,
    format_move,
    initial_state,
    legal,
    move_amazon,
    shoot,
)
from pipeline_src.jit import njit
from pipeline_src.learning.arrays import (
    MANIFEST,
    SPLITS,
    ArrayStream,
    ByHash,
    DiskRows,
    assign_games,
    choose_samples,
    room,
)
from pipeline_src.learning.canonical import canonical, piece_keys, start_forms, toggle
from pipeline_src.learning.symmetry import COUNT
from pipeline_src.project.params import load, load_value
from pipeline_src.records.record import SOURCES, read_batches
from pipeline_src.systems.amazons_net.params import AmazonsSamplesParams
from pipeline_src.systems.amazons_net.samples import AMAZON, FIELDS, FOLDER, Samples, empty_samples
from pipeline_src.systems.amazons_net.samples import ARROW as ARROW_SAMPLE

GAMES = Path("artifacts/records/amazons/games.parquet")
OUT = Path("artifacts/samples/amazons")
WORK = Path("work/amazons_samples")
REPORT = Path("artifacts/reports/amazons/samples.json")
NAMES = ("first_name", "second_name")


class Games(NamedTuple):
    """G games of one board size, sorted by gid; game g's actions are ``actions[offsets[g]:offsets[g + 1]]``."""

    gid: npt.NDArray[np.int64]  # [G], ascending
    start: npt.NDArray[np.int8]  # [G], which of the variants asked for the game starts from
    first_won: npt.NDArray[np.bool_]  # [G], whether the side that moved first won
    teachers: npt.NDArray[np.bool_]
    """[G, 2], whether who moved first, and who moved second, is one of the players that are learnt from."""
    offsets: npt.NDArray[np.int64]  # [G + 1]
    actions: npt.NDArray[np.int32]  # All games' turns (from * N + to) * N + arrow, one after the other


class Archive(NamedTuple):
    """The games of an archive that a data set uses, and counts of the rest."""

    games: Games
    sources: dict[str, int]  # Games used, by who played them
    skipped: dict[str, int]  # Games of another board `size`, and of another `variant` on this size


def read_games(
    path: Path | str, size: int, variants: Sequence[str], teachers: str = "", folder: Path | None = None
) -> Archive:
    """Read the games of one board size and of some variants from an archive (`pipeline_src.records.record`).

    ``teachers`` is a regular expression that the names of the players to learn from match somewhere; ``folder``, for
    the turns, as for `room`.

    Raises:
        ZugwerkError: the archive is unreadable, or has no usable game, or has an invalid one: a repeated gid, another
            game, an unknown source, no winner, or a draw, which the Amazons do not have; or no player is a teacher.
    """
    parts, actions, players = list[Games](), DiskRows(folder, np.int32), dict[str, bool]()
    sources, total, sized, fitting = Counter[str](), 0, 0, 0
    for table in read_batches(path):
        fits = (table["height"].to_numpy() == size) & (table["width"].to_numpy() == size)
        total, sized = total + len(table), sized + int(fits.sum())
        used = table.take(np.flatnonzero(fits & np.isin(_words(table, "variant"), variants)))
        fitting += len(used)
        _check(used, path)
        sources.update(_words(used, "source").tolist())
        actions.append(pc.list_flatten(used["actions"]).to_numpy())
        parts.append(
            Games(
                gid=used["gid"].to_numpy(),
                start=np.array([variants.index(name) for name in used["variant"].to_pylist()], np.int8),
                first_won=_words(used, "winner") == "first",
                teachers=_teachers(used, teachers, players),
                offsets=pc.list_value_length(used["actions"]).to_numpy().astype(np.int64),
                actions=np.empty(0, np.int32),
            )
        )
    if not fitting:
        wanted = f"{size}x{size} games of variant {' or '.join(variants)}"
        raise ZugwerkError(f"{path}: no {wanted} among {total}; see amazons_samples in params.yaml")
    if not any(players.values()):
        raise ZugwerkError(
            f"{path}: no player's name matches '{teachers}', amazons_samples.teachers in params.yaml; there are "
            + ", ".join(sorted(players)[:5])
        )
    joined = Games(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    offsets = np.concatenate(([0], np.cumsum(joined.offsets)))
    games = _by_gid(joined._replace(offsets=offsets, actions=actions.array()))
    twice = games.gid[1:][games.gid[1:] == games.gid[:-1]]
    if twice.size:
        raise ZugwerkError(f"{path}: game {twice[0]} twice; gids must be unique within an archive")
    skipped = {"size": total - sized, "variant": sized - fitting}
    return Archive(games, {name: sources[name] for name in SOURCES}, skipped)


def _by_gid(games: Games) -> Games:
    """Games in the order of their gids, which is the order of the archives that we write."""
    order = np.argsort(games.gid, kind="stable")
    if (order[1:] > order[:-1]).all():
        return games
    turns = [games.actions[games.offsets[g] : games.offsets[g + 1]] for g in order]
    offsets = np.concatenate(([0], np.cumsum([len(some) for some in turns])))
    columns = (games.gid[order], games.start[order], games.first_won[order], games.teachers[order])
    return Games(*columns, offsets, np.concatenate(turns))


def _words(table: pa.Table, column: str) -> npt.NDArray[np.str_]:
    """A column of strings; an empty field reads 'None'."""
    return np.array(table[column].to_pylist(), dtype=np.str_)


def _teachers(used: pa.Table, teachers: str, players: dict[str, bool]) -> npt.NDArray[np.bool_]:
    """Whether the players of each game are teachers [G, 2]; ``players`` keeps the answers by name."""
    names: list[list[Any]] = [used[column].to_pylist() for column in NAMES]
    for name in {*names[0], *names[1]} - players.keys():
        players[name] = re.search(teachers, name) is not None
    found = [players[name] for column in names for name in column]
    return np.array(found, np.bool_).reshape(2, -1).T.copy()


def _check(used: pa.Table, path: Path | str) -> None:
    gids = used["gid"].to_numpy()
    for column, known in (("game", ("amazons",)), ("source", SOURCES), ("winner", ("first", "second"))):
        words = _words(used, column)
        wrong = np.flatnonzero(~np.isin(words, known))
        if wrong.size:
            where = f"{path}: game {gids[wrong[0]]}: {column} '{words[wrong[0]]}'"
            raise ZugwerkError(f"{where}; samples need {' or '.join(known)}")


class Replayer:
    """Turns games of one board size into samples, some games at a time."""

    def __init__(self, games: Games, size: int, variants: Sequence[str]) -> None:
        """``variants`` are those that ``games.start`` counts.

        Raises:
            ZugwerkError: no such size or variant.
        """
        states = [initial_state(size, variant) for variant in variants]
        self.games, self.size = games, size
        self.starts = AmazonsState(*(np.stack(arrays) for arrays in zip(*states, strict=True)))

    def replay(self, which: npt.NDArray[np.int64]) -> tuple[Samples, npt.NDArray[np.uint64]]:
        """Samples of the games numbered ``which``, in that order, then by ply and type; and their canonical hashes.

        Raises:
            ZugwerkError: a turn is not legal; names the game, the ply and the turn.
        """
        games = self.games
        count = int(2 * (games.offsets[which + 1] - games.offsets[which]).sum())
        samples, hashes = empty_samples(count, self.size), np.empty(count, np.uint64)
        game, ply = _replay(games, which, self.starts, piece_keys(self.size), samples, hashes)
        if game >= 0:
            turn = format_move(int(games.actions[games.offsets[game] + ply]), self.size, self.size)
            raise ZugwerkError(f"game {games.gid[game]}: turn {ply + 1}, {turn}, is not legal; parse the records again")
        return samples, hashes


@njit(cache=True, allocates=True)
def _replay(
    games: Games,
    which: npt.NDArray[np.int64],
    starts: AmazonsState,
    keys: npt.NDArray[np.uint64],
    out: Samples,
    hashes: npt.NDArray[np.uint64],
) -> tuple[int, int]:
    """Fill ``out`` and ``hashes``; return (-1, -1), or the game and ply of the first turn that is not legal.

    ``starts`` holds the start positions on a leading axis.
    """
    state = AmazonsState(
        starts.board[0].copy(),
        starts.lines[0].copy(),
        starts.amazons[0].copy(),
        starts.turn[0].copy(),
        starts.hash[0].copy(),
    )
    squares, forms, n = state.board.size, np.empty(COUNT, np.uint64), 0
    for g in which:
        variant = games.start[g]
        state.board[:] = starts.board[variant]
        state.lines[:] = starts.lines[variant]
        state.amazons[:] = starts.amazons[variant]
        state.turn[:] = starts.turn[variant]
        state.hash[:] = starts.hash[variant]
        start_forms(state.board, keys, forms)
        for ply in range(games.offsets[g + 1] - games.offsets[g]):
            action = games.actions[games.offsets[g] + ply]
            start, to, arrow = action // (squares * squares), action // squares % squares, action % squares
            if not legal(state, start, to, arrow):
                return g, ply
            first = state.turn[0] == 0
            mover = WHITE if first else BLACK
            for kind in (AMAZON, ARROW_SAMPLE):
                if kind == ARROW_SAMPLE:
                    move_amazon(state, start, to)
                    toggle(forms, keys, mover, start)
                    toggle(forms, keys, mover, to)
                out.type[n] = kind
                out.mover[n] = mover
                out.result[n] = games.first_won[g] == first
                out.gid[n] = games.gid[g]
                out.ply[n] = ply
                out.teacher[n] = games.teachers[g, 0 if first else 1]
                _write_board(state.board, out.board[n])
                _write_labels(state.board, kind, start, to, arrow, out, n)
                hashes[n] = canonical(forms, mover)
                n += 1
            shoot(state, arrow)
            toggle(forms, keys, ARROW, arrow)
    return -1, -1


@njit(cache=True)
def _write_board(board: npt.NDArray[np.int8], out: npt.NDArray[np.int8]) -> None:
    height, width = board.shape
    for r in range(height):
        for c in range(width):
            out[height - 1 - r, c] = board[r, c]


@njit(cache=True)
def _write_labels(
    board: npt.NDArray[np.int8], kind: int, start: int, to: int, arrow: int, out: Samples, n: int
) -> None:
    height, width = board.shape
    before = kind == AMAZON
    _write_pair(start if before else -1, height, width, out.from_[n])
    _write_pair(to if before else -1, height, width, out.to[n])
    _write_pair(-1 if before else arrow, height, width, out.arrow[n])
    _write_pair(-1 if before else to, height, width, out.moved[n])


@njit(cache=True)
def _write_pair(square: int, height: int, width: int, out: npt.NDArray[np.int8]) -> None:
    out[0] = square % width if square >= 0 else -1
    out[1] = height - 1 - square // width if square >= 0 else -1


class SamplesWriter:
    """The arrays of a data set, written together; `open_writer` makes one."""

    def __init__(self, streams: list[ArrayStream]) -> None:
        """One stream for each of `FIELDS`."""
        self.streams = streams

    def append(self, samples: Samples, rows: npt.NDArray[np.bool_]) -> None:
        """Write those of some samples that the mask ``rows`` [n] marks."""
        arrays: tuple[npt.NDArray[Any], ...] = samples
        for stream, values in zip(self.streams, arrays, strict=True):
            stream.append(values[rows])

    def sha256(self) -> dict[str, str]:
        """Hash of each complete file by its name."""
        assert not any(stream.rows_left for stream in self.streams), "rows are missing"
        return {stream.path.name: stream.sha256 for stream in self.streams}


@contextmanager
def open_writer(folder: Path, count: int, size: int) -> Iterator[SamplesWriter]:
    """Open a file for each field in a folder that exists, for ``count`` samples on boards of size x size."""
    with ExitStack() as stack:
        streams = []
        for field in FIELDS:
            path = folder / f"{field.name}.npy"
            file = stack.enter_context(open(path, "wb", buffering=0))
            streams.append(ArrayStream(file, path, field.dtype, (count, *field.shape(size))))
        yield SamplesWriter(streams)


GAMES_AT_ONCE = 512  # At most 94,208 samples, 11 MB, on the 10x10 board


def build_dataset(
    archive: Archive,
    folder: Path | str,
    *,
    size: int,
    variants: tuple[str, ...],
    shares: tuple[float, float, float],
    seed: int,
    work: Path | None = None,
) -> dict[str, Any]:
    """Write the data set of an archive's games to ``folder``, aside and renamed; return its counts.

    Rows go by split, then gid, ply and type. The bytes depend on the games and the arguments alone.

    Args:
        archive: the games, from `read_games` with the same size and variants.
        folder: of the data set; replaced when there is one.
        size: H = W of the boards.
        variants: start positions in use.
        shares: of the games for train, validation and test, in any unit.
        seed: the pipeline's.
        work: where hashes are kept meanwhile, as for `room`.

    Returns:
        Counts by name: ``games``, ``samples``, ``dropped``, ``splits`` (counts of each), ``sources``, ``skipped``.

    Raises:
        ZugwerkError: an illegal turn, too few games to split, or a split that is left without a sample.
    """
    games = archive.games
    replayer = Replayer(games, size, variants)
    game_splits = assign_games(games.gid, shares, seed)
    groups = [np.flatnonzero(game_splits == split) for split in range(len(SPLITS))]
    with tqdm(total=2 * len(games.gid), desc="samples", unit=" games", disable=None) as progress:
        hashes = ByHash(work, row=np.int64, split=np.int8)
        for which in _portions(np.arange(len(games.gid))):
            begins, ends = 2 * games.offsets[which], 2 * games.offsets[which + 1]
            found, splits = replayer.replay(which)[1], np.repeat(game_splits[which], ends - begins)
            hashes.append(found, row=np.arange(begins[0], ends[-1]), split=splits)
            progress.update(len(which))
        stays = room(work, np.bool_, (2 * len(games.actions),))
        counts = _choose(archive, game_splits, hashes, stays)
        with written_aside(folder) as aside:
            aside.mkdir()
            with open_writer(aside, counts["samples"], size) as writer:
                for which in (portion for group in groups for portion in _portions(group)):
                    rows = np.concatenate([stays[2 * games.offsets[g] : 2 * games.offsets[g + 1]] for g in which])
                    writer.append(replayer.replay(which)[0], rows)
                    progress.update(len(which))
            how = {"size": size, "variants": variants, "shares": dict(zip(SPLITS, shares, strict=True)), "seed": seed}
            write_json(aside / MANIFEST, _manifest(counts, how, writer.sha256()))
    return counts


def _portions(which: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for at in range(0, len(which), GAMES_AT_ONCE):
        yield which[at : at + GAMES_AT_ONCE]


def _choose(
    archive: Archive, game_splits: npt.NDArray[np.int8], hashes: ByHash, stays: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Mark the samples that stay; return the counts."""
    kept, dropped, positions = (np.zeros(len(SPLITS), np.int64) for _ in range(3))
    for part in hashes.parts():
        stay = choose_samples(part["hash"], part["split"])
        stays[part["row"]] = stay
        for split in range(len(SPLITS)):
            mine = part["split"] == split
            kept[split] += int((mine & stay).sum())
            dropped[split] += int((mine & ~stay).sum())
            positions[split] += len(np.unique(part["hash"][mine & stay]))
    splits = {}
    for number, name in enumerate(SPLITS):
        splits[name] = {
            "games": int((game_splits == number).sum()),
            "samples": int(kept[number]),
            "dropped": int(dropped[number]),
            "positions": int(positions[number]),
        }
        if not splits[name]["samples"]:
            raise ZugwerkError(
                f"split '{name}' would be empty: others hold every position of its {splits[name]['games']} games; "
                "crawl or make more games"
            )
    return {
        "games": len(game_splits),
        "samples": int(kept.sum()),
        "dropped": int(dropped.sum()),
        "splits": splits,
        "sources": archive.sources,
        "skipped": archive.skipped,
    }


def _manifest(counts: dict[str, Any], how: dict[str, Any], sha256: dict[str, str]) -> dict[str, Any]:
    size = how["size"]
    ends = np.cumsum([counts["splits"][name]["samples"] for name in SPLITS]).tolist()
    places = {
        name: {"start": end - counts["splits"][name]["samples"], "stop": end}
        for name, end in zip(SPLITS, ends, strict=True)
    }
    return {
        "format": FOLDER.name,
        "version": FOLDER.version,
        **how,
        **counts,
        "splits": {name: {**places[name], **counts["splits"][name]} for name in SPLITS},
        "schema": [
            {
                "name": field.name,
                "patent": field.patent,
                "dtype": np.dtype(field.dtype).name,
                "shape": field.shape(size),
                "meaning": field.meaning,
            }
            for field in FIELDS
        ],
        "sha256": sha256,
    }


def main() -> None:
    """Load params, replay, write.

    Raises:
        ZugwerkError: bad params, or games that cannot be used.
    """
    params, seed = load(AmazonsSamplesParams, "amazons_samples"), load_value(int, "seed")
    WORK.mkdir(parents=True, exist_ok=True)
    archive = read_games(GAMES, params.size, params.variants, params.teachers, WORK)
    counts = build_dataset(
        archive, OUT, size=params.size, variants=params.variants, shares=params.split.shares, seed=seed, work=WORK
    )
    write_json(REPORT, counts)

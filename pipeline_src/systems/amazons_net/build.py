"""Build the data set of a set of games, in bounded memory.

The games are replayed twice. The first pass keeps only the hashes of positions, which decide the splits; the second
pass writes the samples, split by split. Replaying costs less than storing them.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import write_json, written_aside
from pipeline_src.learning.split import SPLITS, assign_games, choose_samples
from pipeline_src.systems.amazons_net.archive import Archive
from pipeline_src.systems.amazons_net.dataset import FORMAT, MANIFEST, VERSION
from pipeline_src.systems.amazons_net.replay import Replayer
from pipeline_src.systems.amazons_net.schema import FIELDS
from pipeline_src.systems.amazons_net.writer import open_writer

GAMES_AT_ONCE = 512
"""At most 94,208 samples, 11 MB, on the 10x10 board."""


def build_dataset(
    archive: Archive,
    folder: Path | str,
    *,
    size: int,
    variants: tuple[str, ...],
    shares: tuple[float, float, float],
    seed: int,
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
        hashes = np.empty(2 * len(games.actions), np.uint64)
        for which in _portions(np.arange(len(games.gid))):
            first, last = which[[0, -1]]
            hashes[2 * games.offsets[first] : 2 * games.offsets[last + 1]] = replayer.replay(which)[1]
            progress.update(len(which))
        sample_splits = np.repeat(game_splits, 2 * np.diff(games.offsets))
        stays = choose_samples(hashes, sample_splits)
        counts = _count(archive, game_splits, sample_splits, stays, hashes)
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


def _count(
    archive: Archive,
    game_splits: npt.NDArray[np.int8],
    sample_splits: npt.NDArray[np.int8],
    stays: npt.NDArray[np.bool_],
    hashes: npt.NDArray[np.uint64],
) -> dict[str, Any]:
    splits: dict[str, dict[str, int]] = {}
    for number, name in enumerate(SPLITS):
        mine = sample_splits == number
        kept = mine & stays
        splits[name] = {
            "games": int((game_splits == number).sum()),
            "samples": int(kept.sum()),
            "dropped": int(mine.sum() - kept.sum()),
            "positions": len(np.unique(hashes[kept])),
        }
        if not splits[name]["samples"]:
            raise ZugwerkError(
                f"split '{name}' would be empty: others hold every position of its {splits[name]['games']} games; "
                "crawl or make more games"
            )
    return {
        "games": len(game_splits),
        "samples": int(stays.sum()),
        "dropped": int((~stays).sum()),
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
        "format": FORMAT,
        "version": VERSION,
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

"""Splits of games, and the samples that stay in each split."""

import numpy as np
import numpy.typing as npt

from pipeline_src import streams
from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import Params, Positive

SPLITS = ("train", "validation", "test")
TRAIN, VALIDATION, TEST = range(3)


class SplitShares(Params):
    """Shares of the games, in any unit."""

    train: Positive
    """Share for training."""
    validation: Positive
    """Share for learning curves, early stopping and the choice of a model."""
    test: Positive
    """Share for the reported figures."""

    @property
    def shares(self) -> tuple[float, float, float]:
        """In the order of `SPLITS`."""
        return self.train, self.validation, self.test


def assign_games(gids: npt.NDArray[np.int64], shares: tuple[float, float, float], seed: int) -> npt.NDArray[np.int8]:
    """Split (0 train, 1 validation, 2 test) of each game, int8 [G].

    Each game draws a number from the seed and its gid alone; the games in the order of these numbers are cut at the
    shares. So the shares are met to a game, and when games are added, only a few of the old ones change sides.

    Args:
        gids: int64 [G], unique.
        shares: of train, validation and test, in any unit.
        seed: the pipeline's.

    Raises:
        ZugwerkError: too few games to put at least one into each split.
    """
    numbers = (np.random.SeedSequence([seed, streams.SPLIT, int(gid)]).generate_state(1, np.uint64)[0] for gid in gids)
    order = np.lexsort((gids, np.fromiter(numbers, np.uint64, len(gids))))
    ends = np.rint(np.cumsum(shares) / np.sum(shares) * len(gids)).astype(np.int64)
    sizes = np.diff(ends, prepend=0)
    if not sizes.all():
        share = ":".join(f"{s:g}" for s in shares)
        raise ZugwerkError(f"{len(gids)} games are too few to split {share}: {SPLITS[sizes.argmin()]} would get none")
    splits = np.empty(len(gids), np.int8)
    splits[order] = np.repeat(np.arange(len(SPLITS), dtype=np.int8), sizes)
    return splits


def choose_samples(hashes: npt.NDArray[np.uint64], splits: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Return the samples to keep, bool [n], so that no position is in two splits.

    A position found in several splits stays in test, else in validation, and is dropped elsewhere. Within its split
    each of its occurrences stays: they carry the games' own choices.

    Args:
        hashes: uint64 [n], canonical hashes of the samples' positions.
        splits: int8 [n], the split of each sample's game.
    """
    stays = np.ones(len(hashes), np.bool_)
    taken = np.unique(hashes[splits == TEST])
    for split in (VALIDATION, TRAIN):
        rows = np.flatnonzero(splits == split)
        stays[rows] = ~np.isin(hashes[rows], taken)
        taken = np.union1d(taken, hashes[rows])
    return stays

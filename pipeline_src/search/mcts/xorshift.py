"""Random numbers in kernels: a 64-bit xorshift* (Marsaglia, 2003; Vigna, 2016) with its state in an array entry."""

import numpy as np
import numpy.typing as npt

from pipeline_src.jit import njit


def seeded(seed: int) -> npt.NDArray[np.uint64]:
    """Return a generator state, uint64 [1], for any int. Neighbouring seeds give unrelated numbers."""
    mixed = np.random.SeedSequence(seed & ((1 << 64) - 1)).generate_state(1, np.uint64)
    return np.array(mixed | np.uint64(1), dtype=np.uint64)


@njit(cache=True)
def below(random: npt.NDArray[np.uint64], n: int) -> int:
    """Return a number in 0..n-1, n at most 2^31; the bias is n / 2^31."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(33)
    return int(np.int64(high % np.uint64(n)))


@njit(cache=True)
def high_below(random: npt.NDArray[np.uint64], n: int) -> int:
    """Return a number in 0..n-1 without a division, different from `below`; the bias is n / 2^32 (Lemire, 2019)."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    return int(np.int64((high * np.uint64(n)) >> np.uint64(32)))

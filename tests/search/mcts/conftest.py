import pytest
from numba.core.caching import NullCache

from pipeline_src.search.mcts import puct_kernels


@pytest.fixture
def not_on_disk():
    """Nothing of a toy game into the kernel cache, where a program that cannot import it would stumble over it."""
    kernel = puct_kernels.play_round
    kept, kernel._cache = kernel._cache, NullCache()
    yield
    kernel._cache = kept

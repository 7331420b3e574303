import pytest

from pipeline_src.players.amazons_forward import torch_threads


@pytest.fixture(autouse=True)
def one_thread():
    """Nets as small as these are slower on several threads, and far slower beside other work."""
    with torch_threads(1):
        yield

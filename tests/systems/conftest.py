import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Nets this small lose more than they gain by a second thread, most of all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)

import pytest
import torch

from pipeline_src.samples.dataset import open_dataset
from tests.training.samples import write_dataset


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Nets this small lose more than they gain by a second thread, most of all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "samples"
    write_dataset(folder)
    return open_dataset(folder)

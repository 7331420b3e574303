import pytest

from pipeline_src.systems.amazons_net.samples import open_dataset
from tests.systems.amazons_net.positions import write_dataset


@pytest.fixture(scope="session")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "samples"
    write_dataset(folder)
    return open_dataset(folder)

from tests.systems.amazons_net.conftest import dataset as dataset

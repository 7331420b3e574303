"""Settings for all tests."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from pipeline_src.players import amazons, gomoku

pytest_plugins = ["tests.toy_checkout"]

# Who starts the tests in the background may ignore SIGINT, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Nets this small lose more than they gain by a second thread, most of all where the tests run side by side.
os.environ["OMP_NUM_THREADS"] = "1"

# On a fresh machine the first example also compiles the kernels, which takes far longer than all the others.
settings.register_profile("zugwerk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zugwerk")


def pytest_collection_modifyitems(items):
    """Files with slow tests come first: side by side, no core then waits for the last of them."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def shipped(monkeypatch):
    """Only the players that come with the package: modules of tests add some of their own when they are imported."""
    for room in (amazons, gomoku):
        for name, maker in list(room.PLAYERS.items()):
            if not maker.startswith("pipeline_src."):
                monkeypatch.delitem(room.PLAYERS, name)

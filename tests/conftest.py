"""Settings for all tests."""

import contextlib
import faulthandler
import fcntl
import gc
import importlib
import os
import signal
from pathlib import Path

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings

from pipeline_src.players import AMAZONS, GOMOKU

pytest_plugins = ["tests.toy_checkout"]

# Who starts the tests in the background may ignore SIGINT, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Nets this small lose more than they gain by a second thread, most of all where the tests run side by side.
os.environ["OMP_NUM_THREADS"] = "1"

# DVC would report the commands of checkouts that a test makes, and leave each report in the temporary folder.
os.environ["DVC_NO_ANALYTICS"] = os.environ["DO_NOT_TRACK"] = "1"

# On a fresh machine the first example also compiles the kernels, which takes far longer than all the others.
# CI draws the same examples each time: what it refuses, a change has caused.
settings.register_profile(
    "zugwerk", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("zugwerk")


EXPORTED = {"gomoku": ("15-freestyle", "15-renju", "9-freestyle"), "amazons": ("10-standard", "6-standard")}


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """The folder of an exported page with few boards, which testers side by side make once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "exported"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (page := folder / "page").exists():
            from pipeline_src.web.site import write_site

            write_site(folder / "aside", boards=EXPORTED).parent.rename(page)
    return page


LONGEST = (
    *("docs/test_followed", "flows/test_machines", "jit/test_wasm", "flows/test_reproduce"),
    *("learning/test_fit", "rehearsal/test_rehearsal", "web/test_analyse_browser", "jit/test_parts"),
    *("players/test_players", "parallel/test_clusters", "selfplay/test_any_game", "arena/test_conformance"),
    *("spiders/test_stop", "players/test_session", "systems/amazons_net/test_train", "web/test_trouble"),
    *("web/test_play_browser", "jit/test_cache", "spiders/test_scrapy_commands", "search/gomoku/test_threats"),
)
"""The longest files of both suites. Those that wait and those that compute take turns."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """The modules and tests stay until the end, so the garbage collector need not look through them each time."""
    gc.disable()
    try:
        _import_all(session)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_all(session):
    """Testers side by side begin to import at different files: what one has made, the others then find on disk.

    That is compiled files with rewritten assertions, and kernels of tests that play games when they are imported.
    """
    name, count = os.environ.get("PYTEST_XDIST_WORKER"), int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if name is None or session.config.args != ["tests"]:
        return
    folder = Path(__file__).parent
    files = sorted(folder.rglob("test_*.py"))
    first = int(name.removeprefix("gw")) * len(files) // count
    for file in [*files[first:], *files[:first]]:
        with contextlib.suppress(Exception, pytest.skip.Exception):  # reported when it is collected
            importlib.import_module(".".join(file.relative_to(folder.parent).with_suffix("").parts))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests in the browser are slow ones.

    The longest files come first, then others with slow tests: side by side, no core waits for the last of them.
    """
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    places = {Path(__file__).parent / f"{name}.py": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (places.get(item.path, len(places)), item.path not in slow))


def pytest_unconfigure(config):
    """Names of what failed come last: CI shows the end of its output, and a message may be longer than that."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    for report in reporter.stats.get("failed", []) + reporter.stats.get("error", []) if reporter else ():
        reporter.write_line(f"{report.outcome}: {report.nodeid}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """No signal ends a kernel at its test's time limit: a little later the process ends, with a trace of the test."""
    mark, given = item.get_closest_marker("timeout"), item.config.getoption("timeout")
    limit = mark.args[0] if mark else float(item.config.getini("timeout") if given is None else given)
    if limit:
        stderr = item.config.stash[fault_handler_stderr_fd_key]
        faulthandler.dump_traceback_later(1.2 * limit, exit=True, file=stderr)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def shipped(monkeypatch):
    """Only the players that come with the package: modules of tests add some of their own when they are imported."""
    for room in (AMAZONS, GOMOKU):
        for name, maker in list(room.items()):
            if not maker.startswith("pipeline_src."):
                monkeypatch.delitem(room, name)

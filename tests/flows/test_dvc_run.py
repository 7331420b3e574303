import logging
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from flows import dvc_run
from flows.dvc_run import DvcFailedError, TimeLimitError, push, repro
from tests.flows.conftest import LOG, add_remote, add_stage, holds_lock, is_gone, is_up, wait_for


def test_runs_what_changed_and_streams_its_lines(checkout: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, LOG.name):
        assert repro(None, checkout, LOG, limit_s=60) == ["toy_crawl", "toy_count", "toy_train@a", "toy_train@b"]
        assert "crawled" in caplog.messages
    assert repro("toy_train", checkout, LOG, limit_s=60) == []
    assert repro("toy_crawl", checkout, LOG, limit_s=60, force=True, single_item=True) == ["toy_crawl"]
    assert (checkout / "pages.txt").read_text() == "page\n" * 2


def test_a_failing_stage_shows_its_last_lines(checkout: Path) -> None:
    (checkout / "fails.py").write_text("for n in range(50): print('line', n)\nraise SystemExit('no such game')")
    add_stage(checkout, "toy_fails", "python fails.py")
    with pytest.raises(DvcFailedError, match=r"repro toy_fails` failed(.|\n)*line 49\n  no such game\n") as failure:
        repro("toy_fails", checkout, LOG, limit_s=60)
    assert "line 0\n" not in str(failure.value)


def test_an_unknown_target_is_an_error_of_dvc(checkout: Path) -> None:
    with pytest.raises(DvcFailedError, match="toy_unknown"):
        repro("toy_unknown", checkout, LOG, limit_s=60)


def test_pushes_the_outputs_of_its_targets(checkout: Path, caplog: pytest.LogCaptureFixture) -> None:
    remote = add_remote(checkout)
    repro("toy_save", checkout, LOG, limit_s=60)
    push(["toy_count"], checkout, LOG, limit_s=60)
    assert not list(remote.rglob("*"))
    with caplog.at_level(logging.INFO, LOG.name):
        push(["toy_count", "toy_save"], checkout, LOG, limit_s=60)
    assert [path.read_text() for path in remote.rglob("*") if path.is_file()] == ["saved\n"]
    assert "1 file pushed" in caplog.messages


def test_a_remote_that_takes_nothing_is_an_error(checkout: Path) -> None:
    add_remote(checkout).write_text("no folder")
    repro("toy_save", checkout, LOG, limit_s=60)
    with pytest.raises(DvcFailedError, match=r"`dvc --wait-for-lock push` failed(.|\n)*(?i:not a directory|exists)"):
        push([], checkout, LOG, limit_s=60)


@pytest.mark.slow
def test_the_time_limit_ends_the_whole_family(checkout: Path) -> None:
    add_stage(checkout, "toy_hang", "python family.py")
    with pytest.raises(TimeLimitError, match=r"stopped at its time limit(.|\n)*family is up"):
        repro("toy_hang", checkout, LOG, limit_s=5)
    assert is_up(checkout)
    assert is_gone(checkout)


def test_an_exception_ends_the_whole_family_and_the_next_run_goes_on(checkout: Path) -> None:
    class Cancelled(BaseException):
        pass

    class Cancel(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == "family is up":
                wait_for(lambda: is_up(checkout))
                raise Cancelled

    log = logging.Logger("cancelled", logging.INFO)
    log.addHandler(Cancel())
    add_stage(checkout, "toy_hang", "true && python family.py")  # `&&`: the shell stays as its parent
    with pytest.raises(Cancelled):
        repro("toy_hang", checkout, log, limit_s=60)
    assert is_gone(checkout)
    assert not holds_lock(checkout, "toy_hang")
    assert repro("toy_count", checkout, LOG, limit_s=60) == ["toy_crawl", "toy_count"]


@pytest.mark.slow
def test_sigkill_of_the_owner_leaves_nothing(checkout: Path) -> None:
    add_stage(checkout, "toy_hang", "python family.py stubborn")
    with owner_of("toy_hang", checkout, limit_s=60) as owner:
        wait_for(lambda: is_up(checkout))
        assert holds_lock(checkout, "toy_hang")
        owner.kill()
        owner.wait()
        wait_for(lambda: is_gone(checkout))
        assert not holds_lock(checkout, "toy_hang")


def test_sigkill_of_the_supervisor_still_ends_at_the_limit(checkout: Path) -> None:
    add_stage(checkout, "toy_hang", "sleep 600")
    with owner_of("toy_hang", checkout, limit_s=2) as owner:
        wait_for(lambda: len(psutil.Process(owner.pid).children(recursive=True)) >= 3)
        psutil.Process(owner.pid).children()[0].kill()
        assert owner.wait(timeout=20) != 0
        assert is_gone(checkout)


def owner_of(target: str, checkout: Path, limit_s: float) -> subprocess.Popen[bytes]:
    """A process of its own that calls `repro`."""
    call = f"repro({target!r}, Path({str(checkout)!r}), logging.getLogger(), limit_s={limit_s})"
    program = f"import logging; from pathlib import Path; from flows.dvc_run import repro; {call}"
    return subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_waits_while_another_process_holds_the_output(
    checkout: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with holding_pages(checkout, seconds=8), caplog.at_level(logging.WARNING, LOG.name):
        with monkeypatch.context() as impatient:
            impatient.setattr(dvc_run, "FIRST_WAIT_S", 1_000.0)  # longer than the limit: one attempt is all there is
            with pytest.raises(DvcFailedError, match=dvc_run.BUSY):
                repro("toy_count", checkout, LOG, limit_s=60)
        assert repro("toy_count", checkout, LOG, limit_s=60) == ["toy_count"]
    assert "another DVC process is at work" in caplog.text


@contextmanager
def holding_pages(checkout: Path, seconds: int) -> Iterator[None]:
    """Another DVC process is in the middle of the crawl for the time of the block."""
    text = (checkout / "dvc.yaml").read_text()
    (checkout / "dvc.yaml").write_text(text.replace("echo crawled", f"sleep {seconds}"))
    with ThreadPoolExecutor() as pool:
        other = pool.submit(repro, "toy_crawl", checkout, LOG, limit_s=60)
        wait_for((checkout / "pages.txt").exists)
        yield
        assert other.result() == ["toy_crawl"]

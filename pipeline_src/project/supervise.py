"""Run a command so that nothing it starts outlives the process that asked for it.

    owner ==pipe==> supervisor (this file, in a session of its own) --> command --> whatever it starts

The owner holds the only writing end of the supervisor's stdin and never writes. When it closes the pipe, or dies of
anything at all (an exception, SIGKILL, the out-of-memory killer), the supervisor reads end-of-file and ends the tree:
the command is interrupted as by Ctrl-C and the rest of its process group gets SIGTERM, so that DVC sees its stage end,
drops its locks and exits; processes that remain after a grace period are killed. On Linux the supervisor adopts the
orphans of the tree, so it also finds a process that moved to another session.

The owner starts this file by its path. It imports nothing of the project, so it runs in any folder.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil

GRACE_S = 5.0  # Grace period in seconds, in which a tree may end by itself
LAST_GRACE_S = 2.0  # Grace period in seconds of the command itself, after its children were killed
POLL_S = 0.05
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@contextlib.contextmanager
def running(command: list[str], cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run ``command`` under a supervisor for as long as the block lasts; none of its processes outlives the block.

    ``env`` is in addition to the environment of this process. Yields the supervisor's process. Its ``stdout`` is the
    output of the whole tree, stderr included, as text lines; its exit status is the command's, 128 + n if signal n
    ended it.
    """
    supervisor = subprocess.Popen(  # noqa: S603  no shell, and the commands are the flows' own
        [sys.executable, "-P", __file__, *command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        yield supervisor
    finally:
        end(supervisor)
        assert supervisor.stdout is not None
        supervisor.stdout.close()


def end(supervisor: subprocess.Popen[str]) -> None:
    """End the tree of a supervisor and wait for its end; any thread may call this, more than once."""
    assert supervisor.stdin is not None
    supervisor.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        supervisor.wait(GRACE_S + LAST_GRACE_S + 3.0)
    if supervisor.returncode is None or supervisor.returncode < 0:  # stuck, or killed itself: its group remains
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(supervisor.pid, signal.SIGKILL)


class Tree:
    """The processes of a command: its process group and all descendants of this process."""

    def __init__(self, command: list[str]) -> None:
        no_input = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        restored = [signal.SIGPIPE, signal.SIGXFSZ]  # Python ignores these two, and a child would inherit that
        self.child = os.posix_spawnp(command[0], command, os.environ, file_actions=[no_input], setsigdef=restored)
        self.status: int | None = None  # The command's exit status (128 + n if signal n ended it); None while it runs

    def reap(self) -> None:
        """Reap every process that has ended, including adopted ones."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG)) != (0, 0):
                if ended[0] == self.child:
                    code = os.waitstatus_to_exitcode(ended[1])
                    self.status = code if code >= 0 else 128 - code

    def group(self) -> set[int]:
        """Return the other pids of this process' group."""
        return {pid for pid in psutil.pids() if _group_of(pid) == os.getpgid(0)} - {os.getpid()}

    def pids(self) -> set[int]:
        """Return all pids of the tree."""
        return self.group() | {process.pid for process in psutil.Process().children(recursive=True)}

    def end(self) -> None:
        """Ask the group to end, wait for the grace period, then kill the remaining processes until there are none."""
        self.reap()
        if self.status is None:
            _signal({self.child}, signal.SIGINT)
        _signal(self.group() - {self.child}, signal.SIGTERM)
        self._wait_while(self.group, GRACE_S)
        _signal(self.pids() - {self.child}, signal.SIGKILL)  # the command may still clean up afterwards
        self._wait_while(lambda: self.status is None, LAST_GRACE_S)
        while left := self.pids():  # repeatedly: a process may start another while it is being killed
            _signal(left, signal.SIGKILL)
            time.sleep(POLL_S)
            self.reap()

    def _wait_while(self, condition: Callable[[], object], limit_s: float) -> None:
        deadline = time.monotonic() + limit_s
        while condition() and time.monotonic() < deadline:
            time.sleep(POLL_S)
            self.reap()


def supervise(command: list[str]) -> int:
    """Run ``command`` until it ends, stdin closes or a signal arrives; end its tree; return its status, see `Tree`."""
    stop = False

    def on_signal(*_: object) -> None:
        nonlocal stop
        stop = True

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)  # a handler, unlike SIG_IGN, is not inherited by the command
    if os.getpgid(0) != os.getpid():
        os.setpgid(0, 0)  # started by hand, in a shell's group
    if sys.platform == "linux":  # adopt the orphans
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    tree = Tree(command)
    while tree.status is None and not stop:
        readable, _, _ = select.select([sys.stdin], [], [], POLL_S)
        stop |= bool(readable)  # the owner never writes, so readable means closed
        tree.reap()
    tree.end()
    assert tree.status is not None
    return tree.status


def _signal(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return -1


if __name__ == "__main__":
    sys.exit(supervise(sys.argv[1:]))

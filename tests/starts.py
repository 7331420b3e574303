"""Processes of this project's commands that are started with their imports made, which take longer than most tests.

A nursery is a process that has imported some modules; it forks itself for each start. What it starts is a process like
any other: its own memory and signals, standard streams, group and exit status. Where the start itself matters, as for
variables that are read at import, tests use `subprocess`.

    test ==socket==> nursery --> keeper, which sends the test the pid and in the end the status --> command
"""

import atexit
import contextlib
import faulthandler
import importlib
import inspect
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_NURSERIES: dict[tuple[str, ...], socket.socket] = {}
_ASKING = threading.Lock()


class Start(subprocess.Popen):
    """As `subprocess.Popen` of this Python, with ``-m`` and a module, ``-c`` and a program, or a file; ``-P`` first."""

    def __init__(self, words: list[str], *, modules: tuple[str, ...], **options: Any) -> None:
        self._modules = modules
        super().__init__(words, **options)

    def _execute_child(self, *given: Any) -> None:
        asked = inspect.signature(subprocess.Popen._execute_child).bind(self, *given).arguments  # by name
        cwd, env = asked["cwd"], asked["env"]
        theirs = [asked[name] for name in ("p2cread", "c2pwrite", "errwrite")]
        streams = [here if here != -1 else number for number, here in enumerate(theirs)]
        self._status, told = os.pipe()
        env = dict(os.environ if env is None else env)
        own_session = bool(asked["start_new_session"])
        request = {"words": asked["args"], "cwd": str(cwd or Path.cwd()), "env": env, "own_session": own_session}
        text = json.dumps(request).encode()
        with _ASKING:
            nursery = _nursery(self._modules)
            socket.send_fds(nursery, [len(text).to_bytes(4, "big")], [*streams, told])
            nursery.sendall(text)
        os.close(told)
        self._close_pipe_fds(
            *(asked[name] for name in ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite"))
        )
        self.pid = self._number()
        self._child_created = True

    def _number(self) -> int:
        read = os.read(self._status, 4)
        assert read, f"{self.args}: its keeper is dead"
        return int.from_bytes(read, "big", signed=True)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        with self._waitpid_lock:  # several threads may wait
            if self.returncode is None and select.select([self._status], [], [], 0)[0]:
                self.returncode = self._number()
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None and not select.select([self._status], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout)
        status = self._internal_poll()
        assert status is not None
        return status

    _status = -1

    def __del__(self) -> None:
        super().__del__()
        if self._status >= 0:
            os.close(self._status)


def _nursery(modules: tuple[str, ...]) -> socket.socket:
    """The socket of one that has imported some modules, started when it is first needed."""
    if modules not in _NURSERIES:
        here, there = socket.socketpair()
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(there.fileno()), *modules], cwd=ROOT, pass_fds=[there.fileno()]
        )
        there.close()
        _NURSERIES[modules] = here

        def close() -> None:
            here.close()
            process.wait()

        atexit.register(close)
    return _NURSERIES[modules]


def _serve(asked: socket.socket) -> list[str]:
    """Fork for each request until nobody is there to ask; returns in what was forked, with its command."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are not waited for
    while True:
        size, streams, _, _ = socket.recv_fds(asked, 4, 4)
        if not size:
            os._exit(0)
        request, length = b"", int.from_bytes(size, "big")
        while len(request) < length:
            request += asked.recv(length - len(request))
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asked.close()
            return _keep(json.loads(request), streams)
        for stream in streams:
            os.close(stream)


def _keep(request: dict[str, Any], fds: list[int]) -> list[str]:
    """Fork again, and report the new process; in it, run what was asked for."""
    *streams, told = fds
    pid = os.fork()
    if pid:
        for stream in streams:
            os.close(stream)
        os.write(told, pid.to_bytes(4, "big", signed=True))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            os.write(told, code.to_bytes(4, "big", signed=True))
        os._exit(0)
    os.close(told)
    if request["own_session"]:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    return list(request["words"])


def main() -> None:
    """Import, serve; and be the command, in what is forked."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    for module in sys.argv[2:]:
        importlib.import_module(module)
    _, how, *arguments = _serve(socket.socket(fileno=int(sys.argv[1])))
    faulthandler.enable(file=2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if how == "-P":
        how, *arguments = arguments
        del sys.path[0]
    else:
        sys.path[0] = str(Path.cwd())
    sys.path[1:1] = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in sys.path]
    if how == "-m":
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.argv = [how, *arguments[1:]]
        exec(compile(arguments[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = [how, *arguments]
        runpy.run_path(how, run_name="__main__")


if __name__ == "__main__":
    main()

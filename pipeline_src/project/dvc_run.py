"""Run DVC: its output streamed, its time limited, its processes ended with their caller.

Results are read from DVC's data (`dvc_graph`, the lock file). Where it has only messages, an unknown one is an
error. `verify` reads all files of DVC's cache and outputs, since DVC compares sizes and times, and trusts read-only
files in its cache, so that it does not notice a flipped bit on disk.
"""

import contextlib
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, ParamSpec, Self, TypeVar

from pipeline_src import yaml12
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json
from pipeline_src.project import supervise
from pipeline_src.project.code import home
from pipeline_src.project.graph import GRAPH
from pipeline_src.project.params import MOST_WORKERS, PARAMS_FILE, read_tree

# Running commands and the threads that wait for them: all of them end with the block in which they were started.

P = ParamSpec("P")
R = TypeVar("R")


class EndedError(ZugwerkError):
    """The command was ended together with all others, or not started any more."""


class Children:
    """Supervised commands of several threads; use it as a context manager."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(sys.maxsize)  # starts a thread only if none is idle

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.end()
        self._threads.shutdown()

    def submit(self, function: Callable[P, R], *args: P.args, **options: P.kwargs) -> Future[R]:
        """Call a function, which may run commands, in a separate thread."""
        return self._threads.submit(function, *args, **options)

    @contextlib.contextmanager
    def running(self, command: list[str], cwd: Path, env: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
        """Run a command for as long as the block lasts, see `supervise.running`. Raises EndedError: all have to end."""
        with supervise.running(command, cwd, env) as process:
            with self._lock:
                self._running.add(process)
            try:
                self.check()  # after the registration: either `end` sees this command, or this line sees the end
                yield process
            finally:
                with self._lock:
                    self._running.remove(process)

    def check(self) -> None:
        """Raise an `EndedError` if all commands have been ended."""
        if self.ended.is_set():
            raise EndedError("ended with all others")

    def end(self) -> None:
        """End all commands at the same time and wait for their processes; no other command can be started."""
        self.ended.set()
        with self._lock:
            left = list(self._running)
        for process in left:
            assert process.stdin is not None
            process.stdin.close()
        for process in left:
            supervise.end(process)


# DVC's words when another process holds an output or dependency; `--wait-for-lock` does not cover that lock.
BUSY = "is busy, it is being blocked by"
# DVC's words where a file or folder that a stage reads is not there.
_ABSENT = re.compile(r"failed to reproduce '(?P<stage>.+)': \[Errno 2\] No such file or directory: '(?P<path>.+)'")
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0
NO_LIMIT_S = 1e8  # Longest time limit; timers take no endless one
TAIL_LINES = 30
Say = Callable[[str], object]  # Takes each line of the output
# Result for a target: its command ran; its outputs came from DVC's run cache; nothing had changed.
State = Literal["ran", "restored", "up to date"]


class DvcFailedError(ZugwerkError):
    """A command of DVC failed; the text ends with its last log lines, for `dvc repro` those of the stage."""


class TimeLimitError(ZugwerkError):
    """A command was stopped because it took longer than its time limit."""


def repro(
    target: str,
    checkout: Path,
    say: Callable[[str], object],
    children: Children,
    *,
    limit_s: float = NO_LIMIT_S,
    force: bool = False,
    workers: int | None = None,
) -> State:
    """Bring one target, a stage of dvc.yaml or a member of a `foreach` group, up to date, without its dependencies.

    The time limit is in seconds, waiting for another DVC process included. The stage has at most so many processes
    (``workers``) on this machine; None: as in the params.

    Raises:
        DvcFailedError: DVC does not say in known words what became of the target, or see `run_dvc`.
        TimeLimitError, EndedError: see `run_dvc`.
    """
    words: dict[str, State] = {
        f"Running stage '{target}':": "ran",
        f"Stage '{target}' is cached - skipping run, checking out outputs": "restored",
        f"Stage '{target}' didn't change, skipping": "up to date",
    }
    state: State | None = None

    def hear(line: str) -> None:
        nonlocal state
        state = words.get(line, state)
        say(line)

    env = {} if workers is None else {MOST_WORKERS: str(workers)}
    options = ["--force"] * force
    run_dvc(["repro", "--single-item", *options, target], checkout, hear, children, limit_s=limit_s, env=env)
    if state is None:  # neither the lock file nor the exit status says which of the three it was
        what = f"`dvc repro {target}` did not say whether the stage ran"
        raise DvcFailedError(f"{what}; is this version of DVC supported?")
    return state


def status(targets: list[str], checkout: Path, say: Say) -> None:
    """Say what has changed in targets, all when empty, as `dvc status` does. Raises as `run_dvc`."""
    with Children() as children:
        run_dvc(["status", *targets], checkout, say, children)


def push(targets: list[str], checkout: Path, say: Say, *, limit_s: float) -> None:
    """Copy outputs of targets and their ancestors, of all when empty, to the default remote. Raises as `run_dvc`."""
    with Children() as children:
        run_dvc(["push", *(["--with-deps", *targets] if targets else [])], checkout, say, children, limit_s=limit_s)


def ask_dvc(checkout: Path, *words: str) -> str:
    """Return the output of a short command of DVC. Raises ZugwerkError: it is missing or fails, or a merge conflict."""
    _refuse_conflicts(checkout)
    if importlib.util.find_spec("dvc") is None:
        raise ZugwerkError("dvc is not installed for this Python; `make setup` or `pip install dvc` installs it")
    home()
    # DVC's page for plots is named relative to .dvc/. A pager or colours would corrupt the output.
    env = os.environ | {"DVC_NO_ANALYTICS": "1", "NO_COLOR": "1"}
    command = [sys.executable, "-P", "-m", "dvc", *words]
    done = subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True)  # noqa: S603
    if done.returncode:
        said = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        raise ZugwerkError(f"`dvc {' '.join(words[:2])}` failed: {said[0] if said else f'status {done.returncode}'}")
    return done.stdout


def run_dvc(
    arguments: list[str],
    checkout: Path,
    say: Callable[[str], object],
    children: Children,
    *,
    limit_s: float = NO_LIMIT_S,
    env: Mapping[str, str] | None = None,
    module: str = "dvc",
) -> None:
    """Run a command of DVC, or of a module that adds one to DVC's (`dvc_graph`), in a checkout.

    Its output goes line by line to ``say``. However this function is left (an error, a cancelled flow, Ctrl-C, the
    death of this process), DVC and all that its stage started end too, within `supervise.GRACE_S` or so.

    Raises:
        DvcFailedError: the command failed, or another process kept the checkout busy for the whole time.
        TimeLimitError: the time limit passed.
        EndedError: it was ended together with the other ``children``.
        ZugwerkError: a file of the graph has the markers of a merge conflict.
    """
    _refuse_conflicts(checkout)
    command = [module, "--wait-for-lock", *arguments]
    deadline = time.monotonic() + limit_s
    wait_s = FIRST_WAIT_S
    while True:
        status, tail = attempt(command, checkout, say, children, deadline, env or {})
        if status == 0:
            return
        children.check()
        busy = any(BUSY in line for line in tail)
        if not busy or time.monotonic() + wait_s > deadline:
            failed = f"`{' '.join(command)}` failed with status {status}; its last lines:\n{_text(tail)}"
            raise DvcFailedError("\n".join([failed, *_advice(tail, checkout)]))
        say(f"another DVC process is at work in {checkout}; trying again in {wait_s:.0f} s")
        children.ended.wait(wait_s)
        wait_s = min(2 * wait_s, LONGEST_WAIT_S)


def attempt(
    command: list[str], checkout: Path, say: Say, children: Children, deadline: float, env: Mapping[str, str]
) -> tuple[int, deque[str]]:
    """Run a module once, as `run_dvc` runs DVC's; its status and last lines. Raises TimeLimitError: by ``deadline``."""
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    late = threading.Event()
    home()
    path = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]  # `python` is this interpreter
    own = {"PATH": os.pathsep.join(path), "PYTHONUNBUFFERED": "1"}
    with children.running([sys.executable, "-P", "-m", *command], checkout, {**own, **env}) as process:

        def stop() -> None:
            late.set()
            supervise.end(process)

        limit = threading.Timer(min(deadline - time.monotonic(), NO_LIMIT_S), stop)
        limit.start()
        try:
            assert process.stdout is not None
            for line in map(str.rstrip, process.stdout):
                if line:
                    tail.append(line)
                    say(line)
            status = process.wait()
        finally:
            limit.cancel()
    if late.is_set():
        raise TimeLimitError(f"`{' '.join(command)}` was stopped at its time limit; its last lines:\n{_text(tail)}")
    return status, tail


def _refuse_conflicts(checkout: Path) -> None:
    """DVC calls such a file no YAML."""
    for name in (GRAPH, GRAPH.with_suffix(".lock"), PARAMS_FILE):
        if (path := checkout / name).is_file():
            yaml12.refuse_conflict(yaml12.text_of(path), path)


def _advice(tail: Iterable[str], checkout: Path) -> Iterator[str]:
    """Advice for a missing file that no stage makes."""
    for found in filter(None, map(_ABSENT.search, tail)):
        path = Path(found["path"])
        named = path.relative_to(checkout.resolve()) if path.is_relative_to(checkout.resolve()) else path
        yield (
            f"  {named}, which {found['stage']} reads, is not there: `zugwerk crawl SYSTEM --dry-run` makes "
            "artifacts/raw/SYSTEM/live from what was crawled, `dvc pull` brings what DVC keeps, and params.yaml names "
            "games of your own"
        )


def _text(tail: deque[str]) -> str:
    return "\n".join(f"  {line}" for line in tail)


# Whether the files in DVC's cache and outputs still have the bytes of their hashes.

LOCK = "dvc.lock"
_DIGEST = re.compile(r"[0-9a-f]{32}(\.dir)?")


class Verified(NamedTuple):
    """Result of the check."""

    read: int  # Number of files read
    removed: list[Path]  # Damaged files that were removed from the cache, because their bytes did not match their names
    different: list[Path]  # Outputs with bytes that differ from dvc.lock


def verify(project: Path = Path()) -> Verified:
    """Read all of the cache and the outputs.

    Damaged files in the cache are removed, as DVC does when it notices them. Outputs that differ get a new time, so
    that DVC checks them again and `dvc status` names them. Outputs that are missing or not in dvc.lock are left to DVC.

    Raises:
        ZugwerkError: DVC is not installed or not set up in ``project``, or dvc.lock cannot be read.
        OSError: a file cannot be read or removed.
    """
    from tqdm import tqdm

    stages = read_tree(project / LOCK).get("stages")
    if not isinstance(stages, dict):
        raise ZugwerkError(f"{LOCK}: no stages; `git checkout {LOCK}` restores it")
    if not (state := project / ".dvc").is_dir():
        raise ZugwerkError(f"{state}: no such folder, so there is no cache; run in a clone or `dvc init` here")
    cache = project / ask_dvc(project, "cache", "dir").strip() / "files/md5"
    kept = [path for path in sorted(cache.glob("??/*")) if _DIGEST.fullmatch(_digest_of(path))]
    removed = []
    for path in tqdm(kept, desc="cache", unit="file", disable=None):
        if _md5(path) != _digest_of(path).removesuffix(".dir"):
            path.unlink()
            removed.append(_below(path, project))
    expected = [(path, digest) for path, digest in _outputs(stages, project, cache) if path.is_file()]
    different = []
    for path, digest in tqdm(expected, desc="outputs", unit="file", disable=None):
        if _md5(path) != digest:
            os.utime(path)
            different.append(_below(path, project))
    return Verified(len(kept) + len(expected), removed, different)


def _outputs(stages: Mapping[str, Any], project: Path, cache: Path) -> Iterator[tuple[Path, str]]:
    """Return files and their MD5. The files of a folder are listed in the cache; without the list they are unknown."""
    for stage in stages.values():
        for out in stage.get("outs", ()):
            path, digest = project / out["path"], out["md5"]
            listing = cache / digest[:2] / digest[2:]
            if not digest.endswith(".dir"):
                yield path, digest
            elif listing.exists():
                yield from ((path / entry["relpath"], entry["md5"]) for entry in read_json(listing))


def _digest_of(path: Path) -> str:
    """Return the hash in the name of a cache file, whose first two digits are the folder."""
    return path.parent.name + path.name


def _md5(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _below(path: Path, project: Path) -> Path:
    """Return the path as a user of the project would give it."""
    return Path(os.path.relpath(path, project)) if path.is_relative_to(project.resolve()) else path

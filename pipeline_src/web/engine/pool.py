"""`Engines`: a few processes that run the searches and nets of all tabs."""

import asyncio
import contextlib
import itertools
import os
import signal
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from pipeline_src.errors import ZugwerkError
from pipeline_src.web.engine.tasks import Answer, Call, Chosen, Request, Task

STOP_S = 0.6
"""Seconds that a cancelled search may take to end before its process is killed."""
IDLE_S = 600.0
"""Seconds after which an idle process is ended."""
LONGEST_LINE = 1 << 20
LAST_LINES = 4
"""Number of lines of the child's standard error in a message."""


Heard = Callable[[Answer | int], None]


class EngineError(ZugwerkError):
    """A process gave no move or value; the message has the reason."""


class Engine:
    """A process, and the key of its last task."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.busy, self.game, self.used = process, True, "", time.monotonic()
        self._killed = False
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls) -> "Engine":
        """Start a process; it takes a second until it is ready."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pipeline_src.web.engine.child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            start_new_session=True,  # a Ctrl-C is the server's
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        return cls(process)

    @property
    def alive(self) -> bool:
        """Whether the process accepts requests. It may have ended before the event loop notices."""
        if self._killed or self.process.returncode is not None:
            return False
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        except ChildProcessError:
            return False

    async def _listen(self) -> None:
        assert self.process.stderr is not None
        with contextlib.suppress(ValueError):  # a line that is too long
            async for line in self.process.stderr:
                self._said.append(line.decode("utf-8", "replace").strip())

    async def send(self, request: Request) -> None:
        """Write a line to the process."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it is dead, as its reader is about to see
            self.process.stdin.write(request.model_dump_json(exclude_defaults=True).encode() + b"\n")
            await self.process.stdin.drain()

    async def answers(self, number: int) -> AsyncIterator[Answer]:
        """Yield the answers to a task.

        Raises:
            EngineError: the process ended.
        """
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            answer = Answer.model_validate_json(line)
            if answer.id == number:  # others were given up
                yield answer
        raise EngineError(f"the engine's process ended ({await self._ending()}); the next question starts another one")

    async def _ending(self) -> str:
        code = await self.process.wait()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._listening, 1)
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"status {code}"
        return ": ".join([how, *list(self._said)[-1:]])

    def kill(self) -> None:
        """Kill the process."""
        self._killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Thinking:
    """A running task or call; `last` waits for its end."""

    def __init__(self, engines: "Engines", work: Task | Call, heard: Heard) -> None:
        self._engines, self._work, self._heard = engines, work, heard
        self._engine: Engine | None = None
        self._number = next(engines.numbers)
        self._stopped = False

    async def chosen(self) -> Chosen:
        """Wait for the move of a task, see `last`."""
        chosen = (await self.last()).chosen
        assert chosen is not None
        return chosen

    async def last(self) -> Answer:
        """Wait for the last answer. After a cancellation, the process is free or killed within `STOP_S`.

        Raises:
            EngineError: the player or the function failed, or the process ended.
        """
        async with self._engines.taken(self._work.key, self._heard) as engine:
            self._engine = engine
            task, call = (self._work, None) if isinstance(self._work, Task) else (None, self._work)
            try:
                await engine.send(Request(id=self._number, task=task, call=call))
                if self._stopped:
                    await engine.send(Request(id=self._number))
                return await self._follow(engine)
            except asyncio.CancelledError:
                await asyncio.shield(self._end(engine))
                raise
            finally:
                self._engine = None  # it is about to work for another

    async def _follow(self, engine: Engine) -> Answer:
        async for answer in engine.answers(self._number):
            if answer.failed is not None:
                raise EngineError(answer.failed)
            if answer.last:
                return answer
            self._heard(answer)
        raise EngineError("the engine said nothing")

    async def _end(self, engine: Engine) -> None:
        try:
            async with asyncio.timeout(STOP_S):
                await engine.send(Request(id=self._number))
                async for answer in engine.answers(self._number):
                    if answer.last:
                        return
        except (TimeoutError, EngineError):
            engine.kill()

    async def stop(self) -> None:
        """Ask the search to answer with its best move so far."""
        self._stopped = True
        if self._engine is not None:
            await self._engine.send(Request(id=self._number))


class Turn(NamedTuple):
    """A place in the queue for a process."""

    come: asyncio.Future[None]
    heard: Heard


class Engines:
    """A pool of at most ``limit`` processes, with a queue of waiting tasks."""

    def __init__(self, limit: int) -> None:
        self.numbers = itertools.count(1)
        self._limit = self._free = limit
        self._all: list[Engine] = []
        self._line: deque[Turn] = deque()

    def begin(self, work: Task | Call, heard: Heard) -> Thinking:
        """Begin a task. ``heard`` gets its answers and, as a number, its place in the queue."""
        return Thinking(self, work, heard)

    async def values(self, call: Call) -> list[Any]:
        """Return all values of a call.

        Raises:
            EngineError: see `Thinking.last`.
        """
        found: list[Any] = []
        await self.begin(call, lambda heard: found.extend(() if isinstance(heard, int) else heard.values)).last()
        return found

    async def warm(self, tasks: Sequence[Task]) -> None:
        """Let a process load what some tasks need, one after the other. Their results are ignored."""
        for task in tasks:
            with contextlib.suppress(EngineError):
                await self.begin(task, lambda _: None).last()

    @property
    def has_room(self) -> bool:
        """Whether a task can begin at once."""
        return self._free > 0

    @asynccontextmanager
    async def taken(self, key: str, heard: Heard) -> AsyncIterator[Engine]:
        """Reserve a process for the block, if possible the one that last worked for the same game."""
        await self._place(heard)
        try:
            engine = await self._engine(key.partition("/")[0])
            try:
                yield engine
            finally:
                engine.busy, engine.used = False, time.monotonic()
        finally:
            self._leave()

    async def _place(self, heard: Heard) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn = Turn(asyncio.get_running_loop().create_future(), heard)
        self._line.append(turn)
        heard(len(self._line) - 1)
        try:
            await turn.come
        except asyncio.CancelledError:
            if turn.come.cancelled():
                with contextlib.suppress(ValueError):
                    self._line.remove(turn)
                self._tell()
            else:  # it was its turn just now
                self._leave()
            raise

    def _leave(self) -> None:
        """Give the process to the first task in the queue."""
        while self._line:
            turn = self._line.popleft()
            if not turn.come.done():
                turn.come.set_result(None)
                self._tell()
                return
        self._free += 1

    def _tell(self) -> None:
        for before, turn in enumerate(self._line):
            turn.heard(before)

    async def _engine(self, game: str) -> Engine:
        self._all = [one for one in self._all if one.alive]
        idle = sorted((one for one in self._all if not one.busy), key=lambda one: (one.game != game, one.used))
        if idle:
            engine = idle[0]
            engine.busy = True
        else:
            engine = await Engine.start()
            self._all.append(engine)
        engine.game = game
        return engine

    async def watch(self) -> None:
        """End idle processes, in an endless loop."""
        while True:
            await asyncio.sleep(IDLE_S / 20)
            for one in self._all:
                if not one.busy and time.monotonic() - one.used > IDLE_S:
                    one.kill()

    async def close(self) -> None:
        """Kill all processes."""
        for one in self._all:
            one.kill()
            await one.process.wait()

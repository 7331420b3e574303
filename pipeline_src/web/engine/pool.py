"""A few processes that think and look for all tabs: `Engines`."""

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
"""How long a search that nobody waits for any more may take to end, before its process is killed."""
IDLE_S = 600.0
"""After which a process that does nothing is ended."""
LONGEST_LINE = 1 << 20
LAST_LINES = 4
"""Of the child's standard error that a message repeats."""


Heard = Callable[[Answer | int], None]


class EngineError(ZugwerkError):
    """No move, or no value; says why."""


class Engine:
    """One process, and what it last did."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.busy, self.game, self.used = process, True, "", time.monotonic()
        self._killed = False
        self._said: deque[str] = deque(maxlen=LAST_LINES)
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls) -> "Engine":
        """A new process; it takes a second until it can think."""
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
        """Whether it can be asked anything more; the loop itself may not have seen yet that it ended."""
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
        """Write a line to it."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it is dead, as whoever reads from it is about to see
            self.process.stdin.write(request.model_dump_json(exclude_defaults=True).encode() + b"\n")
            await self.process.stdin.drain()

    async def answers(self, number: int) -> AsyncIterator[Answer]:
        """What it says of one task.

        Raises:
            EngineError: it ended.
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
        """End it at once."""
        self._killed = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


class Thinking:
    """A task or a call under way; `last` waits for its end."""

    def __init__(self, engines: "Engines", work: Task | Call, heard: Heard) -> None:
        self._engines, self._work, self._heard = engines, work, heard
        self._engine: Engine | None = None
        self._number = next(engines.numbers)
        self._stopped = False

    async def chosen(self) -> Chosen:
        """The move of a task, see `last`."""
        chosen = (await self.last()).chosen
        assert chosen is not None
        return chosen

    async def last(self) -> Answer:
        """The end; cancelled, the process is free or dead within `STOP_S`.

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
        """Have it answer with what it has."""
        self._stopped = True
        if self._engine is not None:
            await self._engine.send(Request(id=self._number))


class Turn(NamedTuple):
    """A place in the line of those who wait for a process."""

    come: asyncio.Future[None]
    heard: Heard


class Engines:
    """At most ``limit`` processes; who finds none free waits in line."""

    def __init__(self, limit: int) -> None:
        self.numbers = itertools.count(1)
        self._limit = self._free = limit
        self._all: list[Engine] = []
        self._line: deque[Turn] = deque()

    def begin(self, work: Task | Call, heard: Heard) -> Thinking:
        """``heard`` is told of stages, thoughts and values, and, as a number, of how many wait before it."""
        return Thinking(self, work, heard)

    async def values(self, call: Call) -> list[Any]:
        """All values of a call.

        Raises:
            EngineError: see `Thinking.last`.
        """
        found: list[Any] = []
        await self.begin(call, lambda heard: found.extend(() if isinstance(heard, int) else heard.values)).last()
        return found

    async def warm(self, tasks: Sequence[Task]) -> None:
        """Have a process load what it needs for some tasks, one after the other; nobody is told how they went."""
        for task in tasks:
            with contextlib.suppress(EngineError):
                await self.begin(task, lambda _: None).last()

    @property
    def has_room(self) -> bool:
        """Whether a task would begin at once."""
        return self._free > 0

    @asynccontextmanager
    async def taken(self, key: str, heard: Heard) -> AsyncIterator[Engine]:
        """A process for the block, the one that last worked for the same game if it is free."""
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
        """Give the place to the first in line."""
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
        """End processes that nobody uses, for ever."""
        while True:
            await asyncio.sleep(IDLE_S / 20)
            for one in self._all:
                if not one.busy and time.monotonic() - one.used > IDLE_S:
                    one.kill()

    async def close(self) -> None:
        """Kill all."""
        for one in self._all:
            one.kill()
            await one.process.wait()

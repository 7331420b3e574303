"""`Engines`: a few processes that run the searches and nets of all tabs, and the messages that they take and give.

A stuck process can be killed, and the server stays responsive. `child` is the process.
"""

import asyncio
import contextlib
import itertools
import os
import signal
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.project.params import Described
from pipeline_src.web.settings import GAME_FILES

STOP_S = 0.6  # Seconds that a cancelled search may take to end before its process is killed
IDLE_S = 600.0  # Seconds after which an idle process is ended
LONGEST_LINE = 1 << 20
Ms = Annotated[float, Field(gt=0, le=1e9)]
Unit = Literal["rate", "squares", "points"]
MOST_PLIES = 2_000
MoveText = Annotated[str, Field(min_length=1, max_length=16)]
Moves = Annotated[tuple[MoveText, ...], Field(max_length=MOST_PLIES)]


class Message(Described):
    """A message between the server, its pages and its processes."""


class Place(Message):
    """A position, as the start of a game and the moves from there."""

    game: Annotated[str, Field(max_length=200)]
    """Game: ``amazons``, ``gomoku``, a packaged game in one file such as ``hex``, or a file given to the server."""
    size: Annotated[int, Field(ge=3, le=25)]
    """Size of the board of the start position."""
    variant: Annotated[str, Field(max_length=200)]
    """Variant of the rules, such as ``standard`` or ``freestyle``."""
    fen: Annotated[str, Field(max_length=1000)] = ""
    """Start position as a FEN, which replaces size and variant."""
    moves: Moves = ()
    """Moves from the start position as texts: ``d1-d7/g7``, ``h8``."""


class TimeLeft(Message):
    """Clocks of a game for the side to move, in milliseconds."""

    own_ms: float
    other_ms: float
    increment_ms: float


class Task(Message):
    """A move to choose. The first limit reached ends the search; by default the player's own limit or the clock."""

    place: Place
    player: Annotated[str, Field(max_length=500)]
    """Text of the player, see `zugwerk players`."""
    key: str = ""
    """``GAME/SIDE``; players keep separate memories for each."""
    clock: TimeLeft | None = None
    movetime_ms: Ms | None = None
    nodes: Annotated[int, Field(ge=1)] | None = None
    depth: Annotated[int, Field(ge=1, le=96)] | None = None
    infinite: bool = False
    """Search until stopped, or until the search can find no more."""
    lines: Annotated[int, Field(ge=1, le=20)] = 1
    """Number of best moves to report with their lines."""
    only_made: bool = False
    """Only make the player, to check its text and find its board; choose no move."""


class Call(Message):
    """Values to compute, such as the policy and value of a net."""

    function: str
    """Name of a function of `web.child`."""
    arguments: tuple[Any, ...]
    key: str
    """Key of the call. A process that has run a call with this key is preferred, since it has loaded the data."""


class OnlyBoard(Message):
    """The only board of a player, such as that of its net."""

    height: int
    width: int
    variant: str


class ThoughtLine(Message):
    """One of the best moves of a position."""

    moves: tuple[str, ...]
    """The move, with its expected continuation."""
    value: float | None
    """Value to the side to move; null if it is infinite."""
    win_rate: float | None
    """The value as a win rate from 0 to 1."""
    depth: int
    """Depth in plies; for tree searches, length of the line."""
    visits: int | None
    """Simulations of a tree search that began with the move."""


class Thought(Message):
    """Result of a search so far. A player without a search reports nothing."""

    depth: int
    """Depth in plies; for tree searches, of the longest line."""
    nodes: int
    """Positions searched; for tree searches, simulations."""
    seconds: float
    value: float | None
    """Value to the side to move, in ``unit``; null if it is infinite."""
    unit: Unit
    """Unit of the value: ``rate`` from -1 to 1, ``squares`` in the Amazons, ``points`` of Gomoku's evaluations."""
    win_rate: float | None
    """The value as a win rate from 0 to 1: 4 squares, 400 points of Gomoku's engine or 40 of another player are odds of
    e to 1. For iterative deepening it is the mean over the last two depths."""
    line: tuple[str, ...]
    """Principal variation, from the best move on."""
    lines: tuple[ThoughtLine, ...] = ()
    """The best moves, as many as the task asks for; one alone from searches that have no more."""


class Chosen(Message):
    """The end of a task."""

    move: str
    """The move; empty for ``only_made``."""
    thought: Thought | None
    only: OnlyBoard | None


class Answer(Message):
    """A line from the child."""

    id: int
    stage: Literal["loading", "thinking"] | None = None
    thought: Thought | None = None
    values: tuple[Any, ...] = ()
    """Next values of a call."""
    chosen: Chosen | None = None
    """The end of a task."""
    ended: bool = False
    """The end of a call."""
    failed: str | None = None
    """Error message that ends the task or call."""

    @property
    def last(self) -> bool:
        """Whether this is the last answer to the task or call."""
        return self.ended or self.chosen is not None or self.failed is not None


class Request(Message):
    """A line to the child: a task, a call, or else a request to stop the task of this id, which still answers."""

    id: int
    task: Task | None = None
    call: Call | None = None


Heard = Callable[[Answer | int], None]


class EngineError(ZugwerkError):
    """A process gave no move or value; the message has the reason."""


class Engine:
    """A process, and the key of its last task."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process, self.busy, self.game, self.used = process, True, "", time.monotonic()
        self._killed = False
        self._said = ""  # Last line of its standard error
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls) -> "Engine":
        """Start a process; it takes a second until it is ready."""
        command = (sys.executable, "-m", "pipeline_src.web.child", *sorted(GAME_FILES))
        env = {**os.environ, "OMP_NUM_THREADS": "1"}
        pipe, own = asyncio.subprocess.PIPE, True  # a session of its own: a Ctrl-C is the server's
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=LONGEST_LINE, start_new_session=own, env=env
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
                self._said = line.decode("utf-8", "replace").strip()

    async def send(self, request: Request) -> None:
        """Write a line to the process."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it is dead, as its reader is about to see
            self.process.stdin.write(request.model_dump_json(exclude_defaults=True).encode() + b"\n")
            await self.process.stdin.drain()

    async def answers(self, number: int) -> AsyncIterator[Answer]:
        """Yield the answers to a task (`EngineError`: the process ended)."""
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
        return f"{how}: {self._said}" if self._said else how

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
        """Return all values of a call (`EngineError`: see `Thinking.last`)."""
        return [value async for heard in self.follow(call) if isinstance(heard, Answer) for value in heard.values]

    async def follow(self, work: Task | Call) -> AsyncGenerator[Answer | int, None]:
        """Yield the answers to a task or call, its last one too, and its place in the queue as a number.

        Where the iteration is ended, the work is too: its process is then free, or dead.

        Raises:
            EngineError: see `Thinking.last`.
        """
        queue: asyncio.Queue[Answer | int | None] = asyncio.Queue()
        end = asyncio.create_task(self.begin(work, queue.put_nowait).last())
        end.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (heard := await queue.get()) is not None:
                yield heard
            yield await end
        finally:
            end.cancel()
            await asyncio.wait([end])
            _ = end.cancelled() or end.exception()  # so that none is reported as never looked at

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

"""One analysis for one WebSocket: a thread that reads what the process finds, and the loop that tells the page."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord
from pipeline_src.web.analysis import TASK, Found, known
from pipeline_src.web.messages.analyse import AnalysisRequest, AnalysisState, PlyAnalysis
from pipeline_src.web.worker import Worker, Workers

Heard = PlyAnalysis | str | None
"""A position, an error in words, or that the player is ready."""


class Job:
    """An analysis in a process, read by a thread of its own."""

    def __init__(self, workers: Workers, hear: Callable[[Heard], None]) -> None:
        """``hear`` is called from the thread."""
        self._workers, self._hear = workers, hear
        self._worker: Worker | None = None
        self._stopped, self._lock = False, threading.Lock()

    def start(self, record: GameRecord, wanted: AnalysisRequest, done: Found) -> None:
        """Begin with the positions that are not ``done``."""
        known_by_now = [one.model_dump() for one in done.values()]
        arguments = (asdict(record), wanted.player, wanted.movetime, known_by_now)
        threading.Thread(target=self._work, args=arguments, daemon=True).start()

    def stop(self) -> None:
        """End the process, if it still thinks."""
        with self._lock:
            self._stopped = True
            if self._worker is not None:
                self._worker.kill()

    def _work(self, *arguments: Any) -> None:
        try:
            with self._workers.one(TASK) as worker:
                with self._lock:
                    if self._stopped:
                        return
                    self._worker = worker
                try:
                    for one in worker.run(TASK, *arguments):
                        self._hear(None if one is None else PlyAnalysis.model_validate(one))
                finally:
                    with self._lock:
                        self._worker = None
        except ZugwerkError as error:
            self._hear(str(error))
        except Exception as error:
            self._hear(f"{type(error).__name__}: {error}")


async def follow(socket: WebSocket, record: GameRecord, wanted: AnalysisRequest) -> None:
    """Tell the page what is found, and stop when it is gone."""
    found, positions = known(record, wanted), len(record.actions) + 1
    queue: asyncio.Queue[Heard] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def hear(one: Heard) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(queue.put_nowait, one)

    job, gone = Job(socket.app.state.workers, hear), asyncio.ensure_future(_until_gone(socket))
    try:
        for one in sorted(found.values(), key=lambda one: one.ply):
            await socket.send_text(one.model_dump_json())
        await _tell(socket, "preparing" if len(found) < positions else "done", len(found), positions)
        if len(found) < positions:
            job.start(record, wanted, dict(found))
        while len(found) < positions:
            heard = asyncio.ensure_future(queue.get())
            await asyncio.wait({heard, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                heard.cancel()
                return
            one_more = heard.result()
            if isinstance(one_more, str):
                await fail(socket, one_more, len(found), positions)
                return
            if one_more is not None:
                found[one_more.ply] = one_more
                await socket.send_text(one_more.model_dump_json())
            await _tell(socket, "running" if len(found) < positions else "done", len(found), positions)
    except (WebSocketDisconnect, RuntimeError):
        return
    finally:
        job.stop()
        gone.cancel()
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await socket.close()


async def fail(socket: WebSocket, error: str, done: int = 0, positions: int = 0) -> None:
    """Say what is wrong, and close."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await _tell(socket, "failed", done, positions, error)
        await socket.close()


async def _until_gone(socket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.receive_text()


async def _tell(socket: WebSocket, state: Any, done: int, positions: int, error: str = "") -> None:
    await socket.send_text(AnalysisState(state=state, done=done, positions=positions, error=error).model_dump_json())

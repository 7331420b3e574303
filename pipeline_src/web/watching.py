"""Send the results of an analysis to a WebSocket."""

import asyncio
import contextlib
from dataclasses import asdict
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord
from pipeline_src.web import incoming
from pipeline_src.web.analysis import TASK, known
from pipeline_src.web.engine.tasks import Answer, Call
from pipeline_src.web.messages.analyse import AnalysisRequest, AnalysisState, PlyAnalysis


async def follow(socket: WebSocket, record: GameRecord, wanted: AnalysisRequest) -> None:
    """Analyse a game, send the results to the page, and stop when the page is closed."""
    work, gone = asyncio.create_task(_analyse(socket, record, wanted)), asyncio.create_task(_until_gone(socket))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # the page has gone
                work.result()
    finally:
        work.cancel()
        gone.cancel()
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await socket.close()


async def _analyse(socket: WebSocket, record: GameRecord, wanted: AnalysisRequest) -> None:
    found, positions = known(record, wanted), len(record.actions) + 1
    for one in sorted(found.values(), key=lambda one: one.ply):
        await socket.send_text(one.model_dump_json())
    await _tell(socket, "preparing" if len(found) < positions else "done", len(found), positions)
    if len(found) == positions:
        return
    done = [one.model_dump() for one in found.values()]
    call = Call(function=TASK, arguments=(asdict(record), wanted.player, wanted.movetime, done), key="analysis")
    queue: asyncio.Queue[Answer | int | None] = asyncio.Queue()
    thinking = asyncio.create_task(socket.app.state.engines.begin(call, queue.put_nowait).last())
    thinking.add_done_callback(lambda _: queue.put_nowait(None))
    thinking.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # reported below
    try:
        while (heard := await queue.get()) is not None:
            if isinstance(heard, int):
                await _tell(socket, "waiting", len(found), positions)
                continue
            for value in filter(None, heard.values):
                one = found[value["ply"]] = PlyAnalysis.model_validate(value)
                await socket.send_text(one.model_dump_json())
            state = "preparing" if heard.stage else "running" if len(found) < positions else "done"
            await _tell(socket, state, len(found), positions)
        await thinking
    except ZugwerkError as error:
        await fail(socket, str(error), len(found), positions)
    finally:
        thinking.cancel()  # the process is free, or dead, soon after


async def fail(socket: WebSocket, error: str, done: int = 0, positions: int = 0) -> None:
    """Send an error and close the socket."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await _tell(socket, "failed", done, positions, error)
        await socket.close()


async def _until_gone(socket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await incoming.text(socket)


async def _tell(socket: WebSocket, state: Any, done: int, positions: int, error: str = "") -> None:
    await socket.send_text(AnalysisState(state=state, done=done, positions=positions, error=error).model_dump_json())

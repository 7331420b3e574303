"""A player thinks about the position that a page shows, until the page shows another one or is closed."""

import asyncio
import contextlib

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from pipeline_src.errors import ZugwerkError
from pipeline_src.web import incoming
from pipeline_src.web.choices import check_player
from pipeline_src.web.engine.tasks import Answer, Task
from pipeline_src.web.incoming import FLOOD, Rate
from pipeline_src.web.messages.analyse import Thinking, ThinkRequest
from pipeline_src.web.settings import Settings


async def follow(socket: WebSocket, settings: Settings) -> None:
    """Answer the requests of a page (`ThinkRequest`). Each ends the search of the one before."""
    rate, work = Rate(), None
    try:
        while True:
            text = await incoming.text(socket)
            if not rate.allows_one():
                await socket.close(FLOOD, "this page sent too many messages; reload it")
                return
            if work is not None:
                work.cancel()
            work = asyncio.create_task(_answer(socket, settings, text, work))
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        if work is not None:
            work.cancel()
            await asyncio.wait([work])


async def _answer(socket: WebSocket, settings: Settings, text: str, before: "asyncio.Task[None] | None") -> None:
    if before is not None:
        await asyncio.wait([before])
    number = 0
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        try:
            wanted = ThinkRequest.model_validate_json(text)
            number = wanted.number
            await asyncio.to_thread(check_player, wanted.player, wanted.place.game, settings)
            await _think(socket, wanted)
        except ValidationError as error:
            first = error.errors()[0]
            await _tell(socket, number, "failed", error=f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:500])
        except ZugwerkError as error:
            await _tell(socket, number, "failed", error=str(error))


async def _think(socket: WebSocket, wanted: ThinkRequest) -> None:
    task = Task(place=wanted.place, player=wanted.player, key="think", infinite=True, lines=wanted.lines)
    queue: asyncio.Queue[Answer | int | None] = asyncio.Queue()
    search = asyncio.create_task(socket.app.state.engines.begin(task, queue.put_nowait).chosen())
    search.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (heard := await queue.get()) is not None:
            if isinstance(heard, int):
                await _tell(socket, wanted.number, "waiting")
            else:
                await _tell(socket, wanted.number, heard.stage or "thinking", heard.thought)
        await _tell(socket, wanted.number, "done", (await search).thought)
    finally:
        search.cancel()
        await asyncio.wait([search])  # its process is free, or dead


async def _tell(socket: WebSocket, number: int, state: str, thought: object = None, error: str = "") -> None:
    message = Thinking.model_validate({"number": number, "state": state, "thought": thought, "error": error})
    await socket.send_text(message.model_dump_json())

"""Routes of the page Play, and the WebSocket of a game."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, FastAPI, HTTPException, Request, Response, WebSocket, WebSocketDisconnect
from fastapi import Path as InPath
from pydantic import ValidationError

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES, get_game
from pipeline_src.web import messages
from pipeline_src.web.choices import ANALYSTS, USUAL, VARIANTS, budget, check_player, hinting
from pipeline_src.web.engine import Call, Engines, Message, Place, Task
from pipeline_src.web.session import FullError, Session, Store

router = APIRouter(prefix="/api/play", tags=["play"])
PAINTED_S = 0.5  # Seconds from the start until rules and players are loaded, in which the page is painted and filled
MOST_TABS = 8  # Largest number of tabs of a game
MOST_UNSENT = 100  # Largest number of messages that wait for a tab
GONE, BUSY, SLOW = 4404, 4429, 4013
"""Codes that close the WebSocket of a game: unknown game, too many tabs, messages not read."""
KINDS = {"sgf": "application/x-go-sgf", "psq": "text/plain", "txt": "text/plain", "parquet": "application/octet-stream"}
Name = Annotated[str, InPath(max_length=40)]


_LOADING = threading.Lock()


def rules() -> None:
    """Import what knows the rules of the games, with numba, before anything else needs it.

    One thread does it and others wait: of a package that two threads import, one may see a part alone.
    """
    with _LOADING:
        for game in GAMES:
            get_game(game)
        from pipeline_src.web import trees  # noqa: F401


@asynccontextmanager
async def opened(app: FastAPI) -> AsyncIterator[None]:
    """Keep processes and games in ``request.app.state`` while the server runs."""
    engines = Engines(app.state.settings.engines)
    app.state.engines, app.state.games, app.state.seeing = engines, Store(engines), asyncio.Lock()
    tasks = [asyncio.create_task(engines.watch())]
    app.state.ahead = asyncio.create_task(_load_ahead(engines)) if app.state.settings.ahead else None
    if app.state.ahead is not None:
        tasks.append(app.state.ahead)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await app.state.games.close()


async def _load_ahead(engines: Engines) -> None:
    """Load the rules here and the usual players in a process, so that the first game need not wait."""
    await asyncio.sleep(PAINTED_S)
    await asyncio.to_thread(rules)
    places = [Place(game=game, size=size, variant=VARIANTS[game][0].name) for game, size in USUAL.items()]
    players = [(place, p) for place in places for p in (hinting(place.game, place.variant), ANALYSTS[place.game][0])]
    await engines.warm([Task(place=place, player=player, movetime_ms=1) for place, player in players])


@router.post("/board")
def board(place: Place) -> messages.Board:
    """Return a position with its legal moves."""
    from pipeline_src.web.game import Game

    return Game(place).board()


@router.post("/territory")
def squares(place: Place) -> messages.Territory:
    """Return the empty squares of each side in a position of the Amazons."""
    from pipeline_src.web.game import Game, squares_of

    if place.game != "amazons":
        raise ZugwerkError(f"territory is for the Amazons, not {place.game}")
    return squares_of(Game(place).state)


@router.post("/player")
async def player(asked: messages.PlayerCheck, request: Request) -> messages.Checked:
    """Check the text of a player, and return its only board."""
    check_player(asked.player, asked.game, request.app.state.settings)
    task = Task(
        place=Place(game=asked.game, size=USUAL.get(asked.game, 10), variant=""), player=asked.player, only_made=True
    )
    chosen = await request.app.state.engines.begin(task, lambda _: None).chosen()
    return messages.Checked(only=chosen.only)


@router.post("/judge")
async def judge(asked: messages.Judge, request: Request) -> messages.Judged:
    """Judge a move by a quick analysis of the positions before and after it."""
    from pipeline_src.web.trees import record_at

    moves = (*asked.place.moves, asked.move)
    record = await asyncio.to_thread(record_at, asked.place.model_copy(update={"moves": moves}))
    player = hinting(record.game, record.variant)
    call = Call(function="analyse", arguments=(asdict(record), player, budget(player), len(moves) - 1, ()), key="judge")
    before, after = [one for one in await request.app.state.engines.values(call) if one]
    return messages.Judged(win_rates=(before["win_rate"], after["win_rate"]), lost=after["lost"], line=before["line"])


@router.post("/games", status_code=201)
async def begin(wanted: messages.NewGame, request: Request) -> messages.Begun:
    """Begin a game."""
    for seat in (wanted.first, wanted.second):
        if seat != messages.PERSON:
            check_player(seat, wanted.place.game, request.app.state.settings)
    try:
        session = await request.app.state.games.begin(wanted)
    except FullError:
        raise HTTPException(503, "too many games are open in tabs; close some of them") from None
    return messages.Begun(id=session.name)


def _session(name: str, store: Store) -> Session:
    session = store.get(name)
    if session is None:
        raise HTTPException(404, "the server has no such game; it keeps games for a day, and while it runs")
    return session


@router.get("/games/{name}/record.{suffix}")
async def record(name: Name, suffix: Annotated[str, InPath(max_length=10)], request: Request) -> Response:
    """Return the game as a file."""
    session = _session(name, request.app.state.games)
    content = await session.save(suffix)
    file = f'attachment; filename="{session.game.place.game}-{name}.{suffix}"'
    return Response(content, media_type=KINDS[suffix], headers={"content-disposition": file})


class Wire:
    """Messages to a tab, in order, at most `MOST_UNSENT` unsent ones. A new thought replaces one that waits."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket, self._queue = socket, list[Message]()
        self._more = asyncio.Event()

    def hear(self, message: Message) -> None:
        """Queue a message."""
        if all(isinstance(one, messages.ThoughtMessage) for one in (message, *self._queue[-1:])):
            del self._queue[-1:]
        self._queue.append(message)
        self._more.set()

    async def run(self) -> None:
        """Send messages until the tab is closed or no longer reads."""
        while await self._more.wait():
            self._more.clear()
            if len(self._queue) > MOST_UNSENT:
                await self._socket.close(SLOW, "this page does not read what it is sent")
                return
            sending, self._queue = self._queue, []
            for message in sending:
                await self._socket.send_text(message.model_dump_json())


@router.websocket("/games/{name}/socket")
async def socket(name: str, wire: WebSocket) -> None:
    """Send a tab the state of a game, and carry out its actions."""
    session = wire.app.state.games.get(name)
    await wire.accept()
    if session is None:
        await wire.close(GONE, "the server has no such game")
        return
    if session.tabs >= MOST_TABS:
        await wire.close(BUSY, f"this game is open in {MOST_TABS} tabs already")
        return
    out = Wire(wire)
    sending = asyncio.create_task(out.run())
    try:
        await session.join(out.hear)
        await _listen(wire, session, out)
    except (WebSocketDisconnect, RuntimeError):  # the latter where it is closed from here meanwhile
        pass
    finally:
        session.leave(out.hear)
        sending.cancel()
        with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
            await sending


async def _listen(wire: WebSocket, session: Session, out: Wire) -> None:
    settings = wire.app.state.settings
    async for text in messages.received(wire):
        try:
            act = messages.Act.model_validate_json(text)
            if act.player is not None:
                check_player(act.player, session.game.place.game, settings)
            await session.act(act)
        except ValidationError as error:
            out.hear(messages.Problem(text=messages.reason(error)))
        except ZugwerkError as error:
            out.hear(messages.Problem(text=str(error)))
            await session.show(out.hear)

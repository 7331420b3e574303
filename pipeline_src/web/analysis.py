"""The analysis of a game, position by position, in a process of its own, and the results that are kept."""

import asyncio
import contextlib
import hashlib
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from pipeline_src.arena.runner import stamps_of
from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import RATES, PlayerText
from pipeline_src.records.record import GameRecord
from pipeline_src.search.limits import SearchResult
from pipeline_src.web import guard
from pipeline_src.web.choices import check_player
from pipeline_src.web.engine.child import win_rate
from pipeline_src.web.engine.pool import Answer, Call, Task
from pipeline_src.web.guard import FLOOD, Rate
from pipeline_src.web.messages.analyse import AnalysisRequest, AnalysisState, PlyAnalysis, Thinking, ThinkRequest
from pipeline_src.web.records import start_of
from pipeline_src.web.settings import Settings

TASK = f"{__name__}:analyse"
TREES = frozenset({*RATES, "uct"})  # Players whose depth is the length of the longest line, not that of an iteration
DECIDED = 5_000.0  # Least absolute value of a proven win or loss
RESULTS = {"first": 1.0, "draw": 0.5, "second": 0.0}
KEPT = 64  # Number of analyses whose results stay in memory

Row = dict[str, Any]
Found = dict[int, PlyAnalysis]  # Results by ply
_KEPT: "OrderedDict[str, Found]" = OrderedDict()
_LOCK = threading.Lock()


def known(record: GameRecord, request: AnalysisRequest) -> Found:
    """Return the results so far for a line, a player and its time. The caller adds new results to it."""
    place = record.game, record.variant, record.height, record.width, record.actions
    about = (*place, request.player, stamps_of(request.player), request.movetime)
    key = hashlib.sha256(repr(about).encode()).hexdigest()
    with _LOCK:
        found = _KEPT.setdefault(key, {})
        _KEPT.move_to_end(key)
        while len(_KEPT) > KEPT:
            _KEPT.popitem(last=False)
    return found


def analyse(game: Row, player: str, movetime: float, done: list[Row]) -> Iterator[Row]:
    """Yield an analysis of each position that is not ``done``, in order, after an empty row when the player is ready.

    Args:
        game: a record (`dataclasses.asdict`), as JSON has it.
        player: text of a player that searches.
        movetime: milliseconds per position.
        done: earlier results, `PlyAnalysis` as JSON objects, like the yielded ones.

    Raises:
        ZugwerkError: no such player, or it cannot play this game, or it gives no values.
    """
    import numpy as np

    from pipeline_src.games.game import get_game
    from pipeline_src.players.player import Bounds, Position
    from pipeline_src.players.registry import build_player

    record = GameRecord(**{**game, "actions": tuple(game["actions"])})
    rules, start = get_game(record.game), start_of(record)
    one = build_player(record.game, player)
    if not one.searches:
        raise ZugwerkError(f"player {player} does not search, so it has no values to show; take another one")
    one.check(start)
    one.ready(start)
    yield {}
    try:
        states = [start]
        for action in record.actions:
            states.append(rules.play(states[-1], action))
        found = {one["ply"]: PlyAnalysis.model_validate(one) for one in done}
        for ply in [ply for ply in range(len(states)) if ply not in found]:
            state, before = states[ply], found.get(ply - 1)
            first_to_move = rules.to_play(state) == 0
            winner = rules.winner(state)
            line: tuple[str, ...] = ()
            if winner is not None:
                rate, search = RESULTS[winner], None
            else:
                position = Position(state, np.random.default_rng(ply), start, record.actions[:ply])
                by_depth: dict[int, SearchResult] = {}
                search = one.think(position, Bounds(movetime_ms=movetime), partial(_note, by_depth)).found
                if search is None:
                    raise ZugwerkError(f"player {player} gives no value of its positions; take another one")
                rate = _evened(record.game, player, search, by_depth)
                rate = rate if first_to_move else 1 - rate
                line = tuple(rules.format_move(action, record.height, record.width) for action in search.pv)
                if not line:
                    line = (rules.format_move(search.action, record.height, record.width),)
            found[ply] = PlyAnalysis(
                ply=ply,
                win_rate=rate,
                value=search.value if search and math.isfinite(search.value) else None,
                depth=search.depth if search else 0,
                nodes=search.nodes if search else 0,
                line=line,
                lost=_lost(rules, states[ply - 1], before, rate, record.actions[ply - 1], record) if before else None,
            )
            yield found[ply].model_dump()
    finally:
        one.close()


def _note(by_depth: dict[int, SearchResult], info: SearchResult) -> None:
    by_depth[info.depth] = info


def _evened(game: str, player: str, search: SearchResult, by_depth: dict[int, SearchResult]) -> float:
    """Return the mover's win rate; for iterative deepening, the mean over the last two depths.

    Values favour the side that makes the last move of a line, so odd and even depths err in opposite directions.
    Without the mean, each move would look like a mistake.
    """
    rate = _chance(game, player, search.value)
    shallower = by_depth.get(search.depth - 1)
    deepening = PlayerText.parse(player).name not in TREES
    if shallower is None or not deepening or abs(search.value) >= DECIDED:
        return rate
    return (rate + _chance(game, player, shallower.value)) / 2


def _chance(game: str, player: str, value: float) -> float:
    found = win_rate(game, player, value)
    return 0.5 if found is None else found


def _lost(rules: Any, state: Any, before: PlyAnalysis, rate: float, action: int, record: GameRecord) -> float:
    """Return the win rate that an action loses for the mover in ``state``; 0 for the move that the search prefers."""
    if before.line and before.line[0] == rules.format_move(action, record.height, record.width):
        return 0.0
    change = before.win_rate - rate
    return max(0.0, change if rules.to_play(state) == 0 else -change)


# Send the results of an analysis to a WebSocket.


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
            await guard.text(socket)


async def _tell(socket: WebSocket, state: Any, done: int, positions: int, error: str = "") -> None:
    await socket.send_text(AnalysisState(state=state, done=done, positions=positions, error=error).model_dump_json())


# A player thinks about the position that a page shows, until the page shows another one or is closed.


async def follow_thought(socket: WebSocket, settings: Settings) -> None:
    """Answer the requests of a page (`ThinkRequest`). Each ends the search of the one before."""
    rate, work = Rate(), None
    try:
        while True:
            text = await guard.text(socket)
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
            await _tell_thinking(
                socket, number, "failed", error=f"{'.'.join(map(str, first['loc']))}: {first['msg']}"[:500]
            )
        except ZugwerkError as error:
            await _tell_thinking(socket, number, "failed", error=str(error))


async def _think(socket: WebSocket, wanted: ThinkRequest) -> None:
    task = Task(place=wanted.place, player=wanted.player, key="think", infinite=True, lines=wanted.lines)
    queue: asyncio.Queue[Answer | int | None] = asyncio.Queue()
    search = asyncio.create_task(socket.app.state.engines.begin(task, queue.put_nowait).chosen())
    search.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (heard := await queue.get()) is not None:
            if isinstance(heard, int):
                await _tell_thinking(socket, wanted.number, "waiting")
            else:
                await _tell_thinking(socket, wanted.number, heard.stage or "thinking", heard.thought)
        await _tell_thinking(socket, wanted.number, "done", (await search).thought)
    finally:
        search.cancel()
        await asyncio.wait([search])  # its process is free, or dead


async def _tell_thinking(socket: WebSocket, number: int, state: str, thought: object = None, error: str = "") -> None:
    message = Thinking.model_validate({"number": number, "state": state, "thought": thought, "error": error})
    await socket.send_text(message.model_dump_json())

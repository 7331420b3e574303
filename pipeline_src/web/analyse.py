"""Routes of the page Analyse: files and uploads, trees of variations, analysis in processes of their own, export."""

import asyncio
import contextlib
import hashlib
import threading
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import GAMES
from pipeline_src.records.files import SUFFIXES, Found
from pipeline_src.records.record import GameRecord, record_of
from pipeline_src.web import messages
from pipeline_src.web.choices import analysts, budget, check_player, plain_analysts
from pipeline_src.web.engine import Call, Engines, Place, Task, Thought
from pipeline_src.web.records import archive, game_of, read_games
from pipeline_src.web.settings import Settings, files_below

MOST_FILES, MOST_LISTED, MOST_REJECTS, MOST_BYTES, UPLOADS = 500, 200, 20, 16 << 20, 16
FIRST_MESSAGE_S = 10.0
MOST_WORDS = 4000
NAMED = ("first_name", "second_name", "winner", "resigned", "event")  # What a tree and a game's head have both
KEPT = 64  # Number of analyses whose results stay in memory
UPLOAD, FILE = "upload:", "file:"

Results = dict[int, messages.PlyAnalysis]  # Results of an analysis by ply

router = APIRouter(prefix="/api/analyse", tags=["analyse"])


class _File(NamedTuple):
    """A file that has been opened."""

    path: Path
    found: Found | None  # Its games; None for an archive, which is read in part
    data: bytes  # Its contents; empty for an archive


_UPLOADS: "OrderedDict[str, _File]" = OrderedDict()
_LOCK = threading.Lock()
Source = Annotated[str, Query(max_length=1000, description="As `files` or `upload` name it.")]


@router.get("/files")
def files(request: Request) -> messages.RecordFiles:
    """Files below the server's folders that may hold games."""
    from pipeline_src.arena.match import journal_of

    found = []
    for folder in request.app.state.settings.folders:
        for path in files_below(folder):
            name = path.relative_to(folder).as_posix()
            if path.suffix not in SUFFIXES or path.stem == "rejects" or path.name.startswith("."):
                continue
            if path.suffix == ".parquet" and not name.startswith("records/") and not journal_of(path).is_file():
                continue
            with contextlib.suppress(OSError):  # a link whose file has gone since the folder was read
                about = path.stat()
                one = messages.RecordFile(
                    source=f"{FILE}{path}", name=name, bytes=about.st_size, modified=about.st_mtime
                )
                found.append(one)
    found.sort(key=lambda one: (not one.name.endswith(".jsonl"), -one.modified if one.name.endswith(".jsonl") else 0))
    return messages.RecordFiles(files=tuple(found[:MOST_FILES]), left_out=max(0, len(found) - MOST_FILES))


@router.post("/upload")
async def upload(request: Request, name: Annotated[str, Query(max_length=200)] = "record") -> messages.Opened:
    """Read the games of an upload; the request's body is the file."""
    data, path = await request.body(), Path(Path(name).name or "record")
    key = hashlib.sha256(path.name.encode() + b"\0" + data).hexdigest()[:32]  # a file opened again has the same links
    found = await run_in_threadpool(read_games, data, path.name)
    with _LOCK:
        _UPLOADS[key] = _File(path, found, data)
        while len(_UPLOADS) > UPLOADS:
            _UPLOADS.popitem(last=False)
    return messages.Opened(source=UPLOAD + key, name=path.name, games=len(found.games))


@router.get("/games")
def games(
    request: Request, source: Source, first: Annotated[int, Query(ge=0)] = 0, count: Annotated[int, Query(ge=1)] = 50
) -> messages.Games:
    """Return a page of the list of a file's games."""
    path, found, _ = _open(request.app.state.settings, source)
    count, rejects = min(count, MOST_LISTED), found.rejects if found else []
    if found is None:
        table = archive(path)
        records = [record_of(row, path.name) for row in table.slice(first, count).to_pylist()]
        in_all = table.num_rows
    else:
        records, in_all = found.games[first : first + count], len(found.games)
    return messages.Games(
        source=source,
        name=path.name,
        games=tuple(map(_head, records)),
        first=first,
        games_in_all=in_all,
        rejects=tuple(one.detail for one in rejects[:MOST_REJECTS]),
        rejects_in_all=len(rejects),
    )


@router.get("/game")
def game(request: Request, source: Source, number: int) -> messages.Replay:
    """Return a game of a file, with its variations."""
    from pipeline_src.web.trees import tree_of

    path, found, data = _open(request.app.state.settings, source)
    record = game_of(path, number) if found is None else next((one for one in found.games if one.gid == number), None)
    if record is None:
        raise ZugwerkError(f"{path.name}: no game {number} there")
    tree, left_out = tree_of(record, data)
    about = {"source": source, "name": path.name, "head": _head(record, MOST_WORDS), "left_out": left_out}
    return _replay(tree, request.app.state.settings).model_copy(update=about)


@router.post("/tree")
def tree(wanted: messages.Tree, request: Request) -> messages.Replay:
    """Return a tree of variations with its positions."""
    return _replay(wanted, request.app.state.settings)


def _replay(tree: messages.Tree, settings: Settings) -> messages.Replay:
    from pipeline_src.web.game import look_of, rules_of
    from pipeline_src.web.trees import drawn, formats, main_line

    states, nodes = drawn(tree)
    start = states[0]
    game, (height, width) = tree.place.game, start.board.shape
    rules, plain = rules_of(game), game not in GAMES
    fen, about = rules.to_fen(start), {name: getattr(tree, name) for name in NAMED}
    return messages.Replay(
        head=messages.GameHead(number=0, game=game, plies=len(main_line(nodes)), **about),
        place=tree.place.model_copy(update={"fen": fen, "moves": (), "size": width}),
        height=height,
        width=width,
        comment=tree.comment,
        nodes=nodes,
        sides=tuple(map(rules.to_play, states)) if plain else (),
        look=look_of(rules, start) if plain else None,
        analysts=plain_analysts(rules, start, settings) if plain else analysts(game, fen),
        formats=formats(game, start),
    )


@router.websocket("/watch")
async def watch(socket: WebSocket) -> None:
    """Analyse a line while the socket is open. Earlier results are sent at once."""
    from pipeline_src.web.trees import record_at

    await socket.accept()
    settings: Settings = socket.app.state.settings
    try:
        text = await asyncio.wait_for(anext(messages.received(socket)), FIRST_MESSAGE_S)
        wanted = messages.AnalysisRequest.model_validate_json(text)
        await run_in_threadpool(check_player, wanted.player, wanted.place.game, settings)
        record = await run_in_threadpool(record_at, wanted.place)
    except (WebSocketDisconnect, TimeoutError):
        return
    except ValidationError as error:
        await fail(socket, messages.reason(error))
    except ZugwerkError as error:
        await fail(socket, str(error))
    else:
        await follow(socket, record, wanted)


@router.post("/line")
async def line(wanted: messages.AnalysisRequest, request: Request) -> messages.Analysed:
    """Analyse the positions of a line; the answer comes when all are analysed. A closed request ends it."""
    from pipeline_src.web.trees import record_at

    await run_in_threadpool(check_player, wanted.player, wanted.place.game, request.app.state.settings)
    record, found = await run_in_threadpool(record_at, wanted.place), {}
    async with aclosing(analysed(request.app.state.engines, record, wanted)) as answers:
        async for one in answers:
            if isinstance(one, messages.PlyAnalysis):
                found[one.ply] = one
            if await request.is_disconnected():
                break
    return messages.Analysed(positions=tuple(found[ply] for ply in sorted(found)))


@router.websocket("/think")
async def think(socket: WebSocket) -> None:
    """Have a player think about the position that the page shows, while the socket is open."""
    await socket.accept()
    await follow_thought(socket, socket.app.state.settings)


@router.post("/export")
def export(wanted: messages.ExportRequest) -> messages.Exported:
    """Return a tree as a file: SGF with variations, names and comments, or the main line in another format."""
    from pipeline_src.web.trees import written

    name = f"{Path(wanted.name).stem or 'game'}.{wanted.format}"
    return messages.Exported(name=name, text=written(wanted.tree, wanted.format))


@router.get("/forced")
def forced_wins() -> messages.ForcedWins:
    """Return the forced wins of Gomoku that come with the package, as puzzles."""
    from pipeline_src.games import gomoku
    from pipeline_src.games.gomoku import PLY, format_variant
    from pipeline_src.records.forced_wins import PACKAGED, read_forced_wins

    found = []
    for number, (state, plies) in enumerate(read_forced_wins(PACKAGED), 1):
        height, width = state.board.shape
        actions = state.moves[: int(state.turn[PLY])].tolist()
        moves = tuple(gomoku.format_move(action, height, width) for action in actions)
        place = Place(game="gomoku", size=width, variant=format_variant(state), moves=moves)
        found.append(messages.ForcedWin(number=number, place=place, plies=plies))
    return messages.ForcedWins(wins=tuple(found))


@router.post("/forced/answer")
async def forced_answer(place: Place, request: Request) -> messages.ForcedAnswer:
    """Return the best answer to the last move of a forced win, and whether it still wins."""
    return messages.ForcedAnswer.model_validate(await _proven(request, "answered", place))


@router.post("/forced/line")
async def forced_line(place: Place, request: Request) -> messages.ForcedLine:
    """Return the winning line of a forced win."""
    return messages.ForcedLine.model_validate(await _proven(request, "solved", place))


async def _proven(request: Request, function: str, place: Place) -> Any:
    call = Call(function=function, arguments=(place.model_dump(),), key="think")
    (found,) = await request.app.state.engines.values(call)
    return found


def _open(settings: Settings, source: str) -> _File:
    if source.startswith(UPLOAD):
        key = source[len(UPLOAD) :]
        with _LOCK:
            if key not in _UPLOADS:
                raise ZugwerkError("the server does not have this upload any more; open the file again")
            _UPLOADS.move_to_end(key)
            return _UPLOADS[key]
    if not source.startswith(FILE):
        raise ZugwerkError(f"no such source as {source[:100]!r}; it begins with {FILE} or {UPLOAD}")
    path = settings.file(source[len(FILE) :])
    if not path.is_file():
        raise ZugwerkError(f"{path.name}: a folder; open a file in it")
    if path.suffix == ".parquet":
        return _File(path, None, b"")
    about = path.stat()
    if about.st_size > MOST_BYTES:
        raise ZugwerkError(f"{path.name}: {about.st_size >> 20} MiB; text files may have {MOST_BYTES >> 20} MiB")
    return _read(path, about.st_mtime_ns, about.st_size)


@lru_cache(UPLOADS)
def _read(path: Path, *_stamp: int) -> _File:
    data = path.read_bytes()
    return _File(path, read_games(data, path.name), data)


def _head(record: GameRecord, most: int = 100) -> messages.GameHead:
    """Return the head of a game, with the first ``most`` letters of its event, which holds the reason of a forfeit."""
    return messages.GameHead(
        number=record.gid,
        game=record.game,
        first_name=record.first_name[:100],
        second_name=record.second_name[:100],
        winner=record.winner,
        resigned=record.resigned,
        plies=len(record.actions),
        event=record.event[:most],
    )


# An analysis position by position, in a process of its own.


def known(record: GameRecord, request: messages.AnalysisRequest) -> Results:
    """Return the results so far for a line and a player. The caller adds new results to it."""
    from pipeline_src.arena.runner import stamps_of

    place = record.game, record.variant, record.height, record.width, record.actions
    return _results(*place, request.player, stamps_of(request.player))


@lru_cache(KEPT)
def _results(*_about: object) -> Results:
    return {}


async def follow(socket: WebSocket, record: GameRecord, wanted: messages.AnalysisRequest) -> None:
    """Analyse a game, send the results to the page, and stop when the page is closed."""
    work, gone = asyncio.create_task(_tell_all(socket, record, wanted)), asyncio.create_task(_until_gone(socket))
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


async def _tell_all(socket: WebSocket, record: GameRecord, wanted: messages.AnalysisRequest) -> None:
    try:
        async with aclosing(analysed(socket.app.state.engines, record, wanted)) as answers:
            async for one in answers:
                await socket.send_text(one.model_dump_json())
    except ZugwerkError as error:
        await fail(socket, str(error))


async def analysed(
    engines: Engines, record: GameRecord, wanted: messages.AnalysisRequest
) -> AsyncGenerator[messages.PlyAnalysis | messages.AnalysisState, None]:
    """Yield what is known of a line, then each position as it is analysed, and the states in between.

    Raises:
        ZugwerkError: the player cannot analyse the game, or its process ended.
    """
    found, last, nodes = known(record, wanted), len(record.actions), wanted.nodes or budget(wanted.player)
    if wanted.first > last:
        raise ZugwerkError(f"first: {wanted.first} is after the last of {last} moves")
    for ply in sorted(found):
        if ply >= wanted.first:
            yield found[ply]
    left = {ply for ply in range(wanted.first, last + 1) if ply not in found or found[ply].budget < nodes}

    def state(name: Any) -> messages.AnalysisState:
        positions = last + 1 - wanted.first
        return messages.AnalysisState(state=name, done=positions - len(left), positions=positions, error="")

    yield state("preparing" if left else "done")
    if not left:
        return
    done = [one.model_dump() for ply, one in found.items() if ply not in left]
    arguments = (asdict(record), wanted.player, nodes, wanted.first, done)
    async with aclosing(engines.follow(Call(function="analyse", arguments=arguments, key="analysis"))) as answers:
        async for heard in answers:
            if isinstance(heard, int):
                yield state("waiting")
            elif not heard.last:
                for value in filter(None, heard.values):
                    one = messages.PlyAnalysis.model_validate(value)
                    if one.ply not in found or found[one.ply].budget <= one.budget:
                        found[one.ply] = one
                    left.discard(one.ply)
                    yield found[one.ply]
                yield state("preparing" if heard.stage else "running" if left else "done")


async def fail(socket: WebSocket, error: str) -> None:
    """Send an error and close the socket."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(
            messages.AnalysisState(state="failed", done=0, positions=0, error=error).model_dump_json()
        )
        await socket.close()


async def _until_gone(socket: WebSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        async for _ in messages.received(socket):
            pass


# A player thinks about the position that a page shows, until the page shows another one or is closed.


async def follow_thought(socket: WebSocket, settings: Settings) -> None:
    """Answer the requests of a page (`ThinkRequest`). Each ends the search of the one before."""
    work = None
    try:
        async for text in messages.received(socket):
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

    async def say(state: str, thought: Thought | None = None, error: str = "") -> None:
        message = messages.Thinking.model_validate(
            {"number": number, "state": state, "thought": thought, "error": error}
        )
        await socket.send_text(message.model_dump_json())

    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        try:
            wanted = messages.ThinkRequest.model_validate_json(text)
            number = wanted.number
            await asyncio.to_thread(check_player, wanted.player, wanted.place.game, settings)
            task = Task(place=wanted.place, player=wanted.player, key="think", infinite=True, lines=wanted.lines)
            async with aclosing(socket.app.state.engines.follow(task)) as answers:
                async for heard in answers:
                    if isinstance(heard, int):
                        await say("waiting")
                    elif heard.chosen is not None:
                        await say("done", heard.chosen.thought)
                    else:
                        await say(heard.stage or "thinking", heard.thought)
        except ValidationError as error:
            await say("failed", error=messages.reason(error))
        except ZugwerkError as error:
            await say("failed", error=str(error))

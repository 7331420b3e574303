"""Routes of the page Analyse: files and uploads, games move by move, analysis in a process of its own, export."""

import asyncio
import contextlib
import threading
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord
from pipeline_src.web import incoming, listing
from pipeline_src.web.archives import archive, game_of, record_of
from pipeline_src.web.choices import check_player
from pipeline_src.web.messages.analyse import (
    AnalysisRequest,
    Exported,
    ExportRequest,
    GameHead,
    Games,
    Opened,
    Ply,
    RecordFile,
    RecordFiles,
    Replay,
)
from pipeline_src.web.settings import Settings

if TYPE_CHECKING:
    from pipeline_src.web.record_files import Found

MOST_FILES, MOST_LISTED, MOST_REJECTS, MOST_BYTES, UPLOADS = 500, 200, 20, 16 << 20, 16
FIRST_MESSAGE_S = 10.0
MOST_WORDS = 4000
UPLOAD, FILE = "upload:", "file:"

router = APIRouter(prefix="/api/analyse", tags=["analyse"])
_UPLOADS: "OrderedDict[str, tuple[str, Found]]" = OrderedDict()
_READ: "OrderedDict[tuple[Path, int, int], Found]" = OrderedDict()
_LOCK = threading.Lock()
Source = Annotated[str, Query(max_length=1000, description="As `files` or `upload` name it.")]


@router.get("/files")
def files(request: Request) -> RecordFiles:
    """Files below the server's folders that may hold games."""
    from pipeline_src.arena.match import journal_of
    from pipeline_src.web.record_files import SUFFIXES

    found = []
    for folder in request.app.state.settings.folders:
        for path in listing.files(folder):
            name = path.relative_to(folder).as_posix()
            if path.suffix not in SUFFIXES or path.stem == "rejects" or path.name.startswith("."):
                continue
            if path.suffix == ".parquet" and not name.startswith("records/") and not journal_of(path).is_file():
                continue
            with contextlib.suppress(OSError):  # a link whose file has gone since the folder was read
                about = path.stat()
                one = RecordFile(source=f"{FILE}{path}", name=name, bytes=about.st_size, modified=about.st_mtime)
                found.append(one)
    found.sort(key=lambda one: (not one.name.endswith(".jsonl"), -one.modified if one.name.endswith(".jsonl") else 0))
    return RecordFiles(files=tuple(found[:MOST_FILES]), left_out=max(0, len(found) - MOST_FILES))


@router.post("/upload")
async def upload(request: Request, name: Annotated[str, Query(max_length=200)] = "record") -> Opened:
    """Read the games of an upload; the request's body is the file."""
    from pipeline_src.web.record_files import read_games

    data = await request.body()
    shown = Path(name).name or "record"
    found = await run_in_threadpool(read_games, data, shown)
    key = uuid.uuid4().hex
    with _LOCK:
        _UPLOADS[key] = (shown, found)
        while len(_UPLOADS) > UPLOADS:
            _UPLOADS.popitem(last=False)
    return Opened(source=UPLOAD + key, name=shown, games=len(found.games))


@router.get("/games")
def games(
    request: Request, source: Source, first: Annotated[int, Query(ge=0)] = 0, count: Annotated[int, Query(ge=1)] = 50
) -> Games:
    """Return a page of the list of a file's games."""
    name, path, found = _open(request.app.state.settings, source)
    count, rejects = min(count, MOST_LISTED), found.rejects if found else []
    if found is None:
        table = archive(path)
        records = [record_of(row, path) for row in table.slice(first, count).to_pylist()]
        in_all = table.num_rows
    else:
        records, in_all = found.games[first : first + count], len(found.games)
    return Games(
        source=source,
        name=name,
        games=tuple(map(_head, records)),
        first=first,
        games_in_all=in_all,
        rejects=tuple(one.detail for one in rejects[:MOST_REJECTS]),
        rejects_in_all=len(rejects),
    )


@router.get("/game")
def game(request: Request, source: Source, number: int) -> Replay:
    """Return a game, move by move."""
    from pipeline_src.games.game import get_game
    from pipeline_src.web.analysis import ANALYSTS
    from pipeline_src.web.record_files import start_of

    name, record = find_game(request.app.state.settings, source, number)
    rules, state, plies, illegal = get_game(record.game), start_of(record), [], ""
    fen = rules.to_fen(state)
    for ply, action in enumerate(record.actions, 1):
        if not rules.is_legal(state, action):
            illegal = f"move {ply} is not legal; the game is cut before it"
            break
        move = rules.format_move(action, record.height, record.width)
        state = rules.play(state, action)
        plies.append(Ply(move=move, fen=rules.to_fen(state)))
    return Replay(
        source=source,
        name=name,
        head=_head(record, MOST_WORDS),
        variant=record.variant,
        height=record.height,
        width=record.width,
        fen=fen,
        plies=tuple(plies),
        illegal=illegal,
        analysts=() if illegal else ANALYSTS.get(record.game, ()),
    )


@router.websocket("/watch")
async def watch(socket: WebSocket) -> None:
    """Analyse a game while the socket is open. Earlier results are sent at once."""
    from pipeline_src.web.watching import fail, follow

    await socket.accept()
    settings: Settings = socket.app.state.settings
    try:
        text = await asyncio.wait_for(incoming.text(socket), FIRST_MESSAGE_S)
        wanted = AnalysisRequest.model_validate_json(text)
        _, record = await run_in_threadpool(find_game, settings, wanted.source, wanted.number)
        await run_in_threadpool(check_player, wanted.player, record.game, settings)
    except (WebSocketDisconnect, TimeoutError):
        return
    except ValidationError as error:
        first = error.errors()[0]
        await fail(socket, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except ZugwerkError as error:
        await fail(socket, str(error))
    else:
        await follow(socket, record, wanted)


@router.post("/export")
def export(request: Request, wanted: ExportRequest) -> Exported:
    """Return a game as SGF, with its analyses as comments."""
    from pipeline_src.web.analysis import known
    from pipeline_src.web.annotate import annotated

    name, record = find_game(request.app.state.settings, wanted.source, wanted.number)
    text = annotated(record, [(one, dict(known(record, one))) for one in wanted.analyses])
    return Exported(name=f"{Path(name).stem}-{record.gid}.sgf", text=text)


def find_game(settings: Settings, source: str, number: int) -> tuple[str, GameRecord]:
    """Return the name of the file and the game with this number in it.

    Raises:
        ZugwerkError: no such file, or no such game.
    """
    name, path, found = _open(settings, source)
    if found is None:
        return name, game_of(path, number)
    game = next((one for one in found.games if one.gid == number), None)
    if game is None:
        raise ZugwerkError(f"{name}: no game {number} there")
    return name, game


def _open(settings: Settings, source: str) -> tuple[str, Path, "Found | None"]:
    """Return name, path and contents of a file. The contents of an archive are None: it is read in part."""
    from pipeline_src.web.record_files import read_games

    if source.startswith(UPLOAD):
        with _LOCK:
            if source[len(UPLOAD) :] not in _UPLOADS:
                raise ZugwerkError("the server does not have this upload any more; open the file again")
            _UPLOADS.move_to_end(source[len(UPLOAD) :])
            name, found = _UPLOADS[source[len(UPLOAD) :]]
        return name, Path(name), found
    if not source.startswith(FILE):
        raise ZugwerkError(f"no such source as {source[:100]!r}; it begins with {FILE} or {UPLOAD}")
    path = settings.file(source[len(FILE) :])
    if not path.is_file():
        raise ZugwerkError(f"{path.name}: a folder; open a file in it")
    if path.suffix == ".parquet":
        return path.name, path, None
    about = path.stat()
    if about.st_size > MOST_BYTES:
        raise ZugwerkError(f"{path.name}: {about.st_size >> 20} MiB; text files may have {MOST_BYTES >> 20} MiB")
    key = (path, about.st_mtime_ns, about.st_size)
    with _LOCK:
        if key not in _READ:
            _READ[key] = read_games(path.read_bytes(), path.name)
            while len(_READ) > UPLOADS:
                _READ.popitem(last=False)
        return path.name, path, _READ[key]


def _head(record: GameRecord, most: int = 100) -> GameHead:
    """Return the head of a game, with the first ``most`` letters of its event, which holds the reason of a forfeit."""
    return GameHead(
        number=record.gid,
        game=record.game,
        first_name=record.first_name[:100],
        second_name=record.second_name[:100],
        winner=record.winner,
        resigned=record.resigned,
        plies=len(record.actions),
        event=record.event[:most],
    )

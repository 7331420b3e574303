"""Routes of the page Analyse: files and uploads, trees of variations, analysis in processes of their own, export."""

import asyncio
import contextlib
import threading
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from pipeline_src.errors import ZugwerkError
from pipeline_src.records.record import GameRecord, record_of
from pipeline_src.web import guard, listing
from pipeline_src.web.choices import analysts, check_player
from pipeline_src.web.engine.pool import Call, Place
from pipeline_src.web.messages.analyse import (
    AnalysisRequest,
    Exported,
    ExportRequest,
    ForcedAnswer,
    ForcedLine,
    ForcedWins,
    GameHead,
    Games,
    Opened,
    Pasted,
    RecordFile,
    RecordFiles,
    Replay,
    Tree,
)
from pipeline_src.web.records import archive, game_of
from pipeline_src.web.settings import Settings

if TYPE_CHECKING:
    from pipeline_src.web.records import Found

MOST_FILES, MOST_LISTED, MOST_REJECTS, MOST_BYTES, UPLOADS = 500, 200, 20, 16 << 20, 16
FIRST_MESSAGE_S = 10.0
MOST_WORDS = 4000
UPLOAD, FILE = "upload:", "file:"

router = APIRouter(prefix="/api/analyse", tags=["analyse"])


class _File(NamedTuple):
    """A file that has been opened."""

    name: str
    path: Path
    found: "Found | None"  # Its games; None for an archive, which is read in part
    data: bytes  # Its contents; empty for an archive


_UPLOADS: "OrderedDict[str, _File]" = OrderedDict()
_READ: "OrderedDict[tuple[Path, int, int], _File]" = OrderedDict()
_LOCK = threading.Lock()
Source = Annotated[str, Query(max_length=1000, description="As `files` or `upload` name it.")]


@router.get("/files")
def files(request: Request) -> RecordFiles:
    """Files below the server's folders that may hold games."""
    from pipeline_src.arena.match import journal_of
    from pipeline_src.web.records import SUFFIXES

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
    from pipeline_src.web.records import read_games

    data = await request.body()
    shown = Path(name).name or "record"
    found = await run_in_threadpool(read_games, data, shown)
    key = uuid.uuid4().hex
    with _LOCK:
        _UPLOADS[key] = _File(shown, Path(shown), found, data)
        while len(_UPLOADS) > UPLOADS:
            _UPLOADS.popitem(last=False)
    return Opened(source=UPLOAD + key, name=shown, games=len(found.games))


@router.get("/games")
def games(
    request: Request, source: Source, first: Annotated[int, Query(ge=0)] = 0, count: Annotated[int, Query(ge=1)] = 50
) -> Games:
    """Return a page of the list of a file's games."""
    name, path, found, _ = _open(request.app.state.settings, source)
    count, rejects = min(count, MOST_LISTED), found.rejects if found else []
    if found is None:
        table = archive(path)
        records = [record_of(row, path.name) for row in table.slice(first, count).to_pylist()]
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
    """Return a game of a file, with its variations."""
    from pipeline_src.web.trees import tree_of

    file, record = find_game(request.app.state.settings, source, number)
    tree, left_out = tree_of(record, file.data)
    replay = _replay(tree)
    return replay.model_copy(
        update={"source": source, "name": file.name, "head": _head(record, MOST_WORDS), "left_out": left_out}
    )


@router.post("/tree")
def tree(wanted: Tree) -> Replay:
    """Return a tree of variations with its positions."""
    return _replay(wanted)


@router.post("/paste")
def paste(pasted: Pasted) -> Replay:
    """Return the position or the moves that a text describes. A record is opened by `upload`."""
    from pipeline_src.web.trees import read_text

    return _replay(Tree(place=read_text(pasted.place, pasted.text)))


def _replay(tree: Tree) -> Replay:
    from pipeline_src.games.game import get_game
    from pipeline_src.web.trees import drawn, formats

    start, nodes = drawn(tree)
    game, (height, width) = tree.place.game, start.board.shape
    plies, at = 0, 0
    for number, node in enumerate(nodes, 1):
        if node.parent == at:
            plies, at = plies + 1, number
    head = GameHead(
        number=0,
        game=game,
        first_name=tree.first_name,
        second_name=tree.second_name,
        winner=tree.winner,
        resigned=tree.resigned,
        plies=plies,
        event=tree.event,
    )
    return Replay(
        head=head,
        place=tree.place.model_copy(update={"fen": get_game(game).to_fen(start), "moves": (), "size": width}),
        height=height,
        width=width,
        comment=tree.comment,
        nodes=nodes,
        analysts=analysts(game, get_game(game).to_fen(start)),
        formats=formats(game, start),
    )


@router.websocket("/watch")
async def watch(socket: WebSocket) -> None:
    """Analyse a line while the socket is open. Earlier results are sent at once."""
    from pipeline_src.web.analysis import fail, follow

    await socket.accept()
    settings: Settings = socket.app.state.settings
    try:
        text = await asyncio.wait_for(guard.text(socket), FIRST_MESSAGE_S)
        wanted = AnalysisRequest.model_validate_json(text)
        await run_in_threadpool(check_player, wanted.player, wanted.place.game, settings)
        record = await run_in_threadpool(record_at, wanted.place)
    except (WebSocketDisconnect, TimeoutError):
        return
    except ValidationError as error:
        first = error.errors()[0]
        await fail(socket, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except ZugwerkError as error:
        await fail(socket, str(error))
    else:
        await follow(socket, record, wanted)


@router.websocket("/think")
async def think(socket: WebSocket) -> None:
    """Have a player think about the position that the page shows, while the socket is open."""
    from pipeline_src.web.analysis import follow_thought

    await socket.accept()
    await follow_thought(socket, socket.app.state.settings)


@router.post("/export")
def export(wanted: ExportRequest) -> Exported:
    """Return a tree as a file: SGF with variations, names and comments, or the main line in another format."""
    from pipeline_src.web.trees import written

    name = f"{Path(wanted.name).stem or 'game'}.{wanted.format}"
    return Exported(name=name, text=written(wanted.tree, wanted.format))


@router.get("/forced")
def forced_wins() -> ForcedWins:
    """Return the forced wins of Gomoku that come with the package, as puzzles."""
    from pipeline_src.web.puzzles import collection

    return collection()


@router.post("/forced/answer")
async def forced_answer(place: Place, request: Request) -> ForcedAnswer:
    """Return the best answer to the last move of a forced win, and whether it still wins."""
    return ForcedAnswer.model_validate(await _proven(request, "answered", place))


@router.post("/forced/line")
async def forced_line(place: Place, request: Request) -> ForcedLine:
    """Return the winning line of a forced win."""
    return ForcedLine.model_validate(await _proven(request, "solved", place))


async def _proven(request: Request, function: str, place: Place) -> Any:
    """Return the value of a function of `web.puzzles`, which runs in a process of its own."""
    call = Call(function=f"pipeline_src.web.puzzles:{function}", arguments=(place.model_dump(),), key="think")
    (found,) = await request.app.state.engines.values(call)
    return found


def record_at(place: Place) -> GameRecord:
    """Return the moves of a place as a record without names, whose variant is the text of the start position.

    Raises:
        ZugwerkError: the start position is malformed, or a move is illegal.
    """
    from pipeline_src.arena.runner import Board
    from pipeline_src.games.game import get_game
    from pipeline_src.web.moves import played

    rules = get_game(place.game)
    start = Board(place.game, place.size, place.variant or None).start(place.fen)
    height, width = start.board.shape
    return GameRecord(
        place.game, 0, "file", rules.to_fen(start), height, width, played(rules, start, place.moves)[0], None
    )


def find_game(settings: Settings, source: str, number: int) -> tuple[_File, GameRecord]:
    """Return a file, and the game with this number in it.

    Raises:
        ZugwerkError: no such file, or no such game.
    """
    file = _open(settings, source)
    if file.found is None:
        return file, game_of(file.path, number)
    game = next((one for one in file.found.games if one.gid == number), None)
    if game is None:
        raise ZugwerkError(f"{file.name}: no game {number} there")
    return file, game


def _open(settings: Settings, source: str) -> _File:
    from pipeline_src.web.records import read_games

    if source.startswith(UPLOAD):
        with _LOCK:
            if source[len(UPLOAD) :] not in _UPLOADS:
                raise ZugwerkError("the server does not have this upload any more; open the file again")
            _UPLOADS.move_to_end(source[len(UPLOAD) :])
            return _UPLOADS[source[len(UPLOAD) :]]
    if not source.startswith(FILE):
        raise ZugwerkError(f"no such source as {source[:100]!r}; it begins with {FILE} or {UPLOAD}")
    path = settings.file(source[len(FILE) :])
    if not path.is_file():
        raise ZugwerkError(f"{path.name}: a folder; open a file in it")
    if path.suffix == ".parquet":
        return _File(path.name, path, None, b"")
    about = path.stat()
    if about.st_size > MOST_BYTES:
        raise ZugwerkError(f"{path.name}: {about.st_size >> 20} MiB; text files may have {MOST_BYTES >> 20} MiB")
    key = (path, about.st_mtime_ns, about.st_size)
    with _LOCK:
        if key not in _READ:
            data = path.read_bytes()
            _READ[key] = _File(path.name, path, read_games(data, path.name), data)
            while len(_READ) > UPLOADS:
                _READ.popitem(last=False)
        return _READ[key]


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

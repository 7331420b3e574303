"""Routes of the page Nets: models, positions on their boards, and the policies and values of a net there.

Torch runs in a process of its own; the server itself never imports it.
"""

import asyncio
import contextlib
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import packaged_nets
from pipeline_src.players.player import board_words
from pipeline_src.web.engine import Call, Engines
from pipeline_src.web.messages import Model, Models, NetPosition, NetView, Owner
from pipeline_src.web.settings import files_below

Board = tuple[int, int, str]
FOLDERS: dict[str, Literal["amazons", "gomoku"]] = {
    "models/amazons": "amazons",
    "models/gomoku": "gomoku",
    "models/growing": "gomoku",
}
"""Folders with nets, below a folder of artifacts, and their games."""
NO_NETS = ("learner.pt",)  # Files in these folders that are not nets
MOST_MOVES = 500

router = APIRouter(prefix="/api/nets", tags=["nets"])
_BOARDS: dict[tuple[str, int], Board] = {}
Name = Annotated[str, Query(max_length=1000, description="As `models` names it.")]
Moves = Annotated[str, Query(max_length=16 * MOST_MOVES, description="Played so far, separated by commas.")]


@router.get("/models")
def models(request: Request) -> Models:
    """List all nets, those of the package first and of its boards the largest, without opening them."""
    found = []
    for net in sorted(packaged_nets(), key=lambda net: (net.card.game, -net.card.size)):
        words = f"comes with the package ({net.card.game}, {board_words(net.card.board)})"
        found.append(_model(net.file, net.card.game, words, "package", True))
    for folder in request.app.state.settings.folders:
        for below, game in FOLDERS.items():
            for file in files_below(folder / below):
                if file.suffix == ".pt" and file.name not in NO_NETS and not file.name.startswith("."):
                    words = file.relative_to(folder / "models").with_suffix("").as_posix()
                    with contextlib.suppress(OSError):  # a link whose file has gone since the folder was read
                        found.append(_model(file, game, words, _group(file, folder / below), False))
    return Models(models=tuple(found))


def _group(file: Path, below: Path) -> str:
    """Return the group of a net, such as ``gomoku/*/best`` or ``growing/9``: the generations of one training."""
    if below.name == "gomoku":
        return f"gomoku/*/{file.stem}"
    return file.parent.relative_to(below.parent).as_posix() if below.name == "growing" else below.name


def _model(file: Path, game: Any, name: str, group: str, packaged: bool) -> Model:
    model, size, modified = (
        f"package:{file.stem}" if packaged else f"file:{file}",
        file.stat().st_size,
        file.stat().st_mtime,
    )
    return Model(model=model, name=name, game=game, group=group, packaged=packaged, bytes=size, modified=modified)


def _found(request: Request, model: str) -> tuple[str, Path, Board | None]:
    """Return the game and the file of a model and, for a net of the package, its board. Reads files."""
    for net in packaged_nets():
        if model == f"package:{net.card.name}":
            return net.card.game, Path(net.checked()), net.card.board
    path = request.app.state.settings.file(model.removeprefix("file:"))
    for folder in request.app.state.settings.folders:
        for below, game in FOLDERS.items():
            if path.is_file() and path.is_relative_to(folder / below):
                return game, path, None
    raise ZugwerkError(f"{path.name}: not a net of {', '.join(FOLDERS)}")


async def _ask(request: Request, function: str, *arguments: Any) -> Any:
    """Return the value of a function that runs in a process with torch. Other tabs use the same process in turn."""
    engines: Engines = request.app.state.engines
    async with request.app.state.seeing:
        if request.app.state.ahead is not None and not engines.has_room:
            await asyncio.wait({request.app.state.ahead})  # loads players ahead of a game
        if await request.is_disconnected():
            raise ZugwerkError("nobody waits for this answer any more")
        if not engines.has_room:
            busy = "all processes of this server are thinking for other tabs"
            raise ZugwerkError(f"{busy}; close some, or start the server with more (--engines)")
        (answer,) = await engines.values(Call(function=function, arguments=arguments, key="nets"))
        return answer


async def _opened(request: Request, model: str) -> tuple[str, Path, Board]:
    """Return game, file and board of a model; that of a packaged one is known without torch."""
    game, path, board = await asyncio.to_thread(_found, request, model)
    if board is not None:
        return game, path, board
    key = (str(path), path.stat().st_mtime_ns)
    if key not in _BOARDS:
        height, width, variant = await _ask(request, "board_of", game, str(path))
        _BOARDS[key] = (height, width, variant)
    return game, path, _BOARDS[key]


def _state(game: str, board: Board, moves: str) -> tuple[Any, list[str]]:
    from pipeline_src.games.game import get_game
    from pipeline_src.web.game import played

    rules, words = get_game(game), [word for word in moves.split(",") if word]
    if len(words) > MOST_MOVES:
        raise ZugwerkError(f"{len(words)} moves; {MOST_MOVES} at most")
    return played(rules, rules.initial_state(board[0], board[2]), words)[1], words


@router.get("/position")
async def position(request: Request, model: Name, moves: Moves = "") -> NetPosition:
    """Return the position after some moves on a net's board, with legal moves and the owners of squares."""
    game, _, board = await _opened(request, model)
    return await asyncio.to_thread(_position, model, game, board, moves)


def _position(model: str, game: str, board: Board, moves: str) -> NetPosition:
    from pipeline_src.games.game import get_game
    from pipeline_src.web.game import turn_tree

    state, words = _state(game, board, moves)
    rules, side = get_game(game), get_game(game).to_play(state)
    winner = rules.winner(state)
    actions = [] if winner else [rules.format_move(a, *board[:2]) for a in rules.legal_actions(state).tolist()]
    amazons = game == "amazons"
    queen, king = _territory(state) if amazons else ({}, {})
    return NetPosition(
        model=model,
        game="amazons" if amazons else "gomoku",
        height=board[0],
        width=board[1],
        variant=board[2],
        moves=tuple(words),
        fen=rules.to_fen(state),
        to_play=("White", "Black")[side] if amazons else ("Black", "White")[side],
        winner=winner,
        turns=turn_tree(actions) if amazons else {},
        legal=() if amazons else tuple(actions),
        queen=queen,
        king=king,
    )


def _territory(state: Any) -> tuple[dict[str, Owner], dict[str, Owner]]:
    from pipeline_src.games.amazons import format_square
    from pipeline_src.search.amazons.evaluation import BOTH, FIRST, SECOND, territory

    words: dict[int, Owner] = {FIRST: "first", SECOND: "second", BOTH: "both"}
    width = state.board.shape[1]
    queen, king = (
        {format_square(square, width): words[owner] for square, owner in enumerate(owners.tolist()) if owner}
        for owners in territory(state)
    )
    return queen, king


@router.get("/view")
async def view(
    request: Request,
    model: Name,
    moves: Moves = "",
    simulations: Annotated[int, Query(ge=1, le=2000)] = 100,
    move: Annotated[
        str, Query(max_length=8, description="Amazons: what is chosen of a turn, ``d1`` or ``d1-d7``.")
    ] = "",
) -> NetView:
    """Return a net's policy and value in the position after some moves."""
    game, path, board = await _opened(request, model)
    fen, half = await asyncio.to_thread(_asked, game, board, moves, move)
    found = await _ask(request, "see", game, str(path), fen, simulations, half)
    return NetView.model_validate(found | {"model": model})


def _asked(game: str, board: Board, moves: str, move: str) -> tuple[str, tuple[int | None, int | None]]:
    """Return a position as a FEN, and the chosen part of a turn."""
    from pipeline_src.games.game import get_game

    state, _ = _state(game, board, moves)
    half = _half(state, move) if move and game == "amazons" else (None, None)
    return get_game(game).to_fen(state), half


def _half(state: Any, move: str) -> tuple[int, int | None]:
    from pipeline_src.games.amazons import legal_moves, parse_square

    n, (start, dash, to) = state.board.size, move.partition("-")
    chosen = parse_square(start, *state.board.shape), parse_square(to, *state.board.shape) if dash else None
    legal = {(half // n, half % n if dash else None) for half in legal_moves(state).tolist()}
    if chosen not in legal:
        raise ZugwerkError(f"{move}: no legal turn begins like this here")
    return chosen

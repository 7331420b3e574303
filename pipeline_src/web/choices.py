"""Games, boards, rules, players with their options, and models to choose from, without the slow import of numba."""

import json
import re
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from fastapi import APIRouter, Request

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.game import LEARNABLE, Game, load_game
from pipeline_src.players.packaged import ladder_of, ladders
from pipeline_src.players.player import OneBoard, PlayerText, read_options
from pipeline_src.players.registry import listed, maker_of, open_maker
from pipeline_src.web import messages
from pipeline_src.web.settings import Settings, files_below

OUTSIDE = ("uci", "brain")  # Players that start other programs. Pages may not use them.
LEVEL = "level"  # The player of the levels, which pages offer by their names
PATHS = ("model",)  # Options that name a file, besides the value after the colon
ANY = tuple(range(3, 26))
SIDES = {"amazons": ("White", "Black"), "gomoku": ("Black", "White")}
VARIANTS = {
    "amazons": (messages.Variant(name="standard", sizes=(10, 8, 6)), messages.Variant(name="cross", sizes=(10,))),
    "gomoku": tuple(messages.Variant(name=name, sizes=ANY) for name in ("freestyle", "exact", "renju", "caro")),
}
"""Copies of the games' own constants, since importing the games imports numba."""
USUAL = {"amazons": 10, "gomoku": 15}
ANALYSTS = {"amazons": ("alphabeta", "puct", "uct"), "gomoku": ("engine", "alphabeta", "mcts", "zero")}
"""Players that can analyse, by game; the first is the default."""
NODES, SIMULATIONS = 50_000, 400  # Usual budgets of an analysis per position
TREES = ("mcts", "net", "nets", "puct", "uct", "zero")  # Players whose budgets are simulations
LONG_LINE = re.compile(r"\b[a-z]+-([6-9]|\d\d)$")
"""Ending of a variant, or of a position, of Gomoku with lines that the engine does not know."""
MODELS = {"amazons": ("nets.pt",), "gomoku": ("best.pt", "best.onnx", "last.pt")}  # File names of nets, by game
MOST_MODELS = 200
NET = "net"  # File name of the nets of games in one file


router = APIRouter(prefix="/api/play", tags=["play"])


class Learnt(NamedTuple):
    """A net of `zugwerk learn`; its game is empty for a file that is not readable as one."""

    path: Path
    game: str
    variant: str
    shape: tuple[int, ...]  # Of its board


def analysts(game: str, rule: str) -> tuple[str, ...]:
    """Return the players that can analyse a game, the usual one first. The rule is a variant, or a FEN with it."""
    found = ANALYSTS.get(game, ())
    return tuple(player for player in found if player != "engine") if LONG_LINE.search(rule) else found


def plain_analysts(rules: Game, start: Any, settings: Settings) -> tuple[str, ...]:
    """Return the players that can analyse a game in one file from a start: nets for its board, and MCTS."""
    found = nets_of(rules, learnt(settings)).items()
    boards = ((net, rules.initial_state(one.size, one.variant)) for net, one in found)
    nets = [net for net, state in boards if state.board.shape == start.board.shape]
    return (*(str(PlayerText("net", net, {})) for net in nets), "mcts")


def hinting(game: str, rule: str) -> str:
    """Return the player that gives hints and judges moves."""
    return f"{analysts(game, rule)[0]}:movetime=1000" if game in ANALYSTS else "mcts"


def budget(player: str) -> int:
    """Return the usual nodes or simulations per position of a player that analyses."""
    return SIMULATIONS if PlayerText.parse(player).name in TREES else NODES


@router.get("/choices")
def choices(request: Request) -> messages.Choices:
    """List games, boards, rules, players and models."""
    settings: Settings = request.app.state.settings
    nets = learnt(settings)
    plain = [plain_game(name, nets) for name in (*settings.games, *LEARNABLE)]
    return messages.Choices(games=(*(game(name, settings) for name in SIDES), *plain))


def plain_game(name: str, nets: list[Learnt]) -> messages.GameChoice:
    """Return what there is to choose from for a game in one file: a name of `LEARNABLE`, or a file's path.

    Args:
        name: the game.
        nets: those of all games, see `learnt`.

    Raises:
        ZugwerkError: see `load_game`.
    """
    rules = load_game(name)
    boards = nets_of(rules, nets)
    return messages.GameChoice(
        game=name,
        first="Black",
        second="White",
        size=rules.SIZES[0],
        variants=tuple(messages.Variant(name=variant, sizes=rules.SIZES) for variant in rules.VARIANTS),
        ladders=(),
        players=players(name),
        models=tuple(boards),
        rules=" ".join((rules.__doc__ or "").partition("\n\n")[0].split()),
        boards=boards,
    )


def learnt(settings: Settings) -> list[Learnt]:
    """Return the nets of `zugwerk learn` that lie below the folders, of all games; see `Learnt`."""
    files = [path for folder in settings.folders for path in files_below(folder) if path.name == NET]
    return [Learnt(path, *_about(path, path.stat().st_mtime_ns)) for path in files]


def nets_of(rules: Game, nets: list[Learnt]) -> dict[str, messages.NetBoard]:
    """Return the boards of a game's nets by their files, as a player's text names them."""
    shapes = {(v, rules.initial_state(size, v).board.shape): size for v in rules.VARIANTS for size in rules.SIZES}
    own = [net for net in nets if net.game == rules.NAME and (net.variant, net.shape) in shapes][:MOST_MODELS]
    return {
        str(shown(net.path)): messages.NetBoard(size=shapes[net.variant, net.shape], variant=net.variant) for net in own
    }


@lru_cache(MOST_MODELS)
def _about(path: Path, _stamp: int) -> tuple[str, str, tuple[int, ...]]:
    """Return the game, variant and shape of a net's board; empty if it is not readable as one."""
    try:
        about = json.loads(str(np.load(BytesIO(path.read_bytes()), allow_pickle=False)["about"]))
        return about["game"], about["variant"], tuple(about["shape"][:2])
    except Exception:  # a damaged archive makes zipfile and NumPy raise anything
        return "", "", ()


def game(name: str, settings: Settings) -> messages.GameChoice:
    """Return what there is to choose from for one game."""
    (first, second), own = SIDES[name], set(messages.LevelChoice.model_fields)
    return messages.GameChoice(
        game=name,
        first=first,
        second=second,
        size=USUAL[name],
        variants=VARIANTS[name],
        ladders=tuple(
            messages.LadderChoice(
                size=ladder.size,
                sizes=tuple(n for n in ANY if ladder_of(OneBoard(n, n, ladder.variant), ladders(name)) == ladder),
                variant=ladder.variant,
                levels=tuple(messages.LevelChoice(**one.model_dump(include=own)) for one in ladder.levels),
            )
            for ladder in ladders(name)
        ),
        players=players(name),
        models=tuple(models(name, settings)),
    )


def players(game: str) -> tuple[messages.ListedPlayer, ...]:
    """Return the players of a game that pages may use, but for levels."""
    return tuple(
        messages.ListedPlayer(
            **{key: getattr(one, key) for key in ("name", "title", "meaning", "example")},
            with_options=tuple(one.with_options),
            options=tuple(
                messages.PlayerOption(name=o.name, type=o.type, default=o.default, meaning=o.meaning)
                for o in one.options
            ),
        )
        for one in listed(game)
        if one.name not in (*OUTSIDE, LEVEL)
    )


def models(game: str, settings: Settings) -> list[str]:
    """Return the files of nets below the folders, as a player's text names them."""
    found = [
        path
        for folder in settings.folders
        for path in files_below(folder)
        if path.name in MODELS[game] and game in path.parts
    ]
    return [str(shown(path)) for path in found[:MOST_MODELS]]


def shown(path: Path) -> Path:
    """Return a path as a player's text names it: relative to the working directory, if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def check_player(text: str, game: str, settings: Settings) -> None:
    """Check that a player's text is valid and that a page may use it.

    Raises:
        ZugwerkError: the player starts another program, a file is outside the folders, or a name or option is unknown.
    """
    parsed = PlayerText.parse(text)
    where = maker_of(game, parsed)
    if parsed.name in OUTSIDE:
        raise ZugwerkError(f"player {parsed.name!r} starts another program, which pages may not; use zugwerk match")
    kind = open_maker(where)[1]
    value = parsed.value if kind.VALUE in PATHS else ""
    for path in (value, *(parsed.options.get(name, "") for name in PATHS)):
        if path:
            settings.file(path)
    read_options(kind, parsed)

"""The board as a static page, whose engine is WebAssembly: `write_site`, for ``zugwerk export --web``.

The pages are those of the server, with `static/local` in its place. What the page and the server both know, such as
players, levels and options of searches, goes into ``tables.json`` from the declarations.
"""

import base64
import hashlib
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import written_aside
from pipeline_src.games.game import get_game
from pipeline_src.players.packaged import Ladder, ladders, level_words
from pipeline_src.players.player import PlayerText
from pipeline_src.players.registry import build_player, maker_of, open_maker
from pipeline_src.project.plots_page import bundle
from pipeline_src.web.choices import ANY, VARIANTS
from pipeline_src.web.choices import game as choices_of
from pipeline_src.web.settings import Settings

STATIC = Path(__file__).parent / "static"
CHARTS = Path(__file__).parents[1] / "report" / "specs"
SERVERS = ("nets.js", "joseki.js", "interface.js")  # Pages that need the server
PLAYERS: dict[str, dict[str, tuple[str, ...]]] = {
    "gomoku": {"zero": ("nodes", "simulations", "movetime", "search", "temperature", "fours"), "random": ()},
    "amazons": {
        "alphabeta": ("nodes", "movetime", "depth"),
        "puct": ("nodes", "simulations", "movetime"),
        "nets": ("temperature",),
        "one_ply": ("noise",),
        "random": (),
    },
}
"""Players of the page with their options, by game; the first one analyses and gives hints."""
SINGLE = "zugwerk.html"
BOARDS = {
    "gomoku": tuple(
        f"{size}-{one.name}" for one in VARIANTS["gomoku"] for size in ANY if size > 4 or one.name != "renju"
    ),
    "amazons": tuple(f"{size}-{one.name}" for one in VARIANTS["amazons"] for size in one.sizes),
}
"""Boards of the page by game, as SIZE-VARIANT."""


def tables(boards: Mapping[str, Sequence[str]] = BOARDS) -> dict[str, Any]:
    """Return what the page has to know and no kernel knows, as JSON has it."""
    from pipeline_src.games.gomoku import WHAT
    from pipeline_src.records.psq import _RULE, _RULE_NUMBERS, _RULE_WORDS
    from pipeline_src.records.sgf_games import LETTERS, NUMBERS
    from pipeline_src.web.analyse import forced_wins

    rules = {"rule": _RULE.pattern, "words": _RULE_WORDS, "numbers_of_rules": _RULE_NUMBERS}
    hints = {game: f"{next(iter(players))}:movetime=1000" for game, players in PLAYERS.items()}
    return {
        "boards": {game: list(some) for game, some in boards.items()},
        "choices": {"games": [_choices(game, hints[game]) for game in boards]},
        "levels": [_ladder(ladder) for game in boards for ladder in ladders(game)],
        "players": PLAYERS | {"limits": {name: _limit(game, name) for game, some in PLAYERS.items() for name in some}},
        "analysts": {game: [next(iter(players))] for game, players in PLAYERS.items()},
        "hints": hints,
        "forbidden": WHAT,
        "forced": [
            one.model_dump(mode="json")
            for one in forced_wins().wins
            if f"{one.place.size}-{one.place.variant}" in boards.get("gomoku", ())
        ],
        "records": {"numbers": NUMBERS, "letters": LETTERS} | rules,
        "search": _search(),
    }


def _choices(game: str, usual: str) -> dict[str, Any]:
    found: dict[str, Any] = choices_of(game, Settings()).model_dump(mode="json") | {"usual": usual}
    for ladder, shown in zip(ladders(game), found["ladders"], strict=True):
        for level, one in zip(ladder.levels, shown["levels"], strict=True):
            one["elsewhere"] = not _plays(game, level.player)
    found["players"] = [
        one | {"options": [option for option in one["options"] if option["name"] in PLAYERS[game][one["name"]]]}
        for one in found["players"]
        if _plays(game, f"{one['name']}:{','.join(one['with_options'])}")
    ]
    return found


def _plays(game: str, text: str) -> bool:
    """Whether the page has a player, as a player's text names it."""
    name, _, rest = text.partition(":")
    keys = {item.partition("=")[0] for item in rest.split(",") if item}
    return name in PLAYERS[game] and keys <= set(PLAYERS[game][name])


def _ladder(ladder: Ladder) -> dict[str, Any]:
    shown = next(
        one
        for one in choices_of(ladder.game, Settings()).ladders
        if one.size == ladder.size and one.variant == ladder.variant
    )
    levels = [level.player if _plays(ladder.game, level.player) else None for level in ladder.levels]
    words = [level_words(ladder.board, ladder.game, f"level:{k}") for k in range(1, len(levels) + 1)]
    board = {"game": ladder.game, "size": ladder.size, "variant": ladder.variant, "sizes": list(shown.sizes)}
    return board | {"levels": levels, "words": words}


def _limit(game: str, name: str) -> dict[str, float]:
    limit = getattr(open_maker(maker_of(game, PlayerText.parse(name)))[1], "DEFAULT", None)
    named = {"nodes": "nodes", "movetime": "movetime_ms", "depth": "depth"}
    return {key: value for key, field in named.items() if (value := getattr(limit, field, None)) is not None}


def _search() -> dict[str, Any]:
    """Return the options and constants of the searches."""
    from pipeline_src.search.alphabeta import _BELIEF, DECIDED, LOST
    from pipeline_src.search.evaluator import COUNTED
    from pipeline_src.search.mcts.puct_trees import LEAST_SHARE
    from pipeline_src.web import child

    state = get_game("gomoku").initial_state()
    players: list[Any] = [build_player("gomoku", f"zero:{limit}=1") for limit in ("simulations", "movetime")]
    alone, proving = (player.player_for(state).puct for player in players)
    gomoku = {
        "alone": alone.options._asdict(),
        "proving": proving.options._asdict(),
        "fours": int(proving.evaluate_batch.limits[0]),
        "least_share": LEAST_SHARE,
        "proof": child.PROOF,
    }
    amazons = get_game("amazons").initial_state()
    steps: Any = build_player("amazons", "puct:movetime=1")
    puct = steps.player_for(amazons).puct
    values = {
        "puct": puct.options._asdict(),
        "first_share": puct.first_share,
        "least_share": LEAST_SHARE,
        "counted": COUNTED,
        "lost": LOST,
        "decided": DECIDED,
        "belief": _BELIEF,
        "odds": child.ODDS["squares"],
        "proven": child.DECIDED,
    }
    return {"gomoku": gomoku, "amazons": values}


def write_site(folder: Path, single_file: bool = False, boards: Mapping[str, Sequence[str]] = BOARDS) -> Path:
    """Write the page below a folder, or with ``single_file`` as one file that opens from disk; return what to open.

    Raises:
        ZugwerkError: the folder is not empty and holds no such page, the linker is missing, or kernels do not compile.
    """
    own = ("tables.json", SINGLE)
    if folder.exists() and any(folder.iterdir()) and not any((folder / one).is_file() for one in own):
        raise ZugwerkError(f"{folder}: not empty, and not a page that this command wrote; name a new folder")
    if single_file:
        with tempfile.TemporaryDirectory() as whole:
            _write_files(Path(whole), boards)
            _write(folder / SINGLE, joined(Path(whole)).encode())
        return folder / SINGLE
    _write_files(folder, boards)
    return folder / "index.html"


def _write_files(folder: Path, boards: Mapping[str, Sequence[str]]) -> None:
    _engines(folder / "engine", boards)
    texts = {"vega.js": bundle(), "tables.json": json.dumps(tables(boards), separators=(",", ":"))}
    files = {name: text.encode() for name, text in texts.items()}
    files |= {f"charts/{path.name}": path.read_bytes() for path in CHARTS.glob("*.json")}
    for path in sorted(STATIC.rglob("*")):
        if path.is_file() and path.name not in SERVERS:
            files[path.relative_to(STATIC).as_posix()] = path.read_bytes()
    page, worker = (files.pop(name).decode() for name in ("index.html", "local/sw.js"))
    digest = hashlib.sha256()
    for content in [*files.values(), *(path.read_bytes() for path in sorted((folder / "engine").iterdir()))]:
        digest.update(content)
    shell = json.dumps(["./", *(name for name in files if name != "local/single.js")])
    files["sw.js"] = worker.replace("VERSION", digest.hexdigest()[:16]).replace('"SHELL"', shell).encode()
    files["index.html"] = page.replace('<html lang="en"', '<html lang="en" data-engine="page"').encode()
    for name, content in files.items():
        _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_aside(path) as aside:
        aside.write_bytes(content)


def _engines(folder: Path, boards: Mapping[str, Sequence[str]]) -> None:
    """Compile the kernels, each game in a process of its own: they are compiled for no machine there."""
    if folder.exists():
        shutil.rmtree(folder)
    commands = [
        [sys.executable, "-m", "pipeline_src.web.page", str(folder), game, *some] for game, some in boards.items()
    ]
    started = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]  # noqa: S603
    try:
        said = [process.communicate()[1].strip() for process in started]
    finally:
        for process in started:
            process.kill()
    for process, text in zip(started, said, strict=True):
        if process.returncode:
            raise ZugwerkError(
                text.splitlines()[-1].removeprefix("error: ")
                if text
                else f"the kernels' process ended with status {process.returncode}"
            )


_IMPORT = re.compile(r'(?:from |import\()"(\.[^"]+)"')
_IN_THE_HEAD = ("index.html", "icon.svg", "pages.css", "style.css", "sw.js", "theme.js", "local/single.js")


def joined(folder: Path) -> str:
    """Return the page of a folder as one file, in which modules come after those that they import."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
    ordered = dict[str, None]()

    def add(name: str) -> None:
        if name.endswith(".js") and name != "vega.js":
            for other in _IMPORT.findall(files[name].decode()):
                wanted = posixpath.normpath(posixpath.join(posixpath.dirname(name), other))
                if wanted not in ordered:
                    add(wanted)
        ordered[name] = None

    for name in files:
        if name not in ordered and name not in _IN_THE_HEAD:
            add(name)
    page = re.sub(
        r'<link rel="modulepreload"[^>]*>\n|<script type="module"[^>]*></script>\n', "", files["index.html"].decode()
    )
    page = page.replace('"icon.svg"', f'"data:image/svg+xml;base64,{_as_text(files["icon.svg"])}"')
    for sheet in ("style.css", "pages.css"):
        page = page.replace(f'<link rel="stylesheet" href="{sheet}">', f"<style>{files[sheet].decode()}</style>")
    page = page.replace('<script src="theme.js"></script>', f"<script>{files['theme.js'].decode()}</script>")
    inside = [f'<script type="text/plain" data-file="{name}">{_as_text(files[name])}</script>' for name in ordered]
    return page.replace(
        "</body>", "\n".join([*inside, f"<script>{files['local/single.js'].decode()}</script>", "</body>"])
    )


def _as_text(content: bytes) -> str:
    return base64.b64encode(content).decode()

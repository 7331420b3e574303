"""The page of a tournament: one HTML file with the table, an Elo chart, the forfeits and every game on a board.

The page contains the scripts and styles of the web pages' boards, so that it opens offline.
"""

import json
import math
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

from pipeline_src.arena.ratings import Rating
from pipeline_src.arena.tournament import NamedGame, Standings, Tournament
from pipeline_src.files import written_aside
from pipeline_src.games.game import get_game

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parents[1] / "web" / "static"
BOARDS = {"amazons": ("amazons", "AmazonsBoard"), "gomoku": ("stones", "StoneBoard"), "go": ("stones", "StoneBoard")}
"""Script and class of the board of a game. Games without a board are shown as moves."""
STYLES, SCRIPTS = ("style.css", "pages.css"), ("dom.js", "board/grid.js")
SIDES = {"amazons": ("White", "Black"), "gomoku": ("Black", "White"), "go": ("Black", "White")}
WIDTH, ROW, EDGE = 420, 44, 20
"""Width of the chart, height of a player's row, and margin on both sides, in SVG units."""
_LINKS = re.compile(r"^import .*\n|^export ", re.MULTILINE)
"""Imports and exports of the modules, which are one script here."""


def write_page(found: Standings, tournament: Tournament, path: Path) -> None:
    """Write the page of a tournament, which may be unfinished."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["whole"] = Markup  # files of this package, and JSON without a <
    games = {"sides": SIDES.get(tournament.game, ("First", "Second")), "games": _games(found, tournament)}
    page = environment.get_template("tournament.html").render(
        tournament=tournament,
        found=found,
        texts=tournament.texts(),
        size=tournament.spec().size,
        against={(a, b): standing for a, b, standing in found.rows},
        chart=_chart(found),
        style="\n".join(_read(STATIC / name) for name in STYLES),
        script=_script(tournament.game),
        games=json.dumps(games, separators=(",", ":")).replace("<", "\\u003c"),  # so that no text ends the element
    )
    with written_aside(path) as aside:
        aside.write_text(page, encoding="utf-8")


def _games(found: Standings, tournament: Tournament) -> list[dict[str, Any]]:
    """Return all games with their moves and, for games with a board, the ranks of each position."""
    board, rules = tournament.spec().board, get_game(tournament.game)

    def row(one: NamedGame) -> dict[str, Any]:
        played = one.played
        state = board.start(played.fixture.start)
        height, width = state.board.shape
        states = accumulate(played.actions, rules.play, initial=state)
        return {
            "number": one.number,
            "names": [one.first, one.second],
            "winner": played.winner,
            "forfeit": "" if played.ended == "board" else played.ended,
            "detail": played.detail,
            "height": height,
            "width": width,
            "opening": len(played.fixture.opening),
            "moves": [rules.format_move(action, height, width) for action in played.actions],
            "ranks": [rules.to_fen(each).split()[0] for each in states] if tournament.game in BOARDS else [],
        }

    return [row(one) for one in found.games]


def _script(game: str) -> str:
    """Return the script of the page: the board of the game, and the replay."""
    name, board = BOARDS.get(game, ("", "null"))
    files = [*(STATIC / one for one in SCRIPTS), *([STATIC / "board" / f"{name}.js"] if name else [])]
    parts = [_LINKS.sub("", _read(file)) for file in files]
    return "\n".join([*parts, f"const Board = {board};", _read(TEMPLATES / "tournament.js")])


def _chart(found: Standings) -> dict[str, Any]:
    """Return the coordinates of the rating chart, in SVG units; empty without ratings."""
    ratings = found.ratings
    if not ratings:
        return {}
    low, high = min(one.low for one in ratings.values()), max(one.high for one in ratings.values())
    step = _step(high - low)
    low, high = step * math.floor(low / step), step * max(math.ceil(high / step), math.floor(low / step) + 1)

    def x(elo: float) -> float:
        return round(EDGE + (WIDTH - 2 * EDGE) * (elo - low) / (high - low), 1)

    def row(place: int, name: str, one: Rating) -> dict[str, Any]:
        ends = {"x": x(one.elo), "low": x(one.low), "high": x(one.high)}
        return {"name": name, "rating": one, "y": ROW * place, **ends}

    names = [name for name in found.ranking if name in ratings]
    ticks = [low + step * k for k in range(round((high - low) / step) + 1)]
    return {
        "width": WIDTH,
        "height": ROW * len(names) + 26,
        "rows": [row(place, name, ratings[name]) for place, name in enumerate(names)],
        "ticks": [(x(elo), f"{elo:+g}" if elo else "0") for elo in ticks],
        "zero": x(0.0),
    }


def _step(span: float) -> float:
    """Return a round distance of ticks such that a span has about five."""
    power = 10 ** math.floor(math.log10(max(span, 1.0) / 5))
    return next(float(k * power) for k in (1, 2, 5, 10) if k * power * 6 >= span)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")

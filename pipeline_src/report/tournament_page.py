"""The page of a tournament: one HTML file with the table, an Elo chart, the forfeits and every game on a board.

The page contains the scripts and styles of the web pages' boards, so that it opens offline.
"""

import json
import re
from itertools import accumulate
from pathlib import Path
from typing import Any

from pipeline_src.arena.match import NamedGame, Standings, Tournament
from pipeline_src.files import written_aside
from pipeline_src.games.game import load_game
from pipeline_src.games.grid import owner_letters
from pipeline_src.games.stones import write_ranks

TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parents[1] / "web" / "static"
BOARDS = {"amazons": ("amazons", "AmazonsBoard")}
"""Script and class of the board of a game that is not played with stones."""
STONES = "stones", "StoneBoard"
STYLES, SCRIPTS = ("style.css", "pages.css"), ("dom.js", "board/grid.js")
SIDES = {"amazons": ("White", "Black"), "gomoku": ("Black", "White"), "go": ("Black", "White")}
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
    """Return all games with their moves and the ranks of each position."""
    board, rules = tournament.spec().board, load_game(tournament.game)
    owners = getattr(rules, "OWNERS", None)  # of a game in one file, whose letters may be any
    letters = None if owners is None else owner_letters(owners)

    def ranks(state: Any) -> str:
        return rules.to_fen(state).split()[0] if letters is None else write_ranks(state.board, letters)

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
            "ranks": [ranks(each) for each in states],
        }

    return [row(one) for one in found.games]


def _script(game: str) -> str:
    """Return the script of the page: the board of the game, and the replay."""
    name, board = BOARDS.get(game, STONES)
    parts = [_LINKS.sub("", _read(STATIC / one)) for one in (*SCRIPTS, f"board/{name}.js")]
    return "\n".join([*parts, f"const Board = {board};", _read(TEMPLATES / "tournament.js")])


def _chart(found: Standings) -> str:
    """Return the picture of the ratings, in the page's colours; empty without ratings."""
    from pipeline_src.report.charts import Chart, ranked, svg

    names = [name for name in found.ranking if name in found.ratings]
    rated = [(name, found.ratings[name]) for name in names]
    rows = [{"name": name, "value": one.elo, "low": one.low, "high": one.high} for name, one in rated]
    title = "Elo of each player with its interval; the table has the numbers"
    spec = ranked(rows, "Elo", level=0)
    return svg(Chart("elo", title, "", spec), {}) if spec else ""


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")

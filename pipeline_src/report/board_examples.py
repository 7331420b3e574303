"""Pictures of the boards that the stage report_positions chose: sample games and positions, for the report's page."""

from dataclasses import dataclass
from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.games.amazons.board import FILES as AMAZONS_FILES
from pipeline_src.games.go.notation import FILES as GO_FILES
from pipeline_src.games.gomoku.board import FILES as GOMOKU_FILES
from pipeline_src.report.board_picture import INK, BoardPicture, SquaresPicture, star_points
from pipeline_src.report.positions.file import (
    LETTERS,
    POSITIONS,
    SIDES,
    Candidate,
    GameName,
    Panel,
    read_examples,
    square_names,
)

PIECES: dict[GameName, str] = {"amazons": "Qq", "gomoku": "xo", "go": "xo"}
"""Letters of the pieces of the first and the second side."""
FILES: dict[GameName, str] = {"amazons": AMAZONS_FILES, "gomoku": GOMOKU_FILES, "go": GO_FILES}
SHADED, WRITTEN = 0.01, 0.02
"""Least shares for a square to be shaded, and for its percentage to be written on it."""
DARK = 0.9
"""Least opacity of heat for white text on it."""


@dataclass(frozen=True)
class Picture:
    """One board as SVG that is inserted into a page unchanged. The other fields are plain text, not escaped."""

    svg: str
    label: str
    win_rate: str
    """Text such as ``win rate of White 53 %``, or empty."""
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class BoardExample:
    """An example of the file with its pictures. All fields but their ``svg`` are plain text, not escaped."""

    system: str
    name: str
    title: str
    caption: str
    pictures: tuple[Picture, ...]
    moves: str
    """A whole game as text with numbered turns; else empty."""


def examples(folder: Path = Path()) -> list[BoardExample]:
    """Return the examples of a project's folder, in the order of the file.

    Raises:
        ZugwerkError: the stage report_positions has not run, or its file has another form; the message names the file.
    """
    path, made = folder / POSITIONS, []
    for example in read_examples(path):
        try:
            pictures = tuple(picture(example.game, panel) for panel in example.panels)
        except ZugwerkError as error:
            raise ZugwerkError(f"{path}: {example.name}: {error}; `dvc repro -f report_positions`") from None
        made.append(
            BoardExample(
                example.system, example.name, example.title, example.caption, pictures, numbered(example.moves)
            )
        )
    return made


def numbered(moves: tuple[str, ...]) -> str:
    """Return the text ``1. d1-d7/g7 a7-b6/c5 2. ...``, with one number for a turn of each side."""
    return " ".join(move if i % 2 else f"{i // 2 + 1}. {move}" for i, move in enumerate(moves))


def picture(game: GameName, panel: Panel) -> Picture:
    """Return the picture of one board.

    Raises:
        ZugwerkError: the board has an unknown letter, or lacks a named square.
    """
    win_rate = "" if panel.value is None else f"win rate of {panel.to_play or 'the mover'} {100 * panel.value:.0f} %"
    kind = SquaresPicture if game == "amazons" else BoardPicture
    drawn = kind(len(panel.board), FILES[game], star_points(len(panel.board)) if game == "go" else ())
    _draw(drawn, game, panel)
    label = f"{panel.label}; {win_rate}" if win_rate else panel.label
    return Picture(drawn.inline(label), panel.label, win_rate, panel.candidates)


class _Points(dict[str, int]):
    """Points of a picture, row * size + column from the top, by the names of squares."""

    def __init__(self, game: GameName, size: int) -> None:
        names = square_names(game, size)
        if game == "amazons":  # whose square 0 is at the bottom
            names = [name for row in range(size, 0, -1) for name in names[(row - 1) * size : row * size]]
        super().__init__((name, place) for place, name in enumerate(names))

    def __missing__(self, name: str) -> int:
        raise ZugwerkError(f"no square {name!r} on this board")


def _draw(drawn: BoardPicture, game: GameName, panel: Panel) -> None:
    """Draw heat, pieces, marks and texts, in this order."""
    point = _Points(game, drawn.size)
    power = 1.0 if panel.texts else 0.5  # of probabilities the root, so that a few percent are still seen
    shade = {point[name]: share**power for name, share in panel.heat.items() if share >= SHADED}
    for place, opacity in shade.items():
        drawn.heat(place, opacity)
    percent = {name: f"{100 * share:.0f}" for name, share in panel.heat.items() if share >= WRITTEN}
    texts = {point[name]: text for name, text in (panel.texts or percent).items()}
    inks = {place: "#fff" if opacity > DARK else INK for place, opacity in shade.items()}
    for place, letter in enumerate("".join(panel.board)):
        if letter in PIECES[game]:
            drawn.piece(place, PIECES[game].index(letter), texts.pop(place, ""), inks.get(place, ""))
        elif letter == "*" and isinstance(drawn, SquaresPicture):
            drawn.arrow(place)
        elif letter not in LETTERS[game]:
            raise ZugwerkError(f"no piece {letter!r} in {game}")
    for name, side in panel.owned.items():
        drawn.owned(point[name], SIDES[game].index(side))
    for name in panel.last:
        (drawn.outline if name in panel.texts else drawn.ring)(point[name])
    for name in panel.played:
        drawn.outline(point[name])
    for place, text in texts.items():
        drawn.text(place, text, inks.get(place, INK))

"""Pictures of Gomoku games with numbered stones."""

from collections.abc import Sequence

from pipeline_src.games.gomoku.board import FILES
from pipeline_src.report.board_picture import LAST, STONES, BoardPicture


def board_svg(actions: Sequence[int], size: int, title: str = "") -> str:
    """Return the position after the actions (row * size + column, row 0 the top, Black first) as SVG.

    The last stone has a red number.
    """
    picture = BoardPicture(size, FILES)
    for number, action in enumerate(actions, 1):
        side = (number - 1) % 2
        picture.piece(action, side)
        picture.text(action, str(number), LAST if number == len(actions) else STONES[1 - side])
    return picture.svg(title)

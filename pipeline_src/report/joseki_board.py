"""Go positions with the library's recommended moves, as pictures and as rows of a table."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games.go import FILES, format_move
from pipeline_src.report.board_picture import BoardPicture, star_points
from pipeline_src.systems.joseki.corners import CORNER_NAMES
from pipeline_src.systems.joseki.recommend import Recommendation


def recommendation_rows(found: Iterable[Recommendation], size: int = 19) -> list[dict[str, Any]]:
    """Return a row for each recommendation: rank, corner, move, count, share, win_rate, games (gid:ply)."""
    return [
        {
            "rank": rank,
            "corner": CORNER_NAMES[one.corner],
            "move": " ".join(format_move(action, size, size) for action in one.actions) or "elsewhere",
            "count": one.played,
            "share": round(one.share, 4),
            "win_rate": "" if one.win_rate is None else round(one.win_rate, 4),
            "games": " ".join(f"{gid}:{ply}" for gid, ply in one.samples),
        }
        for rank, one in enumerate(found, 1)
    ]


def board_svg(board: npt.NDArray[np.int8], found: Sequence[Recommendation], last: int = -1, title: str = "") -> str:
    """Return a board int8 [H, W] (0 empty, 1 black, 2 white, row 0 the top) as SVG, with candidates' shares in percent.

    The stone on point ``last`` is marked. The more often a candidate was played, the deeper its blue.
    """
    size = board.shape[0]
    picture = BoardPicture(size, FILES, star_points(size))
    for point in np.flatnonzero(board).tolist():
        picture.piece(point, int(board.flat[point]) - 1)
    if last >= 0 and board.flat[last]:
        picture.ring(last)
    for one in reversed(found):  # the best ones on top
        for action in one.actions:
            picture.candidate(action, 0.45 + 0.5 * one.share)
            picture.text(action, f"{100 * one.share:.0f}", "#fff")
    return picture.svg(title)

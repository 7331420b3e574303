"""A Go position with the library's candidate moves: as a picture and as rows of a table."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline_src.games.go.notation import FILES, format_move
from pipeline_src.joseki.corners import CORNER_NAMES
from pipeline_src.joseki.recommend import Recommendation

CELL = 28
MARGIN = 30
STONES = {1: "#111", 2: "#fff"}


def recommendation_rows(found: Iterable[Recommendation], size: int = 19) -> list[dict[str, Any]]:
    """One row a recommendation: rank, corner, move, count, share, win_rate, games (gid:ply)."""
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
    """SVG of a board int8 [H, W], 0 empty, 1 black, 2 white, row 0 the top, with the candidates' shares in percent.

    The stone on point ``last`` is marked. The same arguments give the same text.
    """
    size = board.shape[0]
    side = 2 * MARGIN + CELL * (size - 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side + 24}" width="{side}" height="{side + 24}"'
        ' font-family="sans-serif" text-anchor="middle">',
        f'<rect width="{side}" height="{side + 24}" fill="#e9c98a"/>',
    ]
    low, high = MARGIN, side - MARGIN
    for i in range(size):
        at = MARGIN + CELL * i
        parts.append(f'<path d="M{low} {at}H{high}M{at} {low}V{high}" stroke="#6b5225" stroke-width="1"/>')
        parts.append(f'<text x="{at}" y="{side - 6}" font-size="11">{FILES[i]}</text>')
        parts.append(f'<text x="9" y="{at + 4}" font-size="11">{size - i}</text>')
    for row in range(3, size, 6):
        for column in range(3, size, 6):
            parts.append(f'<circle cx="{MARGIN + CELL * column}" cy="{MARGIN + CELL * row}" r="3" fill="#6b5225"/>')
    for point in np.flatnonzero(board).tolist():
        x, y = _centre(point, size)
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{CELL / 2 - 1:g}" fill="{STONES[int(board.flat[point])]}" stroke="#111"/>'
        )
        if point == last:
            parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="none" stroke="#d01010" stroke-width="2"/>')
    for one in reversed(found):  # the best ones on top
        for action in one.actions:
            x, y = _centre(action, size)
            parts.append(
                f'<circle cx="{x}" cy="{y}" r="{CELL / 2 - 2:g}" fill="#2f6fb0" fill-opacity="{_depth(one)}"/>'
            )
            parts.append(f'<text x="{x}" y="{y + 4}" font-size="11" fill="#fff">{100 * one.share:.0f}</text>')
    text = title.replace("&", "&amp;").replace("<", "&lt;")
    parts.append(f'<text x="{side / 2:g}" y="{side + 14}" font-size="12">{text}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _centre(point: int, size: int) -> tuple[int, int]:
    return MARGIN + CELL * (point % size), MARGIN + CELL * (point // size)


def _depth(one: Recommendation) -> str:
    """Opacity: deeper the more often a move was played."""
    return f"{0.45 + 0.5 * one.share:.2f}"

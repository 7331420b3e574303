"""A game of Gomoku as a picture: the stones with the numbers of their moves."""

from collections.abc import Sequence

from pipeline_src.games.gomoku.board import FILES

CELL = 28
MARGIN = 28


def board_svg(actions: Sequence[int], size: int, title: str = "") -> str:
    """SVG of the position after the actions (cells, row * size + column, row 0 the top), Black first.

    The last stone has a red number. The same game gives the same text.
    """
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
        parts.append(f'<text x="8" y="{at + 4}" font-size="11">{size - i}</text>')
    for number, action in enumerate(actions, 1):
        x, y = MARGIN + CELL * (action % size), MARGIN + CELL * (action // size)
        stone, ink = (("#111", "#fff"), ("#fff", "#111"))[(number - 1) % 2]
        ink = "#d01010" if number == len(actions) else ink
        parts.append(f'<circle cx="{x}" cy="{y}" r="{CELL / 2 - 2:g}" fill="{stone}" stroke="#111"/>')
        parts.append(f'<text x="{x}" y="{y + 4}" font-size="11" fill="{ink}">{number}</text>')
    text = title.replace("&", "&amp;").replace("<", "&lt;")
    parts.append(f'<text x="{side / 2:g}" y="{side + 14}" font-size="12">{text}</text>')
    return "\n".join([*parts, "</svg>", ""])

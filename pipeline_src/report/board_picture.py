"""A board of lines with stones on its points, as SVG; the same calls give the same text."""

from html import escape

CELL = 28
MARGIN = 30
LINE, WOOD, LAST = "#6b5225", "#e9c98a", "#d01010"
STONES = ("#111", "#fff")
"""Of the first and the second side."""


class BoardPicture:
    """Draws in the order of the calls. Points are row * size + column, row 0 the top."""

    def __init__(self, size: int, files: str, dots: tuple[int, ...] = ()) -> None:
        """An empty board with a letter of ``files`` under each column and ``dots`` on some points."""
        self.size = size
        self._side = 2 * MARGIN + CELL * (size - 1)
        self._parts = [f'<rect width="{self._side}" height="{self._side + 24}" fill="{WOOD}"/>']
        low, high = MARGIN, self._side - MARGIN
        for i in range(size):
            at = MARGIN + CELL * i
            self._parts += [
                f'<path d="M{low} {at}H{high}M{at} {low}V{high}" stroke="{LINE}" stroke-width="1"/>',
                f'<text x="{at}" y="{self._side - 6}" font-size="11">{files[i]}</text>',
                f'<text x="9" y="{at + 4}" font-size="11">{size - i}</text>',
            ]
        for point in dots:
            self._circle(point, 3, f'fill="{LINE}"')

    def stone(self, point: int, side: int) -> None:
        """A stone of side 0 or 1."""
        self._circle(point, CELL / 2 - 1, f'fill="{STONES[side]}" stroke="#111"')

    def ring(self, point: int) -> None:
        """Marks the last stone."""
        self._circle(point, 5, f'fill="none" stroke="{LAST}" stroke-width="2"')

    def candidate(self, point: int, opacity: float) -> None:
        """A move that may be played, the deeper the better it is."""
        self._circle(point, CELL / 2 - 2, f'fill="#2f6fb0" fill-opacity="{opacity:.2f}"')

    def text(self, point: int, text: str, ink: str) -> None:
        """A few letters on a point."""
        x, y = self._centre(point)
        self._parts.append(f'<text x="{x}" y="{y + 4}" font-size="11" fill="{ink}">{escape(text)}</text>')

    def svg(self, title: str = "") -> str:
        """The picture, with a title below the board."""
        side = self._side
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side + 24}" width="{side}"'
            f' height="{side + 24}" font-family="sans-serif" text-anchor="middle">'
        )
        title = f'<text x="{side / 2:g}" y="{side + 14}" font-size="12">{escape(title, quote=False)}</text>'
        return "\n".join([head, *self._parts, title, "</svg>", ""])

    def _circle(self, point: int, radius: float, look: str) -> None:
        x, y = self._centre(point)
        self._parts.append(f'<circle cx="{x}" cy="{y}" r="{radius:g}" {look}/>')

    def _centre(self, point: int) -> tuple[int, int]:
        return MARGIN + CELL * (point % self.size), MARGIN + CELL * (point // self.size)

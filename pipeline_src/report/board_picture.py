"""Boards as SVG, with lines and stones or with squares and amazons. The same calls give the same text."""

from html import escape

CELL = 28
MARGIN = 30
LINE, WOOD, LAST = "#6b5225", "#e9c98a", "#d01010"
EDGE, PAPER, BURNT = "#b3a78c", "#f6f1e6", "#5b5347"
INK = "#111"
HEAT = "#2f6fb0"
"""Colour of candidate moves; likelier ones are deeper."""
STONES = ("#111", "#fff")
"""Colours of the stones of the first and the second side."""
AMAZONS = ("#fff", "#111")
"""Colours of the amazons of the first side (White) and the second."""
CROWN = "M-7 8L-10 -5L-4 1L0 -9L4 1L10 -5L7 8Z"


def star_points(size: int) -> tuple[int, ...]:
    """Return the points with a dot on a board for Go."""
    return tuple(row * size + column for row in range(3, size, 6) for column in range(3, size, 6))


class BoardPicture:
    """A board of lines, drawn in the order of the calls. Points are row * size + column; row 0 is the top."""

    ground, inks = WOOD, STONES

    def __init__(self, size: int, files: str, dots: tuple[int, ...] = ()) -> None:
        """Begin an empty board with a letter of ``files`` under each column and ``dots`` on some points."""
        self.size = size
        self._side = 2 * MARGIN + CELL * (size - 1)
        self._parts = [f'<rect width="{self._side}" height="{self._side + 24}" fill="{self.ground}"/>']
        for i in range(size):
            at = MARGIN + CELL * i
            self._parts += [
                self._line(at),
                f'<text x="{at}" y="{self._side - 6}" font-size="11">{files[i]}</text>',
                f'<text x="9" y="{at + 4}" font-size="11">{size - i}</text>',
            ]
        for point in dots:
            self._circle(point, 3, f'fill="{LINE}"')

    def piece(self, point: int, side: int, text: str = "", ink: str = "") -> None:
        """Draw a stone of side 0 or 1 with a few letters, by default in the other side's colour."""
        self._circle(point, CELL / 2 - 1, f'fill="{self.inks[side]}" stroke="#111"')
        if text:
            self.text(point, text, ink or self.inks[1 - side])

    def ring(self, point: int) -> None:
        """Mark the last stone."""
        self._circle(point, 5, f'fill="none" stroke="{LAST}" stroke-width="2"')

    def outline(self, point: int) -> None:
        """Mark the next move of the game."""
        self._circle(point, CELL / 2 - 1, f'fill="none" stroke="{LAST}" stroke-width="2"')

    def candidate(self, point: int, opacity: float) -> None:
        """Draw a candidate move; better ones are deeper."""
        self._circle(point, CELL / 2 - 2, f'fill="{HEAT}" fill-opacity="{opacity:.2f}"')

    def heat(self, point: int, opacity: float) -> None:
        """Shade a point. The patch hides the lines below it; it is square, so that it does not look like a stone."""
        self._square(point, CELL - 2, f'fill="{PAPER}"')
        self._square(point, CELL - 2, f'fill="{HEAT}" fill-opacity="{opacity:.2f}"')

    def owned(self, point: int, side: int) -> None:
        """Mark a point that belongs to side 0 or 1."""
        self._circle(point, 4, f'fill="{self.inks[side]}" stroke="#111"')

    def text(self, point: int, text: str, ink: str) -> None:
        """Write a few letters on a point."""
        x, y = self._centre(point)
        self._parts.append(f'<text x="{x}" y="{y + 4}" font-size="11" fill="{ink}">{escape(text)}</text>')

    def svg(self, title: str = "") -> str:
        """Return the picture with a title below the board."""
        side = self._side
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side + 24}" width="{side}"'
            f' height="{side + 24}" font-family="sans-serif" text-anchor="middle">'
        )
        title = f'<text x="{side / 2:g}" y="{side + 14}" font-size="12">{escape(title, quote=False)}</text>'
        return "\n".join([head, *self._parts, title, "</svg>", ""])

    def inline(self, label: str) -> str:
        """Return the board alone, which takes the width that the page gives it; screen readers read ``label``."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._side} {self._side}" role="img"'
            f' aria-label="{escape(label)}" font-family="sans-serif" text-anchor="middle">'
        )
        return "\n".join([head, *self._parts, "</svg>"])

    def _line(self, at: int) -> str:
        """Return the drawing of a row's and a column's line."""
        low, high = MARGIN, self._side - MARGIN
        return f'<path d="M{low} {at}H{high}M{at} {low}V{high}" stroke="{LINE}" stroke-width="1"/>'

    def _circle(self, point: int, radius: float, look: str) -> None:
        x, y = self._centre(point)
        self._parts.append(f'<circle cx="{x}" cy="{y}" r="{radius:g}" {look}/>')

    def _square(self, point: int, side: int, look: str) -> None:
        x, y = self._centre(point)
        half = side / 2
        self._parts.append(f'<rect x="{x - half:g}" y="{y - half:g}" width="{side}" height="{side}" {look}/>')

    def _centre(self, point: int) -> tuple[int, int]:
        return MARGIN + CELL * (point % self.size), MARGIN + CELL * (point // self.size)


class SquaresPicture(BoardPicture):
    """A board of squares, with pieces in the squares; heat and marks fill them."""

    ground, inks = PAPER, AMAZONS

    def piece(self, point: int, side: int, text: str = "", ink: str = "") -> None:
        """Draw an amazon of side 0 (White) or 1, with letters below her."""
        x, y = self._centre(point)
        place = f"translate({x} {y - 5}) scale(.65)" if text else f"translate({x} {y})"
        self._parts.append(
            f'<path d="{CROWN}" transform="{place}" fill="{self.inks[side]}" stroke="#111" stroke-linejoin="round"/>'
        )
        if text:
            self._parts.append(f'<text x="{x}" y="{y + 10}" font-size="10" fill="{ink or INK}">{escape(text)}</text>')

    def arrow(self, point: int) -> None:
        """Draw a square with an arrow."""
        self._square(point, CELL - 8, f'fill="{BURNT}"')

    def ring(self, point: int) -> None:
        """See `BoardPicture`."""
        self._square(point, CELL - 3, f'fill="none" stroke="{BURNT}" stroke-width="2" stroke-dasharray="4 3"')

    def outline(self, point: int) -> None:
        """See `BoardPicture`."""
        self._square(point, CELL - 3, f'fill="none" stroke="{LAST}" stroke-width="2.5"')

    def heat(self, point: int, opacity: float) -> None:
        """See `BoardPicture`."""
        self._square(point, CELL, f'fill="{HEAT}" fill-opacity="{opacity:.2f}"')

    def _line(self, at: int) -> str:
        low, high = MARGIN - CELL // 2, self._side - MARGIN + CELL // 2
        path = f"M{low} {at + CELL // 2}H{high}M{at + CELL // 2} {low}V{high}"
        if at == MARGIN:  # the first one closes the frame
            path += f"M{low} {low}H{high}M{low} {low}V{high}"
        return f'<path d="{path}" stroke="{EDGE}" stroke-width="1"/>'

"""Read a perft file: lines of ``FEN ;D1 count ;D2 count``, '#' starts a comment."""

from pathlib import Path


def read_perft_file(path: Path) -> list[tuple[str, int, int]]:
    """(FEN, depth, count) of every entry."""
    entries = []
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            fen, *counts = (part.strip() for part in line.split(";"))
            entries += [(fen, int(depth), int(count)) for depth, count in (c[1:].split() for c in counts)]
    return entries

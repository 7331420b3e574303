"""A game as text in the style of PGN: tags in brackets, numbered moves, then the result."""

from pipeline_src.games.game import get_game
from pipeline_src.records.record import GameRecord

RESULTS = {"first": "1-0", "draw": "1/2-1/2", "second": "0-1", None: "*"}
A_LINE = 10
"""Move numbers per line."""


def game_text(record: GameRecord) -> str:
    """Return the text of a game, with an empty line at the end. The tag ``Forfeit`` has the reason of a forfeit."""
    rules, result = get_game(record.game), RESULTS[record.winner]
    tags = {
        "Game": record.game,
        "Round": str(record.gid),
        "First": record.first_name,
        "Second": record.second_name,
        "Board": f"{record.width}x{record.height} {record.variant}",
        "Result": result,
    }
    if record.event.startswith("forfeit:"):
        tags["Forfeit"] = record.event.removeprefix("forfeit:")
    moves = [rules.format_move(action, record.height, record.width) for action in record.actions]
    words = [f"{i // 2 + 1}. {' '.join(moves[i : i + 2])}" for i in range(0, len(moves), 2)]
    lines = [" ".join(words[i : i + A_LINE]) for i in range(0, len(words), A_LINE)]
    return "\n".join([*(f'[{key} "{_escaped(value)}"]' for key, value in tags.items()), "", *lines, result]) + "\n\n"


def _escaped(text: str) -> str:
    """Escape quotes as PGN does: the last lines of an engine may contain them."""
    return text.replace("\\", "\\\\").replace('"', '\\"')

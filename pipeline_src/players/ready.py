"""The small nets that come with the package, for a player whose text names no model: ``zero``, ``puct``, ``nets``."""

from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import PlayerText

WEIGHTS = Path(__file__).parents[1] / "nets/weights"


def model_path(text: PlayerText, game: str) -> str:
    """The model that a player's text names, or the one of ``game`` that comes with the package.

    Raises:
        ZugwerkError: none is named, and the package came without its weights.
    """
    if text.value:
        return text.value
    path = WEIGHTS / f"{game}.pt"
    if not path.is_file():
        raise ZugwerkError(f"{path}: not there, so player '{text.name}' needs a model: {text.name}:MODEL")
    return str(path)

"""The small nets that come with the package, for a player whose text names no model: ``zero``, ``puct``, ``nets``."""

from pathlib import Path

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.player import PlayerText


def model_path(text: PlayerText, packaged: Path) -> str:
    """The model that a player's text names, or the ``packaged`` one.

    Raises:
        ZugwerkError: none is named, and the package came without its weights.
    """
    if text.value:
        return text.value
    if not packaged.is_file():
        raise ZugwerkError(f"{packaged}: not there, so player '{text.name}' needs a model: {text.name}:MODEL")
    return str(packaged)

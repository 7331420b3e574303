"""The small nets that come with the package, for a player whose text names no model: ``zero``, ``puct``, ``nets``."""

from pathlib import Path

from pipeline_src.errors import ZugwerkError


def model_path(player: str, model: str, packaged: Path) -> str:
    """The model of a player, or the ``packaged`` one where its text names none.

    Raises:
        ZugwerkError: none is named, and the package came without its weights.
    """
    if model:
        return model
    if not packaged.is_file():
        raise ZugwerkError(f"{packaged}: not there, so player '{player}' needs a model: {player}:MODEL")
    return str(packaged)

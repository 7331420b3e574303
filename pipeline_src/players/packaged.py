"""The small nets that come with the package, for the players ``zero``, ``puct`` and ``nets`` without a model."""

from pathlib import Path

from pipeline_src.errors import ZugwerkError


def model_path(player: str, model: str, packaged: Path) -> str:
    """Return the model that a player's text names, or the ``packaged`` one.

    Raises:
        ZugwerkError: the text names no model, and the package came without its weights.
    """
    if model:
        return model
    if not packaged.is_file():
        raise ZugwerkError(f"{packaged}: not there, so player '{player}' needs a model: {player}:MODEL")
    return str(packaged)

"""What the server was told when it was started."""

from dataclasses import dataclass
from pathlib import Path

from pipeline_src.errors import ZugwerkError

HOST, PORT = "127.0.0.1", 4210
"""Where the server listens if nobody says otherwise; Prefect and the reports have 4200 and 4201."""
FOLDER = Path("artifacts")
"""The folder that pages may read if none is given."""


@dataclass(frozen=True)
class Settings:
    """Of one server."""

    host: str = HOST
    port: int = PORT
    folders: tuple[Path, ...] = ()
    """The only ones below which pages may read files; absolute, without links."""
    engines: int = 4
    """Processes that think, at most, whatever the number of tabs."""
    ahead: bool = False
    """Whether the usual players are loaded before a game asks for them."""

    def file(self, name: str) -> Path:
        """A file or folder that a page asks for: a path within the folders, absolute or from where the server began.

        Raises:
            ZugwerkError: outside the folders, by way of a link too, or not there; both in the same words.
        """
        try:
            path = Path(name).resolve(strict=True)
        except (OSError, ValueError):
            path = None
        if path is None or not any(path.is_relative_to(folder) for folder in self.folders):
            shown = ", ".join(map(str, self.folders)) or "none"
            raise ZugwerkError(f"{name[:200]}: no such file below the folders of this server ({shown})")
        return path


def open_folders(given: list[Path]) -> tuple[Path, ...]:
    """The folders that were given, or `FOLDER` where none was and it is there.

    Raises:
        ZugwerkError: one that is no folder.
    """
    for folder in given:
        if not folder.is_dir():
            raise ZugwerkError(f"--folder {folder}: no such folder")
    wanted = given or [folder for folder in [FOLDER] if folder.is_dir()]
    return tuple(dict.fromkeys(folder.resolve() for folder in wanted))

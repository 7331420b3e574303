"""Settings of the server, and the files below its folders."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline_src.errors import ZugwerkError

HOST, PORT = "127.0.0.1", 4210  # Default address. Prefect and the reports use the ports 4200 and 4201.
FOLDER = Path("artifacts")  # Default folder that pages may read
GAME_FILES = set[str]()
"""Games in files of a user's own that pages of this process may name: those that the server was given."""


@dataclass(frozen=True)
class Settings:
    """Settings of one server."""

    host: str = HOST
    port: int = PORT
    folders: tuple[Path, ...] = ()  # Folders below which pages may read files, as absolute paths without links
    engines: int = 4  # Largest number of processes for searches, for all tabs together
    ahead: bool = False  # Whether the usual players are loaded before a game needs them
    games: tuple[str, ...] = ()  # Games in files of a user's own, which pages offer like the packaged ones

    def file(self, name: str) -> Path:
        """Return the path of a file or folder within the folders, given absolute or relative to the working directory.

        Raises:
            ZugwerkError: the path does not exist or is outside the folders, also by a link; the message is the same.
        """
        try:
            path = Path(name).resolve(strict=True)
        except (OSError, ValueError):
            path = None
        if path is None or not any(path.is_relative_to(folder) for folder in self.folders):
            shown = ", ".join(map(str, self.folders)) or "none"
            raise ZugwerkError(f"{name[:200]}: no such file below the folders of this server ({shown})")
        return path


def open_folders(given: list[Path], games: Iterable[str] = ()) -> tuple[Path, ...]:
    """Return the given folders, or `FOLDER` if none is given and it exists, and those that nets of games are learnt in.

    Raises:
        ZugwerkError: a path is not a folder.
    """
    for folder in given:
        if not folder.is_dir():
            raise ZugwerkError(f"--folder {folder}: no such folder")
    learnt = [Path(Path(game).stem) for game in games]
    wanted = [*(given or [FOLDER]), *learnt]
    return tuple(dict.fromkeys(folder.resolve() for folder in wanted if folder.is_dir()))


def files_below(folder: Path) -> Iterator[Path]:
    """Yield all files below a folder by name, a folder's files before those of its folders. Links are not followed."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        yield from (path for name in sorted(names) if (path := Path(parent, name)).is_file())

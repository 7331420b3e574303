"""The folder of crawled games, which holds the games of one source and says of which."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.records.raw import RawGame, list_shards, read_raw, write_raw

SOURCE = "source.json"
"""File in the folder: the identity of the source."""

Identity = dict[str, Any]
"""What tells one source from another, as JSON; for a live site its address, for an archive all that its pages
depend on, so that games of another archive can never stay behind under the same gids."""


def take_up(folder: Path, identity: Identity) -> dict[int, RawGame]:
    """The games that a crawl of the source ``identity`` need not begin without, by gid.

    None where the folder is of another archive: such games can be made again.

    Raises:
        ZugwerkError: a damaged shard; or the folder has games of another live site, or of nobody knows where.
    """
    if not list_shards(folder):
        return {}
    stored: Identity = read_json(folder / SOURCE) if (folder / SOURCE).is_file() else {}
    if stored == identity:
        return {game.gid: game for game in read_raw(folder)}
    if stored.get("source", "live") == "live":
        whose = f"{stored['gtid']} games crawled from {stored['base_url']}" if stored else f"games, but no {SOURCE}"
        raise ZugwerkError(
            f"{folder}: holds {whose}; a crawl of another source would replace them. Move the folder away, or remove "
            "it if `dvc push` has saved it, and run again"
        )
    return {}


def put(folder: Path, identity: Identity, games: Iterable[RawGame]) -> None:
    """Make the folder hold exactly these games of this source; shards that do not change are not touched."""
    if (folder / SOURCE).is_file() and read_json(folder / SOURCE) == identity:
        write_raw(folder, games)
        return
    with written_aside(folder) as aside:
        write_raw(aside, games)
        write_json(aside / SOURCE, identity)

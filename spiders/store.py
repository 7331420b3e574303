"""What a live site sent, kept for good; and the folders of games that stages read, which say where they come from.

A live site's store is a folder of the user's own, outside of any checkout, by site and game type:
``<crawl.store>/<host>/<gtid>/``. It outlives parameters, profiles, outputs that are deleted and checkouts that are
thrown away, and all checkouts share it, since the site is to be asked once and not once for each of these.
"""

import contextlib
import fcntl
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.records.raw import RawGame, list_shards, read_raw, write_raw
from spiders.journal import Journal

SOURCE = "source.json"
"""File in a folder of games: the identity of the source."""
JOURNAL = "journal.jsonl"
STATE = "state.json"
"""File in a store: how far the last crawl came, for the next one's forecast."""

Identity = dict[str, Any]
"""What tells one source from another, as JSON; for a live site its address, for an archive all that its pages
depend on, so that games of another archive can never stay behind under the same gids."""


class Store:
    """The store of one game type of a live site, locked: one crawl at a time."""

    def __init__(self, root: str, base_url: str, gtid: str) -> None:
        """Open the store below ``root``, or begin one.

        Raises:
            ZugwerkError: another crawl has it, or a shard is damaged.
        """
        identity: Identity = {"source": "live", "base_url": base_url, "gtid": gtid}
        self._name = _site(base_url), gtid
        self.folder = Path(root).expanduser().joinpath(*self._name)
        self.folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as opened:
            lock = opened.enter_context(open(self.folder / "lock", "w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ZugwerkError(f"{self.folder}: another crawl of {base_url} is under way; wait for it") from None
            write_json(self.folder / SOURCE, identity)
            self.games: dict[int, RawGame] = {}
            if list_shards(self.folder):
                self.games = {game.gid: game for game in read_raw(self.folder)}
            self.journal = opened.enter_context(Journal(self.folder / JOURNAL))
            self._opened = opened.pop_all()

    @property
    def state(self) -> dict[str, Any]:
        """How far the last crawl came; empty before the first."""
        state: dict[str, Any] = read_json(self.folder / STATE) if (self.folder / STATE).is_file() else {}
        return state

    def keep(self, games: Iterable[RawGame], state: dict[str, Any], *, complete: bool) -> None:
        """Store what came. After a complete crawl the next one begins anew, else it goes on with the same lists.

        Whatever ends this half-way, what came is still in the journal.
        """
        self.games |= {game.gid: game for game in games}
        write_raw(self.folder, self.games.values())
        write_json(self.folder / STATE, state)
        if complete:
            self.journal.clear()

    def take_in(self, view: Path) -> None:
        """Store the games of a view of the same site that the store lacks: of a clone that pulled them, say."""
        origin: Identity = read_json(view / SOURCE) if (view / SOURCE).is_file() else {}
        if not list_shards(view) or (_site(origin.get("base_url", "")), origin.get("gtid")) != self._name:
            return
        with contextlib.suppress(ZugwerkError):  # damaged; it is written anew
            others = [game for game in read_raw(view) if game.gid not in self.games]
            if others:
                self.keep(others, self.state, complete=False)

    def show(self, view: Path) -> None:
        """Make a folder of a checkout hold what is stored; shards that do not change are not touched."""
        shards = list_shards(self.folder)
        for path in (self.folder / SOURCE, *shards) if shards else ():
            copy = view / path.name
            if not copy.is_file() or copy.read_bytes() != path.read_bytes():
                with written_aside(copy) as aside:
                    shutil.copyfile(path, aside)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._opened.close()


def _site(base_url: str) -> str:
    """A folder's name for a site: host and port, and what follows them."""
    url = urlsplit(base_url)
    return f"{url.netloc.rpartition('@')[2].lower().removeprefix('www.')}{url.path}".replace("/", "_").replace(":", "_")


def take_up(folder: Path, identity: Identity) -> dict[int, RawGame]:
    """The games that a crawl of the source ``identity`` need not begin without, by gid.

    None where the folder is of another source: such games can be made again.

    Raises:
        ZugwerkError: a damaged shard; or the folder has games of which nobody knows whether they are kept elsewhere.
    """
    if not list_shards(folder):
        return {}
    stored: Identity = read_json(folder / SOURCE) if (folder / SOURCE).is_file() else {}
    if stored == identity:
        return {game.gid: game for game in read_raw(folder)}
    if stored.get("source", "live") == "live":
        whose = f"{stored['gtid']} games crawled from {stored['base_url']}" if stored else f"games, but no {SOURCE}"
        raise ZugwerkError(f"{folder}: holds {whose}, which would be replaced; move the folder away and run again")
    return {}


def put(folder: Path, identity: Identity, games: Iterable[RawGame]) -> None:
    """Make the folder hold exactly these games of this source; shards that do not change are not touched."""
    if (folder / SOURCE).is_file() and read_json(folder / SOURCE) == identity:
        write_raw(folder, games)
        return
    with written_aside(folder) as aside:
        write_raw(aside, games)
        write_json(aside / SOURCE, identity)

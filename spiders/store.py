"""The permanent store of a live site's answers, and the folders of games that stages read, with their sources.

A live site's store is a folder of the user, outside of any checkout, by site and game type:
``<crawl.store>/<host>/<gtid>/``. It outlives parameters, profiles, deleted outputs and checkouts, and all checkouts
share it, so that the site is asked only once.
"""

import fcntl
import json
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self
from urllib.parse import urlsplit

from pipeline_src.errors import ZugwerkError, line_of
from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.project.code import home
from pipeline_src.records.raw import RawGame, list_shards, read_raw, read_shard, write_raw

SOURCE = "source.json"  # File in a folder of games: the identity of the source
JOURNAL = "journal.jsonl"
STATE = "state.json"  # File in a store with the progress of the last crawl and the pages that were not there


class Journal:
    """All good answers of a crawl so far, by key, in a file, so that a killed crawl can continue.

    One JSON object on each line, written as each answer comes: ``{"key": ..., "body": ...}``, with the body in Latin-1,
    which holds any bytes. A kill can only tear the last line, which is then dropped. Bodies stay on disk, because those
    of a whole site would not fit into memory.

    It is no ``HTTPCACHE_STORAGE``, whose policy sees one answer: a record is final only once a list has the result.
    """

    def __init__(self, path: Path) -> None:
        """Open the journal at ``path``, or create it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._lines: dict[str, int] = {}  # Offset of the line of a key
        self._file: BinaryIO = open(path, "a+b")  # noqa: SIM115 - closed with the journal
        self._take_up()

    def _take_up(self) -> None:
        self._file.seek(0)
        good = 0
        for line in self._file:
            try:
                self._lines[_read(line)[0]] = good
            except (ValueError, TypeError, KeyError, AttributeError):
                break
            good += len(line)
        self._file.truncate(good)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, key: str) -> bool:
        return key in self._lines

    def get(self, key: str) -> bytes | None:
        """The body for ``key``, if there is one."""
        if key not in self._lines:
            return None
        self._file.seek(self._lines[key])
        return _read(self._file.readline())[1]

    def __setitem__(self, key: str, body: bytes) -> None:
        """Keep an answer; when this returns the operating system has it, so that killing the process cannot lose it."""
        self._lines[key] = self._file.seek(0, 2)
        self._file.write(json.dumps({"key": key, "body": body.decode("latin-1")}).encode() + b"\n")
        self._file.flush()

    def clear(self) -> None:
        """Clear the journal, once its pages are stored elsewhere."""
        self._file.truncate(0)
        self._lines.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        if not self._lines:
            self.path.unlink(missing_ok=True)


def _read(line: bytes) -> tuple[str, bytes]:
    """Key and body of a whole line."""
    entry = json.loads(line if line.endswith(b"\n") else b"")
    return entry["key"], entry["body"].encode("latin-1")


Identity = dict[str, Any]
"""Identity of a source, as JSON; for a live site its address, for an archive all that its pages
depend on, so that games of another archive never remain under the same gids."""


class Store:
    """The store of one game type of a live site, locked: one crawl at a time."""

    def __init__(self, root: str, base_url: str, gtid: str) -> None:
        """Open the store below ``root``, or begin one.

        Raises:
            ZugwerkError: it cannot be made, another crawl has it, it is another site's, or a shard is damaged.
        """
        identity: Identity = {"source": "live", "base_url": base_url, "gtid": gtid}
        self._site, self._gtid = site_name(base_url), gtid
        home()  # "~" needs one
        try:
            self._root = Path(root).expanduser()
        except RuntimeError:
            raise ZugwerkError(f"params.yaml: crawl.store is {root}: no such user") from None
        self.folder = self._root / self._site.replace("/", "_").replace(":", "_") / gtid
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ZugwerkError(f"params.yaml: crawl.store is {root}: {line_of(error)}") from None
        with ExitStack() as opened:
            lock = opened.enter_context(open(self.folder / "lock", "w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ZugwerkError(f"{self.folder}: another crawl of {base_url} is under way; wait for it") from None
            if _owner(self.folder):
                self._check_owner(self.folder)
            write_json(self.folder / SOURCE, identity)
            self.games: dict[int, RawGame] = {}
            if list_shards(self.folder):
                self.games = {game.gid: game for game in read_raw(self.folder)}
            self.journal = opened.enter_context(Journal(self.folder / JOURNAL))
            self._opened = opened.pop_all()

    @property
    def state(self) -> dict[str, Any]:
        """Progress of the last crawl; empty before the first."""
        state: dict[str, Any] = read_json(self.folder / STATE) if (self.folder / STATE).is_file() else {}
        return state

    def keep(self, games: Iterable[RawGame], state: dict[str, Any], *, complete: bool) -> None:
        """Store the games. After a complete crawl the next one reads new lists, otherwise the same ones.

        If this is interrupted, the answers are still in the journal.
        """
        self.games |= {game.gid: game for game in games}
        write_raw(self.folder, self.games.values())
        write_json(self.folder / STATE, state)
        if complete:
            self.journal.clear()

    def take_in(self, view: Path) -> None:
        """Store the games of a view that the store lacks, such as those that a clone pulled.

        Raises:
            ZugwerkError: the view has games of another or an unknown site, or a damaged shard that the store
                lacks.
        """
        self._check_owner(view)
        others: dict[int, RawGame] = {}
        for shard in list_shards(view):
            try:
                others |= {game.gid: game for game in read_shard(shard) if game.gid not in self.games}
            except ZugwerkError:
                if not (self.folder / shard.name).is_file():
                    raise
                continue  # it is written again
        if others:
            self.keep(others.values(), self.state, complete=False)

    def show(self, view: Path) -> None:
        """Copy the stored games into a folder of a checkout; unchanged shards are not touched.

        Raises:
            ZugwerkError: the folder has games of another or an unknown site.
        """
        self._check_owner(view)
        shards = list_shards(self.folder)
        for path in (self.folder / SOURCE, *shards) if shards else ():
            copy = view / path.name
            if not copy.is_file() or copy.read_bytes() != path.read_bytes():
                with written_aside(copy) as aside:
                    shutil.copyfile(path, aside)

    def _check_owner(self, folder: Path) -> None:
        theirs, ours = _owner(folder), (self._site, self._gtid)
        if list_shards(folder) and theirs != ours:
            whose = _games_of(*theirs) if theirs else f"games, and no {SOURCE} that says of which site"
            raise ZugwerkError(
                f"{folder}: holds {whose}; {_games_of(*ours)} are not mixed with them. Move the folder away (what "
                "`zugwerk crawl` fetched is kept in the store of its site), or set crawl.base_url and gtid back"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._opened.close()


def site_name(base_url: str) -> str:
    """Name of a site, from its address: host, port and path."""
    url = urlsplit(base_url)
    return f"{url.netloc.rpartition('@')[2].lower().removeprefix('www.')}{url.path}"


def _owner(folder: Path) -> tuple[str, str] | None:
    """Site and game type of a folder of games; None if unknown."""
    try:
        origin: Identity = read_json(folder / SOURCE)
        return site_name(origin["base_url"]), origin["gtid"]
    except (ZugwerkError, TypeError, KeyError, AttributeError):
        return None


def _games_of(site: str, gtid: str) -> str:
    return f"{gtid} games of {site}"


def take_up(folder: Path, identity: Identity) -> dict[int, RawGame]:
    """The known games for a crawl of the source ``identity``, by gid.

    None if the folder is of another source, whose games can be made again.

    Raises:
        ZugwerkError: a damaged shard; or the folder has crawled games that may not be kept elsewhere.
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
    """Write exactly these games of this source into the folder; unchanged shards are not touched."""
    if (folder / SOURCE).is_file() and read_json(folder / SOURCE) == identity:
        write_raw(folder, games)
        return
    with written_aside(folder) as aside:
        write_raw(aside, games)
        write_json(aside / SOURCE, identity)

"""The first-party code that a module runs: its import closure, a digest of it, and the reason for each file.

The closure of a module holds the module, every first-party module that it imports, at its head or inside a function,
and so on, with the packages around each. A module, or a name in one, whose full name is part of a string counts as
imported (``[sys.executable, "-m", "spiders.replica"]``, ``import_module("pipeline_src.games.go")``, Scrapy's settings).

The digest is over the sources of the closure without comments, docstrings and blank lines, as text, so that it is the
same on every version of Python. It keys DVC's stages (``artifacts/code.json``), resumed work, compiled kernels and the
admission of workers.
"""

import ast
import atexit
import getpass
import hashlib
import io
import json
import logging
import os
import re
import shutil
import stat
import tempfile
import tokenize
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pipeline_src.errors import ZugwerkError

ROOT = Path(__file__).parents[2]
PACKAGES = ("pipeline_src", "spiders")
CHANGE_NO_OUTPUT = frozenset(
    f"pipeline_src{name}" for name in ("", ".errors", ".processes", ".project", ".project.code")
)
"""Modules that nearly all others import and that affect no result: version, messages, ends of processes, digests.

They and their imports are left out of digests."""
_MEMO = "sources-3.json"
_NAMED = re.compile(rf"({'|'.join(PACKAGES)})(\.\w+)+")


class Source(NamedTuple):
    """A source file."""

    digest: str  # SHA-256 of its text without comments, docstrings and blank lines, in hex
    names: tuple[str, ...]  # Dotted names that it imports or starts; of modules, or of names in them
    changed_ns: int = 0  # Time of the file's last change, from the file system


def home() -> Path:
    """The user's home folder, or one in the temporary folder for a user who has none, as in a container.

    That folder and a user's name are then set in the environment, also for DVC, Prefect and torch; a warning says so.
    """
    if not Path(os.environ.get("HOME", "/")).is_absolute():  # counts as not set, as for platformdirs
        del os.environ["HOME"]
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["USER"] = str(os.getuid())
    try:
        return Path.home()
    except RuntimeError:
        spare = _spare()
        os.environ["HOME"] = str(spare)
        words = "this user has no home, so %s takes its place; set HOME, or ZUGWERK_CACHE, to a permanent folder"
        logging.getLogger(__name__).warning(words, spare)
        return spare


def cache_root() -> Path:
    """The user's cache folder (``ZUGWERK_CACHE`` moves it), in which no other user may write: it holds compiled code.

    If it cannot be written or is not `private`, a folder of this user in the temporary folder takes its place, or else
    one of this process, for child processes too; a warning says so once.
    """
    chosen, caches = os.environ.get("ZUGWERK_CACHE"), os.environ.get("XDG_CACHE_HOME")
    root = Path(chosen) if chosen else (Path(caches) if caches else home() / ".cache") / "zugwerk"
    if not (fault := _fault(root)):
        return root
    spare = _spare()
    os.environ["ZUGWERK_CACHE"] = str(spare)
    words = "%s: %s, so the cache is in %s; correct that, or set ZUGWERK_CACHE to a permanent folder"
    logging.getLogger(__name__).warning(words, root, fault, spare)
    return spare


def _spare() -> Path:
    name = f"zugwerk-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    spare = Path(tempfile.gettempdir()) / name
    return _own_folder() if _fault(spare) else spare


def _fault(folder: Path) -> str:
    """Return why a folder cannot hold the cache; empty if it can. A missing one is made."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return "" if private(folder) else "another user may write there"
    except OSError:
        pass
    return "it cannot be written"


def private(folder: Path) -> bool:
    """Whether no other user except root may change or replace the files of a folder.

    All parent folders count too; one with the sticky bit, such as ``/tmp``, may be open to all. A group
    with this user as its only member counts as the user.
    """
    if not hasattr(os, "geteuid"):
        return True
    mine, real = (0, os.geteuid()), folder.resolve()
    if folder.lstat().st_uid not in mine:
        return False
    for one in (real, *real.parents):
        status = one.stat()
        writers = stat.S_IWOTH if _mine_alone(status.st_gid) else stat.S_IWOTH | stat.S_IWGRP
        sticky = one != real and status.st_mode & stat.S_ISVTX
        if status.st_uid not in mine or (status.st_mode & writers and not sticky):
            return False
    return True


def _mine_alone(group: int) -> bool:
    import grp
    import pwd

    try:
        about, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return (about.gr_name, group) == (user.pw_name, user.pw_gid) and set(about.gr_mem) <= {user.pw_name}


@lru_cache(maxsize=1)
def _own_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="zugwerk-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Code:
    """The first-party sources below a folder, each read when it is first needed."""

    def __init__(self, root: Path = ROOT) -> None:
        """``root`` holds the folders `PACKAGES`."""
        self.root = root
        self._memo_file = cache_root() / _MEMO
        self._memo: dict[str, list[Any]] | None = None
        self._files: dict[str, Path | None] = {}
        self._sources: dict[str, Source] = {}
        self._imports: dict[str, frozenset[str]] = {}
        self._closures: dict[str, frozenset[str]] = {}

    def file(self, module: str) -> Path | None:
        """The file of a first-party module or package; None where there is no such module."""
        if module.split(".")[0] not in PACKAGES:
            return None
        if module not in self._files:
            base = self.root.joinpath(*module.split("."))
            found = (p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file())
            self._files[module] = next(found, None)
        return self._files[module]

    def modules(self) -> Iterator[str]:
        """All first-party modules, in the order of their names."""
        for package in PACKAGES:
            for path in sorted((self.root / package).rglob("*.py")):
                yield self.module(path)

    def module(self, path: Path | str) -> str:
        """Name of the module in a file, relative to ``root``. Raises ZugwerkError: it is no first-party source file."""
        full, root = (self.root / path).resolve(), self.root.resolve()
        parts = full.relative_to(root).with_suffix("").parts if root in full.parents else ("",)
        if parts[0] not in PACKAGES or full.suffix != ".py" or not full.is_file():
            raise ZugwerkError(f"{path}: no source file of {' or '.join(PACKAGES)}")
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def add(self, module: str, source: Source) -> None:
        """Count a module from elsewhere as first-party. Its name has to belong to its code alone."""
        self._sources[module] = source

    def source(self, module: str) -> Source:
        """Return the source of a first-party module's own file. Raises ZugwerkError: there is no such module."""
        return self._source(module)

    def imports(self, module: str) -> frozenset[str]:
        """First-party modules that a module imports directly, with the packages around them and around itself."""
        if module not in self._imports:
            found = set(_around(module))
            for name in self._source(module).names:
                inner = name if self.file(name) else name.rpartition(".")[0]
                if self.file(inner):
                    found.update(_around(inner), [inner])
            self._imports[module] = frozenset(found - {module})
        return self._imports[module]

    def closure(self, *modules: str) -> list[str]:
        """Modules that some modules run, themselves included, sorted. Raises ZugwerkError: no such module."""
        return sorted(frozenset().union(*map(self._closure, modules)))

    def _closure(self, module: str) -> frozenset[str]:
        if module not in self._closures:
            seen = reach([module], lambda name: () if name in CHANGE_NO_OUTPUT else self.imports(name))
            self._closures[module] = frozenset(seen)
        return self._closures[module]

    def digest(self, *modules: str) -> str:
        """Digest of the closure of some modules, 16 hex digits. Raises ZugwerkError: no such first-party module."""
        whole = hashlib.sha256()
        for name in self.closure(*modules):
            if name not in CHANGE_NO_OUTPUT:
                whole.update(f"{name} {self._source(name).digest}\n".encode())
        self._keep_memo()
        return whole.hexdigest()[:16]

    def digest_of_all(self) -> str:
        """Digest of all first-party code, 16 hex digits."""
        return self.digest(*self.modules())

    def changed_ns(self, *modules: str) -> int:
        """When the closure of some modules was last changed, in nanoseconds since the epoch."""
        return max(self._source(name).changed_ns for name in self.closure(*modules))

    def path(self, modules: Iterable[str], target: str) -> list[str]:
        """The shortest chain of imports from one of ``modules`` to ``target``, both included; else empty."""
        before: dict[str, str | None] = dict.fromkeys(modules)
        todo = list(before)
        for name in todo:
            if name == target:
                chain = [name]
                while (step := before[chain[0]]) is not None:
                    chain.insert(0, step)
                return chain
            for inner in () if name in CHANGE_NO_OUTPUT else sorted(self.imports(name)):
                if inner not in before:
                    before[inner] = name
                    todo.append(inner)
        return []

    def _source(self, module: str) -> Source:
        if module not in self._sources:
            path = self.file(module)
            if path is None:
                raise ZugwerkError(f"{module}: no module of {' or '.join(PACKAGES)} below {self.root}")
            self._sources[module] = self._read(path)
        return self._sources[module]

    def _read(self, path: Path) -> Source:
        """Return the source of a file, from the memo if its size and time are unchanged."""
        if self._memo is None:
            self._memo = {}
            with suppress(OSError, ValueError, TypeError):
                self._memo.update(json.loads(self._memo_file.read_text(encoding="utf-8")))
        status = path.stat()
        known = self._memo.get(str(path))
        stamp = [status.st_mtime_ns, status.st_size]
        if known is None or known[:2] != stamp:
            source = read_source(path.read_text(encoding="utf-8"))
            self._memo[str(path)] = [*stamp, *source[:2]]
            self._changed = True
            return source._replace(changed_ns=status.st_mtime_ns)
        digest, names = known[2:]
        return Source(digest, tuple(names), status.st_mtime_ns)

    _changed = False

    def _keep_memo(self) -> None:
        """Write the memo aside and rename; a disk that takes no file costs the next process half a second."""
        if not self._changed:
            return
        self._changed = False
        aside = self._memo_file.with_name(f".{self._memo_file.name}.{os.getpid()}.part")
        try:
            aside.write_text(json.dumps(self._memo), encoding="utf-8")
            aside.replace(self._memo_file)
        except OSError:
            aside.unlink(missing_ok=True)


def reach(first: Iterable[str], after: Callable[[str], Iterable[str]]) -> set[str]:
    """Return the names that are reached from some, themselves included, by steps to those ``after`` each."""
    seen, todo = set[str](), list(first)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += after(name)
    return seen


@lru_cache(maxsize=1)
def this_code() -> Code:
    """The sources that this process runs."""
    return Code()


@lru_cache(maxsize=1024)
def digest(*modules: str) -> str:
    """Digest of the code that some first-party modules run, 16 hex digits; see `Code.digest`."""
    return this_code().digest(*modules)


def read_source(text: str) -> Source:
    """Parse a module's text."""
    tree = ast.parse(text)
    return Source(hashlib.sha256(_essence(text, tree).encode()).hexdigest(), tuple(sorted(set(_names(tree)))))


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAMED.fullmatch(node.value):
            yield from (node.value, f"{node.value}.__main__")


def _essence(text: str, tree: ast.Module) -> str:
    """The text without comments, strings that stand alone (docstrings), trailing blanks and empty lines."""
    lines = [line.encode() for line in text.splitlines()]  # ast counts columns in bytes
    kept_whole = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None:
            kept_whole.update(range(node.lineno, node.end_lineno))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: len(token.line[: token.start[1]].encode())]
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            after = lines[last][node.end_col_offset :]
            lines[first] = lines[first][: node.col_offset] + (after if first == last else b"")
            lines[first + 1 : last + 1] = [b""] * max(0, last - first - 1) + [after] * (first != last)
            kept_whole.difference_update(range(first + 1, last + 1))
    stripped = [line if n in kept_whole else line.rstrip() for n, line in enumerate(lines, 1)]
    return b"\n".join(line for n, line in enumerate(stripped, 1) if line or n in kept_whole).decode()


def _around(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]
